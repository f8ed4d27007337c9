"""Run many trials in this process, a bounded number at a time."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass

from azd_eval.domain.score import Trial, TrialSpec


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Keeps `limit` trials under way; specs are drawn only as places come free.

    `run_trial` turns one spec into a trial and is made by the wiring. The calls inside the trials
    have a limit of their own: one trial has several in flight while it is judged.
    """

    run_trial: Callable[[TrialSpec], Awaitable[Trial]]
    limit: int

    async def run(self, specs: Iterable[TrialSpec]) -> AsyncGenerator[Trial, None]:
        waiting = iter(specs)
        running: set[asyncio.Task[Trial]] = set()
        done: set[asyncio.Task[Trial]] = set()
        try:
            while True:
                while len(running) < self.limit and (spec := next(waiting, None)) is not None:
                    running.add(asyncio.ensure_future(self.run_trial(spec)))
                if not running:
                    return
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield task.result()
        finally:
            for task in running:
                task.cancel()
            # Those done are asked too: asyncio prints what a task raised and nobody heard.
            await asyncio.gather(*running, *done, return_exceptions=True)
