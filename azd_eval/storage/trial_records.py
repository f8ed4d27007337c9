"""Trials as the lines of `trials.jsonl`, and back (DESIGN: "Files")."""

from collections.abc import Iterable, Mapping
from itertools import chain
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from azd_eval.domain.score import OUTCOMES, Score, Status, Trial, TurnResult, Verdict

Record = TypeVar("Record", Trial, TurnResult, Score, Verdict)


def write_trial(trial: Trial) -> dict[str, Any]:
    """Turn a trial into a JSON-ready object; what is not set is left out of verdicts."""
    return {
        "task": trial.task,
        "task_key": trial.task_key,
        "index": trial.index,
        "category": trial.category,
        "repeat": trial.repeat,
        "status": trial.status,
        "score": trial.score,
        "fatal": trial.fatal,
        "turns": [_write_turn(turn) for turn in trial.turns],
    }


def read_trial(record: Mapping[str, Any]) -> Trial:
    """Read what `write_trial` wrote; raises `KeyError` or `TypeError` on anything else."""
    if record["status"] not in get_args(Status):
        raise TypeError("no status of a trial")
    return _make(
        Trial,
        task=record["task"],
        task_key=record["task_key"],
        index=record["index"],
        category=record["category"],
        repeat=record["repeat"],
        status=record["status"],
        score=record["score"],
        fatal=record["fatal"],
        turns=tuple(_read_turn(turn) for turn in record["turns"]),
    )


def _write_turn(turn: TurnResult) -> dict[str, Any]:
    return {
        "prompt": turn.prompt,
        "reply": turn.reply,
        "error": turn.error,
        "error_code": turn.error_code,
        "finish_reason": turn.finish_reason,
        "latency_ms": turn.latency_ms,
        "tokens": turn.tokens,
        "cached": turn.cached,
        "scores": [_write_score(score) for score in turn.scores],
    } | _set_only({"evidence": turn.evidence, "suspicious": turn.suspicious})


def _write_score(score: Score) -> dict[str, Any]:
    return {
        "evaluator": score.evaluator,
        "score": score.score,
        "passed": score.passed,
        "native": score.native,
        "verdicts": [_write_verdict(verdict) for verdict in score.verdicts],
    } | _set_only({"threshold": score.threshold, "details": score.details})


def _write_verdict(verdict: Verdict) -> dict[str, Any]:
    record: dict[str, Any] = {
        "criterion": verdict.criterion,
        "verdict": verdict.outcome,
        "reason": verdict.reason,
        "weight": verdict.weight,
    }
    optional = {
        "grade": verdict.grade,
        "share": verdict.share,
        "raw": verdict.raw,
        "error_code": verdict.error_code,
    }
    return record | _set_only(optional)


def _set_only(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None and value != {}}


def _read_turn(record: Mapping[str, Any]) -> TurnResult:
    scores = tuple(_read_score(score) for score in record["scores"])
    return _make(TurnResult, **{**record, "scores": scores})


def _read_score(record: Mapping[str, Any]) -> Score:
    verdicts = tuple(_read_verdict(verdict) for verdict in record["verdicts"])
    return _make(Score, **{**record, "verdicts": verdicts})


def _read_verdict(record: Mapping[str, Any]) -> Verdict:
    fields = dict(record)
    outcome = fields.pop("verdict")
    if outcome not in OUTCOMES:
        raise TypeError("no outcome of a verdict")
    return _make(Verdict, outcome=outcome, **fields)


def _list_types(kind: Any) -> Iterable[type]:
    if isinstance(kind, UnionType):
        return chain.from_iterable(map(_list_types, get_args(kind)))
    if kind is float:
        return int, float
    return (str if get_origin(kind) is Literal else get_origin(kind) or kind,)


_TYPES = {
    record: {name: tuple(_list_types(kind)) for name, kind in get_type_hints(record).items()}
    for record in (Trial, TurnResult, Score, Verdict)
}


def _make(record: type[Record], **fields: Any) -> Record:
    made = record(**fields)
    for name, types in _TYPES[record].items():
        if not isinstance(getattr(made, name), types):
            raise TypeError(f"{name} of {record.__name__} is of another type")
    return made
