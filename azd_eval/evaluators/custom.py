"""An evaluator that is the user's own function."""

import math
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, SupportsFloat

from azd_eval.domain.ports import TurnUnderTest
from azd_eval.domain.score import Score
from azd_eval.domain.task import Turn
from azd_eval.errors import TargetError
from azd_eval.evaluator_options import CustomOptions
from azd_eval.evaluators.findings import DECIDED, Finding

FIELDS = ("response", "prompt", "expected_response", "context", "history", "options")
"""What a function may ask for, by the name of its parameter; the first is what it must take."""

CallFunction = Callable[[Mapping[str, object]], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class FunctionEvaluator:
    """Has a function decide: it gives a number, a bool, or a mapping with `score` and `reason`.

    `call` hands it the `FIELDS` that it takes; it raises `TargetError` and nothing else. A score
    passes when it reaches the `threshold` of the options.
    """

    name: str
    call: CallFunction
    of_run: Mapping[str, Any] | None = None

    def scores(self, turn: Turn) -> bool:
        return turn.options_of(self.name, self.of_run) is not None

    def questions(self, turn: Turn) -> int:
        return 0

    def lacks(self, turn: Turn) -> str | None:
        return None

    async def score(self, item: TurnUnderTest) -> Score:
        given = item.turn.options_of(self.name, self.of_run) or {}
        options = CustomOptions.model_validate(given)
        fields = {
            "response": item.reply.text,
            "prompt": item.turn.prompt,
            "expected_response": item.turn.expected,
            "context": item.turn.grounding or item.spec.task.context,
            "history": _messages(item),
            "options": dict(options.options),
        }
        try:
            result = await self.call(fields)
        except TargetError as error:
            finding = Finding("unusable", error.message, error_code="evaluator_error")
        else:
            finding = _read(result, options.threshold)
        return finding.as_score(self.name)


def _messages(item: TurnUnderTest) -> list[dict[str, str]]:
    return [
        {"role": role, "content": content}
        for exchange in item.history
        for role, content in (("user", exchange.prompt), ("assistant", exchange.reply))
    ]


def _read(result: object, threshold: float) -> Finding:
    given, reason = result, ""
    if isinstance(result, Mapping):
        given, reason = result.get("score"), str(result.get("reason") or "")
        error = result.get("error")
        if given is None and isinstance(error, str):
            return Finding("unusable", error, error_code="evaluator_error")
    score = _as_number(given)
    if score is None:
        fault = "expected a number, true or false, or one of these as `score`, got "
        kind = given if isinstance(given, float) else f"a value of type {type(given).__name__}"
        return Finding("unusable", f"{fault}{kind}", error_code="invalid_result")
    passed = score >= threshold
    # On a scale of its own, such as 1..5, only passing says how good 0..1 is.
    is_share = 0 <= score <= 1 and 0 <= threshold <= 1
    share = score if is_share else float(passed)
    return Finding(DECIDED[passed], reason, share, score, threshold)


def _as_number(value: object) -> float | None:
    """Give what is a number to Python or to others, such as numpy's bool."""
    if isinstance(value, SupportsFloat):
        with suppress(OverflowError, TypeError, ValueError):
            return number if math.isfinite(number := float(value)) else None
    return None
