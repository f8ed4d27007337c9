"""Collect what a candidate missed, for the optimizer, and why it could not be measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from azd_eval.domain.criterion import HIGHEST_GRADE, Criterion, Rubric
from azd_eval.domain.optimization import FailedVerdict, Measurement
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


def collect_failures(
    measurement: Measurement, criteria: CriteriaIndex
) -> tuple[FailedVerdict, ...]:
    """List every verdict short of full marks, in dataset order.

    In a conversation, `prompt` holds the user's messages up to that turn. The expected answer is
    never part of it.
    """
    return tuple(failure for trial in measurement.trials for failure in _missed_in(trial, criteria))


def _missed_in(trial: Trial, criteria: CriteriaIndex) -> Iterator[FailedVerdict]:
    for index, turn in enumerate(trial.turns):
        prompt = "\n\n".join(earlier.prompt for earlier in trial.turns[: index + 1])
        for score in turn.scores:
            for verdict in score.verdicts:
                if verdict.value is not None and verdict.value < 1:
                    criterion = criteria.find(trial, index, score, verdict)
                    reply = turn.reply or ""
                    yield FailedVerdict(trial.task, prompt, reply, criterion, _word(verdict))


def _word(verdict: Verdict) -> str:
    if verdict.grade is None:
        return verdict.reason
    return f"graded {verdict.grade} of {HIGHEST_GRADE}: {verdict.reason}"


def find_fatal(measurement: Measurement) -> str | None:
    """Name the error that every further call would meet too, if there was one."""
    return next((trial.fatal for trial in measurement.trials if trial.fatal), None)


def find_fault(measurement: Measurement) -> str | None:
    """Say why nothing was scored; None when something was, or was merely left undecided."""
    if not measurement.trials:
        return "no task was tried"
    if measurement.score is not None:
        return find_fatal(measurement)
    turns = [turn for trial in measurement.trials for turn in trial.turns]
    errors = (turn.error for turn in turns if turn.error)
    unusable = (
        verdict.reason
        for turn in turns
        for score in turn.scores
        for verdict in score.verdicts
        if verdict.outcome == "unusable"
    )
    return find_fatal(measurement) or next(errors, None) or next(unusable, None)
