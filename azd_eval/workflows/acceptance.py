"""Decide whether a revised candidate replaces the incumbent; nothing else decides it."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from azd_eval.domain.optimization import Measurement

K = TypeVar("K", bound=Hashable)
# Task, turn, evaluator, criterion.
Cell = tuple[str, int, str, str]

# Sums of thirds and tenths in another order must not make a tie look like a gain.
_ROUNDING = 1e-9
_NAMED_CRITERIA = 5


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a candidate replaces the incumbent, and why, in words for user and reflector."""

    accepted: bool
    reason: str


def accept(incumbent: Measurement, child: Measurement) -> Decision:
    """Accept a child whose score is strictly higher, on the same tasks and over all; ties lose.

    Scores are paired by task. It must be scored on at least as many tasks as the incumbent: what
    errored is missing, and nothing is gained by missing the hard ones.
    """
    before, after = _task_scores(incumbent), _task_scores(child)
    shared = [key for key in before if key in after]
    if not shared or len(after) < len(before):
        return Decision(False, f"only {len(shared)} of {len(before)} tasks were scored again")
    old, new = fmean(before[key] for key in shared), fmean(after[key] for key in shared)
    changes = _describe_changes(incumbent, child)
    if new - old <= _ROUNDING:
        return Decision(False, f"not better: {old:.3f} to {new:.3f}; {changes}")
    if (child.score or 0.0) <= (incumbent.score or 0.0):
        return Decision(False, f"not better with the tasks that only one was scored on; {changes}")
    return Decision(True, f"better: {old:.3f} to {new:.3f}; {changes}")


def _task_scores(measurement: Measurement) -> dict[str, float]:
    return _means(
        (trial.task_key, trial.score) for trial in measurement.trials if trial.score is not None
    )


def _verdict_values(measurement: Measurement) -> dict[Cell, float]:
    return _means(
        ((trial.task_key, index, score.evaluator, verdict.criterion), verdict.value)
        for trial in measurement.trials
        for index, turn in enumerate(trial.turns)
        for score in turn.scores
        for verdict in score.verdicts
        if verdict.value is not None
    )


def _means(pairs: Iterable[tuple[K, float]]) -> dict[K, float]:
    groups: dict[K, list[float]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return {key: fmean(values) for key, values in groups.items()}


def _describe_changes(incumbent: Measurement, child: Measurement) -> str:
    before, after = _verdict_values(incumbent), _verdict_values(child)
    fixed, broken = _names_of_higher(before, after), _names_of_higher(after, before)
    parts = [
        f"{len(names)} {word} ({_listed(names)})"
        for names, word in ((fixed, "fixed"), (broken, "broken"))
        if names
    ]
    return ", ".join(parts) or "no verdict changed"


def _names_of_higher(low: Mapping[Cell, float], high: Mapping[Cell, float]) -> list[str]:
    return [key[-1] for key in low if key in high and high[key] > low[key]]


def _listed(names: list[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = ", ..." if len(distinct) > _NAMED_CRITERIA else ""
    return ", ".join(distinct[:_NAMED_CRITERIA]) + more
