"""Score every task of a dataset with one candidate."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.ports import Executor, TaskSource, TrialLog
from azd_eval.domain.score import Trial, TrialSpec
from azd_eval.domain.stop import StopSign
from azd_eval.domain.tally import Tally
from azd_eval.domain.task import Task

COMPLETED = "completed"

_FATAL_IN_A_ROW = 3


class TrialPlan(Protocol):
    """Trials to be run, drawn one by one; no more are drawn once the stop sign is up."""

    @property
    def stop(self) -> StopSign: ...

    def specs(self) -> Iterator[TrialSpec]: ...


@dataclass(frozen=True, slots=True)
class RunJob:
    """What is to be run: each task `repeats` times with one candidate, until the stop sign is up.

    `finished` are the trials that an earlier session has, by task key and repeat.
    """

    tasks: TaskSource
    candidate: Candidate
    repeats: int = 1
    finished: frozenset[tuple[str, int]] = frozenset()
    stop: StopSign = field(default_factory=StopSign)

    def specs(self) -> Iterator[TrialSpec]:
        """Draw the trials that are missing, one by one, in dataset order."""
        for index, task in enumerate(self.tasks):
            for repeat in range(self.repeats):
                if self.stop.is_up:
                    return
                if not self.finished or (task.key, repeat) not in self.finished:
                    yield TrialSpec(task, self.candidate, repeat, index)


@dataclass(frozen=True, slots=True)
class LookJob:
    """One look of an optimization at some tasks: each `repeats` times, with numbers of its own.

    `places` are the tasks' places in the dataset, by key; `finished` is as in `RunJob`.
    """

    tasks: Sequence[Task]
    candidate: Candidate
    look: int
    places: Mapping[str, int]
    repeats: int = 1
    finished: Container[tuple[str, int]] = frozenset()
    stop: StopSign = field(default_factory=StopSign)

    @property
    def keys(self) -> list[tuple[str, int]]:
        """All trials of the look, by task key and repeat."""
        numbers = range(self.look * self.repeats, (self.look + 1) * self.repeats)
        return [(task.key, repeat) for task in self.tasks for repeat in numbers]

    def specs(self) -> Iterator[TrialSpec]:
        """Draw the trials that are missing."""
        tasks = {task.key: task for task in self.tasks}
        for key, repeat in self.keys:
            if self.stop.is_up:
                return
            if (key, repeat) not in self.finished:
                yield TrialSpec(tasks[key], self.candidate, repeat, self.places[key])


async def run_eval(
    job: TrialPlan,
    executor: Executor,
    log: TrialLog,
    tally: Tally,
    on_trial: Callable[[Trial], None],
) -> str:
    """Run all trials, keeping each on disk and counting it as it ends; return the stop reason.

    Draws no further trial once the stop sign is up, and puts it up when three trials in a row, or
    all there are, met an error that every other would meet too, such as a wrong key. Not at the
    first: a gateway may forbid a single prompt, and then only that task is lost. The trials under
    way still end. When interrupted, what ended before is kept and counted.
    """
    fatals: list[str] = []
    async with aclosing(executor.run(job.specs())) as trials:
        async for trial in trials:
            if trial.is_stopped:
                continue
            log.append(trial)
            tally.add(trial)
            on_trial(trial)
            fatals = [*fatals, trial.fatal] if trial.fatal else []
            if len(fatals) >= _FATAL_IN_A_ROW:
                job.stop.put_up(fatals[0])
    if fatals and len(fatals) == tally.trials:
        job.stop.put_up(fatals[0])
    return job.stop.reason or COMPLETED
