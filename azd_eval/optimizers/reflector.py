"""Revise instructions by showing a model what failed and why."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from azd_eval.domain.chat import ChatRequest, Message, ReplySchema
from azd_eval.domain.optimization import Evidence, Proposal
from azd_eval.domain.ports import ChatModel
from azd_eval.optimizers.reflection_prompt import word_evidence
from azd_eval.prompts import template
from azd_eval.structured import ask

_CHANGES = ("added", "changed", "removed")
_SCHEMA = ReplySchema(
    "instructions",
    {
        "type": "object",
        "properties": {
            "rationale": {"type": "string"},
            "changes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "rule": {"type": "string"},
                        "change": {"type": "string", "enum": list(_CHANGES)},
                        "why": {"type": "string"},
                    },
                    "required": ["rule", "change", "why"],
                    "additionalProperties": False,
                },
            },
            "instructions": {"type": "string"},
        },
        "required": ["rationale", "changes", "instructions"],
        "additionalProperties": False,
    },
)
_FENCE = re.compile(r"^ {0,3}(?:```+|~~~+)[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_BEGIN_AND_END = 2
_TEXT_LANGUAGES = frozenset({"", "markdown", "md", "text", "txt", "plaintext"})


@dataclass(frozen=True, slots=True)
class Reflector:
    """Asks `model` for root causes, the rules to change, and the whole text. An optimizer."""

    model: ChatModel
    parameters: Mapping[str, Any] = field(default_factory=dict)

    async def propose(self, evidence: Evidence) -> Proposal:
        """Propose instructions; a cut, refused or unreadable answer is a `fault`, never a text."""
        request = ChatRequest(
            messages=(
                Message("system", template("reflect.md")),
                Message("user", word_evidence(evidence)),
            ),
            purpose="optimizer",
            schema=_SCHEMA,
            parameters=self.parameters,
            # The same evidence shown again wants another idea, not the cached one.
            repeat=evidence.attempt,
        )
        answer = await ask(self.model, request, _read_proposal)
        if answer.value is not None:
            return answer.value
        current = evidence.parent.instructions
        fenced = _find_fenced_text(answer.raw, at_least=len(current) // 2)
        return Proposal(fenced, fault=None if fenced else answer.fault)


def _read_proposal(value: Any) -> Proposal:
    if not isinstance(value, Mapping):
        raise ValueError(f"expected a JSON object, got {type(value).__name__}")
    instructions = _read_text(value, "instructions")
    if not instructions.strip():
        raise ValueError("`instructions` is empty")
    rationale = _read_text(value, "rationale", missing="").strip()
    return Proposal(instructions, "\n".join(filter(None, [rationale, *_word_changes(value)])))


def _word_changes(value: Mapping[str, Any]) -> Iterator[str]:
    """Word the rules that were changed, one a line; what is not told so is seen in the diff."""
    changes = value.get("changes")
    for change in changes if isinstance(changes, list) else ():
        if isinstance(change, Mapping) and change.get("change") in _CHANGES:
            rule, why = (_read_text(change, key, missing="").strip() for key in ("rule", "why"))
            yield f"- {change['change']}: {rule}" + (f" ({why})" if why else "")


def _read_text(value: Mapping[str, Any], key: str, missing: str | None = None) -> str:
    text = value.get(key, missing)
    if not isinstance(text, str):
        raise ValueError(f"`{key}` must be a text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"`{key}` holds half a character at {error.start}") from error
    return text


def _find_fenced_text(reply: str, *, at_least: int) -> str | None:
    """Read a whole text that a model put into one Markdown fence where JSON was asked for.

    Nothing else may be fenced: with a fence inside the fence, or one cut off, nobody can tell where
    the text ends. Broken JSON is not a fenced text, and what is much shorter than the current text
    is an excerpt.
    """
    fences = list(_FENCE.finditer(reply))
    if len(fences) != _BEGIN_AND_END or '"instructions"' in reply:
        return None
    begin, end = fences
    text = reply[begin.end() : end.start()].strip("\r\n")
    is_whole = bool(text.strip()) and len(text) >= at_least
    return text if is_whole and begin[1].lower() in _TEXT_LANGUAGES and not end[1] else None
