"""What the target is asked and answers: tasks, their turns, replies."""

import hashlib
import json
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from azd_eval.domain.criterion import Criterion


@dataclass(frozen=True, slots=True)
class Turn:
    """One user message, the criteria its reply must meet, and the answer expected, if known."""

    prompt: str
    criteria: tuple[Criterion, ...] = ()
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """One row of the dataset: one or more turns of a conversation.

    `metadata` is the user's own and reaches neither target nor judge.
    """

    name: str
    turns: tuple[Turn, ...]
    category: str | None = None
    context: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

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


@dataclass(frozen=True, slots=True)
class Reply:
    """What a target answered to one turn. `finish_reason` is the model's word, `stop` elsewhere."""

    text: str
    finish_reason: str = "stop"
    latency_ms: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cached: bool = False


def make_unique(name: str, taken: Container[str]) -> str:
    """Add a number to a name that is taken: `refund` becomes `refund_2`."""
    unique, count = name, 1
    while unique in taken:
        count += 1
        unique = f"{name}_{count}"
    return unique
