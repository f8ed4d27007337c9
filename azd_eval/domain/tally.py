"""Add up trials as they come, in any order, into the numbers of a summary.

Keeps a few numbers per task and criterion, never replies, so that a large run stays small.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import comb

from azd_eval.domain.score import OUTCOMES, Status, Trial, mean
from azd_eval.domain.statistics import proportion_interval, score_interval
from azd_eval.domain.summary import (
    CategoryResult,
    CriterionResult,
    Interval,
    TaskCounts,
    TaskResult,
)

MOST_CRITERIA = 10_000


@dataclass(slots=True)
class _TaskTally:
    name: str
    category: str | None
    scores: list[float] = field(default_factory=list)
    passed: int = 0
    failed: int = 0
    errored: int = 0
    met: int = 0
    asked: int = 0
    suspicious: int = 0
    cut: int = 0

    def conclude(self, index: int) -> TaskResult:
        """Average the scored repeats; the status is that of the majority.

        A pass needs more than half of the repeats that were not skipped, an error half of them.
        """
        attempted = self.passed + self.failed + self.errored
        status: Status = "failed"
        if not attempted:
            status = "skipped"
        elif 2 * self.passed > attempted:
            status = "passed"
        elif 2 * self.errored >= attempted:
            status = "errored"
        return TaskResult(
            self.name,
            status,
            mean(self.scores),
            self.category,
            self.met,
            self.asked,
            self.errored / attempted if attempted else 0.0,
            index,
            self.suspicious,
            self.cut,
        )


class Tally:
    """The running count of a run. `repeats` is how many trials each task gets."""

    def __init__(self, repeats: int = 1) -> None:
        self._repeats = repeats
        self._tasks: dict[int, _TaskTally] = {}
        # One number per outcome, in their order: a large run may have a criterion per task.
        self._criteria: dict[tuple[str, str], list[int]] = {}
        # Of each task, how often the criterion was met, and how often not.
        self._repeated: dict[tuple[str, str], dict[int, list[int]]] = {}
        self.trials = 0
        self.errored_trials = 0

    def add(self, trial: Trial) -> None:
        """Count one trial; each (task, repeat) once."""
        # Every row has a text of its own for its category.
        category = trial.category and sys.intern(trial.category)
        task = self._tasks.setdefault(trial.index, _TaskTally(trial.task, category))
        task.passed += trial.status == "passed"
        task.failed += trial.status == "failed"
        task.errored += trial.status == "errored"
        if trial.score is not None:
            task.scores.append(trial.score)
        self.trials += 1
        self.errored_trials += trial.status == "errored"
        for turn in trial.turns:
            task.suspicious += turn.suspicious is not None
            task.cut += turn.finish_reason == "length"
            for score in turn.scores:
                for verdict in score.verdicts:
                    key = (score.evaluator, verdict.criterion)
                    counts = self._criteria.setdefault(key, [0] * len(OUTCOMES))
                    counts[OUTCOMES.index(verdict.outcome)] += 1
                    if self._repeats > 1 and verdict.outcome in ("met", "unmet"):
                        task_counts = self._repeated.setdefault(key, {})
                        pair = task_counts.setdefault(trial.index, [0, 0])
                        pair[verdict.outcome == "unmet"] += 1
                    task.met += verdict.outcome == "met"
                    task.asked += verdict.value is not None

    def results(self) -> tuple[TaskResult, ...]:
        """Give one result per task, in dataset order, whatever finished first."""
        return tuple(task.conclude(index) for index, task in sorted(self._tasks.items()))

    def criteria(self) -> tuple[CriterionResult, ...]:
        """Give one result per criterion, by evaluator and name.

        Of more than 10,000, those asked most often; the others of an evaluator are one result.
        """
        keys = sorted(self._criteria, key=lambda key: (-sum(self._criteria[key]), key))
        rows = {key: self._criteria[key] for key in keys[:MOST_CRITERIA]}
        others: dict[str, list[list[int]]] = defaultdict(list)
        for key in keys[MOST_CRITERIA:]:
            others[key[0]].append(self._criteria[key])
        for evaluator, group in others.items():
            name = f"{len(group)} other criteria"
            rows[evaluator, name] = [sum(counts) for counts in zip(*group, strict=True)]
        return tuple(self._conclude(*row) for row in sorted(rows.items()))

    def _conclude(self, key: tuple[str, str], counts: list[int]) -> CriterionResult:
        met, unmet, not_applicable, undecided, unusable = counts
        decided = met + unmet
        return CriterionResult(
            *key,
            met,
            unmet,
            not_applicable,
            undecided,
            unusable,
            rate=met / decided if decided else None,
            # Repeats of one task are not independent: they count as one observation together.
            interval=proportion_interval(met / self._repeats, decided / self._repeats),
            agreement=_measure_agreement(self._repeated.get(key, {}).values()),
        )


def _measure_agreement(counts: Iterable[Sequence[int]]) -> float | None:
    """Give the share of pairs of repeats of a task that agree; None where there is no pair."""
    listed = list(counts)
    pairs = sum(comb(met + unmet, 2) for met, unmet in listed)
    agreeing = sum(comb(met, 2) + comb(unmet, 2) for met, unmet in listed)
    return agreeing / pairs if pairs else None


def count_tasks(results: Iterable[TaskResult]) -> TaskCounts:
    """Count tasks by status."""
    counts = Counter(result.status for result in results)
    return TaskCounts(
        total=counts.total(),
        passed=counts["passed"],
        failed=counts["failed"],
        errored=counts["errored"],
        skipped=counts["skipped"],
    )


def overall_score(results: Iterable[TaskResult]) -> tuple[float | None, Interval | None]:
    """Average the scored tasks, with a 95 % interval over tasks as clusters."""
    scores = [result.score for result in results if result.score is not None]
    return mean(scores), score_interval(scores)


def score_with_errors_as_zero(results: Iterable[TaskResult]) -> float | None:
    """Average scored and errored tasks, each errored repeat being 0; None when none was scored."""
    counted = [result for result in results if result.status != "skipped"]
    if all(result.score is None for result in counted):
        return None
    return mean((result.score or 0.0) * (1 - result.error_share) for result in counted)


def group_by_category(results: Iterable[TaskResult]) -> tuple[CategoryResult, ...]:
    """Summarise the tasks of each category, in order of first appearance."""
    groups: dict[str, list[TaskResult]] = {}
    for result in results:
        if result.category is not None:
            groups.setdefault(result.category, []).append(result)
    return tuple(
        CategoryResult(name, count_tasks(group), overall_score(group)[0])
        for name, group in groups.items()
    )
