"""Score every task of a dataset with one candidate."""

from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from itertools import takewhile

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.ports import Executor, TaskSource, TrialLog
from azd_eval.domain.score import Trial, TrialSpec
from azd_eval.domain.tally import Tally

COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class RunJob:
    """What is to be run: each task `repeats` times with one candidate."""

    tasks: TaskSource
    candidate: Candidate
    repeats: int = 1

    def specs(self) -> Iterator[TrialSpec]:
        """Draw the trials one by one, in dataset order."""
        for index, task in enumerate(self.tasks):
            for repeat in range(self.repeats):
                yield TrialSpec(task, self.candidate, repeat, index)


async def run_eval(
    job: RunJob,
    executor: Executor,
    log: TrialLog,
    tally: Tally,
    on_trial: Callable[[Trial], None],
) -> str:
    """Run all trials, keeping each on disk and counting it as it ends; return the stop reason.

    Draws no further trial after the first error that every other would meet too, such as a wrong
    key; the reason is then that error, and the trials under way still end. When interrupted, what
    ended before is kept and counted.
    """
    fatal: str | None = None
    specs = takewhile(lambda _: fatal is None, job.specs())
    async with aclosing(executor.run(specs)) as trials:
        async for trial in trials:
            log.append(trial)
            tally.add(trial)
            on_trial(trial)
            fatal = fatal or trial.fatal
    return fatal or COMPLETED
