"""What the target is asked and answers: tasks, their turns, replies."""

import hashlib
import json
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from azd_eval.domain.criterion import Criterion

EvaluatorsMode = Literal["extend", "replace"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a target answered to one turn. `finish_reason` is the model's word, `stop` elsewhere.

    `evidence` is what came beside the text and evaluators may look at: `citations`, `diagnostics`.
    """

    text: str
    finish_reason: str = "stop"
    latency_ms: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cached: bool = False
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """One user message, the criteria its reply must meet, and the answer expected, if known.

    `grounding` is the text that the reply must rest on; it reaches evaluators, never the agent.
    `evaluators` are named evaluators with their options, beside those of the run or, with the mode
    `replace`, in their place. `recorded` is a reply of earlier, to be scored without the agent.
    `carried` holds what a file says beside all this: it is written back and never used.
    """

    prompt: str
    criteria: tuple[Criterion, ...] = ()
    expected: str | None = None
    grounding: str | None = None
    evaluators: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    evaluators_mode: EvaluatorsMode | None = None
    recorded: Reply | None = None
    carried: Mapping[str, Any] = field(default_factory=dict)

    def options_of(
        self, evaluator: str, of_run: Mapping[str, Any] | None
    ) -> Mapping[str, Any] | None:
        """Give the options of an evaluator for this turn, or None where it does not score it.

        `of_run` are its options in the whole run, None when the run does not have it. A turn's own
        options stand over those of the run, key by key.
        """
        own = self.evaluators.get(evaluator)
        if self.evaluators_mode == "replace":
            return own
        if own is None or of_run is None:
            return of_run if own is None else own
        return {**of_run, **own}


@dataclass(frozen=True, slots=True)
class Task:
    """One row of the dataset: one or more turns of a conversation.

    `test_id` is the user's own name for it, stable over versions of the dataset. `metadata` is the
    user's own and reaches neither target nor judge; `carried` is as in `Turn`.
    """

    name: str
    turns: tuple[Turn, ...]
    category: str | None = None
    context: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    test_id: str | None = None
    carried: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Identify the task by what is asked, so that order and position never matter."""
        content = [self.name, self.context, [[turn.prompt, turn.expected] for turn in self.turns]]
        text = json.dumps(content, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn that already happened: what was asked and what came back."""

    prompt: str
    reply: str


def make_unique(name: str, taken: Container[str]) -> str:
    """Add a number to a name that is taken: `refund` becomes `refund_2`."""
    unique, count = name, 1
    while unique in taken:
        count += 1
        unique = f"{name}_{count}"
    return unique
