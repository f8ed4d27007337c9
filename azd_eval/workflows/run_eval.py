"""Score every task of a dataset with one candidate."""

from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.ports import Executor, TaskSource, TrialLog
from azd_eval.domain.score import Trial, TrialSpec
from azd_eval.domain.stop import StopSign
from azd_eval.domain.tally import Tally

COMPLETED = "completed"

_FATAL_IN_A_ROW = 3


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


async def run_eval(
    job: RunJob,
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
