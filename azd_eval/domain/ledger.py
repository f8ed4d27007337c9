"""What a search has measured: every trial of every candidate.

An estimate is the mean over all looks at a task; an errored trial is missing, never 0.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
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
        self._scores: dict[str, dict[str, list[float]]] = defaultdict(dict)

    def add(self, candidate: Candidate, trials: Iterable[Trial]) -> None:
        """Add trials; one that is known by its task and repeat stays as it was."""
        known, scores = self._trials[candidate.id], self._scores[candidate.id]
        for trial in trials:
            place = trial.task_key, trial.repeat
            if place not in known and trial.score is not None:
                scores.setdefault(trial.task_key, []).append(trial.score)
            known.setdefault(place, trial)

    def trials(self, candidate: Candidate) -> tuple[Trial, ...]:
        """Give all trials of a candidate in dataset order, the repeats of a task together."""
        known = self._trials.get(candidate.id, {}).values()
        return tuple(sorted(known, key=lambda trial: (trial.index, trial.repeat)))

    def scores(self, candidate: Candidate) -> Mapping[str, Sequence[float]]:
        """Give the scores of each task, over all looks, by the task's key."""
        return self._scores.get(candidate.id, {})

    def task_scores(self, candidate: Candidate) -> dict[str, float]:
        """Give the mean score of each task that was scored, by the task's key."""
        return {key: fmean(scores) for key, scores in self.scores(candidate).items()}

    def is_quiet(self, verdicts: int) -> bool:
        """Tell whether at least so many verdicts were seen more than once and none has changed.

        A verdict belongs to a candidate: with the same instructions it should be the same.
        """
        seen: dict[tuple[str, Cell], list[float]] = defaultdict(list)
        for candidate_id, trials in self._trials.items():
            for trial in trials.values():
                for cell, value in cells(trial):
                    seen[candidate_id, cell].append(value)
        again = [values for values in seen.values() if len(values) > 1]
        return len(again) >= verdicts and all(len(set(values)) == 1 for values in again)

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
