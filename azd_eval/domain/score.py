"""Verdicts, scores and trials, and the arithmetic between them (DESIGN: "Numbers").

Only *met* and *unmet* are numbers. *Unusable* is an error of the judge; *not applicable* and
*undecided* leave the denominator and are counted.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any, Literal

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.criterion import HIGHEST_GRADE, LOWEST_GRADE
from azd_eval.domain.task import Task

Outcome = Literal["met", "unmet", "not_applicable", "undecided", "unusable"]
Status = Literal["passed", "failed", "errored", "skipped"]

OUTCOMES: tuple[Outcome, ...] = ("met", "unmet", "not_applicable", "undecided", "unusable")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one criterion, and why.

    `grade` is 1..5 where the rubric is graded, `share` 0..1 where more or less of the criterion can
    be met, else both are None. An unusable verdict keeps what the judge wrote (`raw`) or how its
    call failed (`error_code`, as in `ModelError`).
    """

    criterion: str
    outcome: Outcome
    reason: str = ""
    weight: float = 1.0
    grade: int | None = None
    share: float | None = None
    raw: str | None = None
    error_code: str | None = None

    @property
    def value(self) -> float | None:
        """Give the verdict as a number in 0..1, or None where it is none."""
        if self.outcome not in ("met", "unmet"):
            return None
        if self.grade is not None:
            return (self.grade - LOWEST_GRADE) / (HIGHEST_GRADE - LOWEST_GRADE)
        if self.share is not None:
            return self.share
        return 1.0 if self.outcome == "met" else 0.0


@dataclass(frozen=True, slots=True)
class Score:
    """What one evaluator says of one turn.

    `score` and `passed` are None when no verdict is a number. `native` is the result on the
    evaluator's scale - the weighted mean grade (1..5) of a graded rubric, a count of citations -
    and `threshold` what passes on it. `details` is what else was found, JSON-ready.
    """

    evaluator: str
    score: float | None
    passed: bool | None
    verdicts: tuple[Verdict, ...] = ()
    native: float | None = None
    threshold: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What happened in one turn. Either `reply` or `error` is given; never neither.

    `evidence` is that of the reply; `suspicious` quotes words in it that speak to the judge.
    """

    prompt: str
    reply: str | None = None
    error: str | None = None
    error_code: str | None = None
    finish_reason: str = "stop"
    latency_ms: float = 0.0
    tokens: int = 0
    cached: bool = False
    scores: tuple[Score, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    suspicious: str | None = None


@dataclass(frozen=True, slots=True)
class TrialSpec:
    """One task, once, with one candidate: plain data, so that it can travel to another process."""

    task: Task
    candidate: Candidate
    repeat: int = 0
    index: int = 0


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of one `TrialSpec`.

    `fatal` names an error that every other trial would meet. `is_stopped` says that a limit of the
    user cut it short: it is no result, and belongs nowhere.
    """

    task: str
    task_key: str
    repeat: int
    status: Status
    score: float | None
    turns: tuple[TurnResult, ...]
    index: int = 0
    category: str | None = None
    fatal: str | None = None
    is_stopped: bool = False


def weighted_mean(verdicts: Iterable[Verdict]) -> float | None:
    """Average the verdicts that are numbers; None when there are none."""
    total = weight = 0.0
    for verdict in verdicts:
        value = verdict.value
        if value is not None:
            total += value * verdict.weight
            weight += verdict.weight
    return total / weight if weight else None


def mean(values: Iterable[float]) -> float | None:
    """Average plain numbers, to the same bit in any order; None when there are none."""
    listed = list(values)
    return fsum(listed) / len(listed) if listed else None


def trial_score(turns: Sequence[TurnResult]) -> float | None:
    """Average a trial: per evaluator the weighted mean of its verdicts, then the mean of those."""
    verdicts: dict[str, list[Verdict]] = defaultdict(list)
    for turn in turns:
        for score in turn.scores:
            verdicts[score.evaluator].extend(score.verdicts)
    by_evaluator = (weighted_mean(group) for group in verdicts.values())
    return mean(score for score in by_evaluator if score is not None)


def trial_status(turns: Sequence[TurnResult]) -> Status:
    """Judge a trial as a whole.

    Errored with an agent error or an unusable verdict; skipped when nothing was decided; passed
    when every evaluator that decided something passed in every turn.
    """
    scores = [score for turn in turns for score in turn.scores]
    verdicts = [verdict for score in scores for verdict in score.verdicts]
    if any(turn.error for turn in turns) or any(v.outcome == "unusable" for v in verdicts):
        return "errored"
    decided = [score.passed for score in scores if score.passed is not None]
    if not decided:
        return "skipped"
    return "passed" if all(decided) else "failed"
