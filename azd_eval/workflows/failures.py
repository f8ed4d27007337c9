"""Collect what a candidate missed and met, for the optimizer."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from azd_eval.domain.criterion import HIGHEST_GRADE, Criterion, Rubric
from azd_eval.domain.ledger import Cell
from azd_eval.domain.optimization import FailedVerdict, MetCriterion
from azd_eval.domain.score import Score, Trial, Verdict
from azd_eval.domain.task import Task


@dataclass(frozen=True, slots=True)
class CriteriaIndex:
    """Finds the criterion behind a verdict: a dimension of a rubric, or the task's own."""

    tasks: dict[tuple[str, int, str], Criterion]
    dimensions: dict[tuple[str, str], Criterion]

    @classmethod
    def build(cls, tasks: Sequence[Task], rubrics: Sequence[Rubric]) -> "CriteriaIndex":
        return cls(
            {
                (task.key, index, criterion.name): criterion
                for task in tasks
                for index, turn in enumerate(task.turns)
                for criterion in turn.criteria
            },
            {
                (rubric.name, dimension.name): dimension
                for rubric in rubrics
                for dimension in rubric.dimensions
            },
        )

    def find(self, trial: Trial, turn: int, score: Score, verdict: Verdict) -> Criterion:
        """Find a criterion; one that no file describes is described by its name."""
        dimension = self.dimensions.get((score.evaluator, verdict.criterion))
        own = self.tasks.get((trial.task_key, turn, verdict.criterion))
        return dimension or own or Criterion(verdict.criterion, verdict.criterion)


def collect_failures(trials: Iterable[Trial], criteria: CriteriaIndex) -> tuple[FailedVerdict, ...]:
    """List what was short of full marks at any look, in dataset order, each verdict once.

    In a conversation, `prompt` holds the user's messages up to that turn. The expected answer is
    never part of it.
    """
    found: dict[Cell, FailedVerdict] = {}
    looks: Counter[Cell] = Counter()
    for trial in trials:
        for cell, is_missed, failure in _read_verdicts(trial, criteria):
            looks[cell] += 1
            if is_missed:
                before = found[cell].missed if cell in found else 0
                found[cell] = replace(failure, missed=before + 1)
    return tuple(replace(failure, looks=looks[cell]) for cell, failure in found.items())


def collect_met(trials: Iterable[Trial], criteria: CriteriaIndex) -> tuple[MetCriterion, ...]:
    """List the criteria that were met on every task at every look, those of most tasks first."""
    tasks: dict[tuple[str, str], set[str]] = defaultdict(set)
    described: dict[tuple[str, str], Criterion] = {}
    missed: set[tuple[str, str]] = set()
    for trial in trials:
        for _, is_missed, failure in _read_verdicts(trial, criteria):
            key = (failure.criterion.name, failure.criterion.instruction)
            described[key] = failure.criterion
            tasks[key].add(trial.task_key)
            if is_missed:
                missed.add(key)
    found = (MetCriterion(described[key], len(tasks[key])) for key in tasks if key not in missed)
    return tuple(sorted(found, key=lambda each: -each.tasks))


def _read_verdicts(
    trial: Trial, criteria: CriteriaIndex
) -> Iterator[tuple[Cell, bool, FailedVerdict]]:
    for index, turn in enumerate(trial.turns):
        prompt = "\n\n".join(earlier.prompt for earlier in trial.turns[: index + 1])
        for score in turn.scores:
            for verdict in score.verdicts:
                if verdict.value is not None:
                    cell = (trial.task_key, index, score.evaluator, verdict.criterion)
                    criterion = criteria.find(trial, index, score, verdict)
                    reply, reason = turn.reply or "", _word(verdict)
                    failure = FailedVerdict(trial.task, prompt, reply, criterion, reason)
                    yield cell, verdict.value < 1, failure


def _word(verdict: Verdict) -> str:
    if verdict.grade is None:
        return verdict.reason
    return f"graded {verdict.grade} of {HIGHEST_GRADE}: {verdict.reason}"
