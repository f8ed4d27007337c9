"""The strict grammar of verdicts: what a judge may answer, and what each answer means."""

from collections.abc import Callable, Mapping
from typing import Any

from azd_eval.domain.chat import ReplySchema
from azd_eval.domain.criterion import HIGHEST_GRADE, LOWEST_GRADE, Criterion

# The score as a whole number, or None for "does not apply"; and the reason.
Decision = tuple[int | None, str]

# What judges write in place of numbers. Anything else is unusable: never `bool()` on text.
_WORDS = {
    "0": 0,
    "false": 0,
    "no": 0,
    "fail": 0,
    "failed": 0,
    "unmet": 0,
    "1": 1,
    "true": 1,
    "yes": 1,
    "pass": 1,
    "passed": 1,
    "met": 1,
}
_GRADES = range(LOWEST_GRADE, HIGHEST_GRADE + 1)
_GRADE_WORDS = {str(grade): grade for grade in _GRADES}


def describe_scale(*, graded: bool, may_not_apply: bool) -> tuple[str, str]:
    """Word the scale for the prompt: how the score is written, and what it means."""
    if graded:
        scale = "<1 | 2 | 3 | 4 | 5>"
        meaning = (
            "A grade that the criterion itself describes means that. Otherwise: "
            "5: fully met, nothing to improve. 4: met, with a small flaw. 3: just acceptable. "
            "2: mostly not met. 1: not met at all, or the opposite."
        )
    else:
        scale = "<1 | 0>"
        meaning = "1: met. 0: not met. There is nothing in between; when in doubt, 0."
    if may_not_apply:
        scale = scale.replace(">", " | null>")
        meaning += (
            " null: the criterion does not apply to this conversation at all; "
            "never null because it is hard to decide."
        )
    return scale, meaning


def verdict_schema(*, graded: bool, may_not_apply: bool) -> dict[str, Any]:
    """Give the JSON schema of one verdict, reason first."""
    values: list[int | None] = list(_GRADES) if graded else [0, 1]
    kind: str | list[str] = "integer"
    if may_not_apply:
        values, kind = [*values, None], ["integer", "null"]
    return {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "score": {"type": kind, "enum": values},
        },
        "required": ["reason", "score"],
        "additionalProperties": False,
    }


def single_schema(*, graded: bool, may_not_apply: bool) -> ReplySchema:
    """Give the schema of an answer about one criterion."""
    return ReplySchema("verdict", verdict_schema(graded=graded, may_not_apply=may_not_apply))


def batch_schema(*, graded: bool, may_not_apply: bool) -> ReplySchema:
    """Give the schema of an answer about several numbered criteria."""
    verdict = verdict_schema(graded=graded, may_not_apply=may_not_apply)
    verdict["properties"] = {"number": {"type": "integer"}, **verdict["properties"]}
    verdict["required"] = ["number", *verdict["required"]]
    body = {
        "type": "object",
        "properties": {"verdicts": {"type": "array", "items": verdict}},
        "required": ["verdicts"],
        "additionalProperties": False,
    }
    return ReplySchema("verdicts", body)


def single_reader(criterion: Criterion, *, graded: bool) -> Callable[[Any], Decision]:
    """Read the answer about one criterion; the reader raises `ValueError` on anything else."""
    return lambda value: _read_verdict(value, criterion, graded=graded)


def batch_reader(
    criteria: tuple[Criterion, ...], *, graded: bool
) -> Callable[[Any], tuple[Decision, ...]]:
    """Read the answer about numbered criteria: each exactly once, in any order."""

    def read(value: Any) -> tuple[Decision, ...]:
        rows = value.get("verdicts") if isinstance(value, Mapping) else value
        if not isinstance(rows, list):
            raise ValueError("expected an object with a list `verdicts`")
        found: dict[int, Any] = {}
        for row in rows:
            number = row.get("number") if isinstance(row, Mapping) else None
            if not isinstance(number, int):
                raise ValueError(f"a verdict has no whole `number`: {row!r:.60}")
            if number in found:
                raise ValueError(f"verdict {number} stands twice")
            found[number] = row
        if set(found) != set(range(1, len(criteria) + 1)):
            raise ValueError(f"expected one verdict for each number from 1 to {len(criteria)}")
        return tuple(
            _read_verdict(found[number], criterion, graded=graded)
            for number, criterion in enumerate(criteria, start=1)
        )

    return read


def _read_verdict(value: Any, criterion: Criterion, *, graded: bool) -> Decision:
    if not isinstance(value, Mapping):
        raise ValueError(f"expected a JSON object, got {type(value).__name__}")
    if "score" not in value:
        raise ValueError("the key `score` is missing")
    reason = value.get("reason", "")
    text = reason.strip() if isinstance(reason, str) else ""
    return _read_score(value["score"], criterion, graded=graded), text


def _read_score(score: Any, criterion: Criterion, *, graded: bool) -> int | None:
    if score is None:
        if criterion.always_applicable:
            raise ValueError("`score` is null, but this criterion always applies")
        return None
    number = score
    if isinstance(score, str):
        number = (_GRADE_WORDS if graded else _WORDS).get(score.strip().casefold())
    elif isinstance(score, bool):
        number = None if graded else int(score)
    wanted = _GRADES if graded else (0, 1)
    if number is None or number not in wanted:
        scale = f"{LOWEST_GRADE} to {HIGHEST_GRADE}" if graded else "0 or 1"
        raise ValueError(f"`score` must be {scale}, got {score!r:.60}")
    return int(number)
