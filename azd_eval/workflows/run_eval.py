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

    Draws no further trial once the stop sign is up, and puts it up at the first error that every
    other trial would meet too, such as a wrong key. The trials under way still end. When
    interrupted, what ended before is kept and counted.
    """
    async with aclosing(executor.run(job.specs())) as trials:
        async for trial in trials:
            if trial.is_stopped:
                continue
            log.append(trial)
            tally.add(trial)
            on_trial(trial)
            if trial.fatal:
                job.stop.put_up(trial.fatal)
    return job.stop.reason or COMPLETED
