"""What a search has measured: every trial of every candidate.

An estimate is the mean over all looks at a task; an errored trial is missing, never 0.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from statistics import fmean
from typing import TypeVar

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.score import Trial

K = TypeVar("K", bound=Hashable)
# Task key, turn, evaluator, criterion.
Cell = tuple[str, int, str, str]


class Ledger:
    """Keeps trials by candidate, each task and repeat once."""

    def __init__(self) -> None:
        self._trials: dict[str, dict[tuple[str, int], Trial]] = defaultdict(dict)

    def add(self, candidate: Candidate, trials: Iterable[Trial]) -> None:
        """Add trials; one that is known by its task and repeat stays as it was."""
        for trial in trials:
            self._trials[candidate.id].setdefault((trial.task_key, trial.repeat), trial)

    def trials(self, candidate: Candidate) -> tuple[Trial, ...]:
        """Give all trials of a candidate in dataset order, the repeats of a task together."""
        known = self._trials.get(candidate.id, {}).values()
        return tuple(sorted(known, key=lambda trial: (trial.index, trial.repeat)))

    def task_scores(self, candidate: Candidate) -> dict[str, float]:
        """Give the mean score of each task that was scored, by the task's key."""
        return mean_scores(self.trials(candidate))

    @property
    def count(self) -> int:
        """How many trials there are, of all candidates."""
        return sum(map(len, self._trials.values()))


def mean_scores(trials: Iterable[Trial]) -> dict[str, float]:
    """Average the scores of each task over its trials, by the task's key."""
    return _average((trial.task_key, trial.score) for trial in trials if trial.score is not None)


def mean_cells(trials: Iterable[Trial]) -> dict[Cell, float]:
    """Average the verdicts that are numbers, each over its trials."""
    return _average(item for trial in trials for item in cells(trial))


def cells(trial: Trial) -> Iterator[tuple[Cell, float]]:
    """Yield the verdicts of a trial that are numbers, by what they decide."""
    for index, turn in enumerate(trial.turns):
        for score in turn.scores:
            for verdict in score.verdicts:
                if verdict.value is not None:
                    cell = (trial.task_key, index, score.evaluator, verdict.criterion)
                    yield cell, verdict.value


def subtract(after: Mapping[K, float], before: Mapping[K, float]) -> dict[K, float]:
    """Pair what both hold: how much higher `after` is, by key, in the order of `after`."""
    return {key: value - before[key] for key, value in after.items() if key in before}


def _average(pairs: Iterable[tuple[K, float]]) -> dict[K, float]:
    groups: dict[K, list[float]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return {key: fmean(values) for key, values in groups.items()}
