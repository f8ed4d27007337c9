"""Search with the `gepa` package: the strategy `gepa`, of the extra `gepa`.

The package is synchronous, and goes on when a proposer or a callback raises. So it runs in a thread
of its own, all that it asks for is done on the event loop, and whatever fails there ends it. It
keeps no files: a search is taken up by running it again with the answers that are on disk.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gepa.api import optimize
from gepa.core.adapter import EvaluationBatch
from gepa.core.callbacks import CandidateRejectedEvent, ValsetEvaluatedEvent

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.ledger import mean_scores
from azd_eval.domain.ports import SearchBench
from azd_eval.domain.search import Decision, Finding, Stop
from azd_eval.domain.task import Task

T = TypeVar("T")

# What the package calls the one text that it revises.
_PART = "instructions"
# Its default; of fewer tasks it would draw some twice.
_TASKS_DRAWN = 3


class GepaStrategy:
    """Runs `gepa.optimize` with its defaults, the tasks of the bench being both of its data sets.

    It takes the first of several proposals, and knows no missing scores: an errored trial counts as
    the baseline's score on that task. When it fails itself, the best so far is found, for the
    reason `strategy_error`.
    """

    async def search(self, bench: SearchBench) -> Finding:
        """Search until the bench stops, all tasks are perfect or nothing is left to propose."""
        run = _Run(bench, asyncio.get_running_loop())
        thread = asyncio.ensure_future(asyncio.to_thread(run.optimize))
        try:
            await asyncio.wait([thread])
        finally:
            run.halt()
            await asyncio.wait([thread])
        if run.failure is not None:
            raise run.failure
        error = thread.exception()
        if error is None or isinstance(error, _HaltedError):
            return Finding(run.best, bench.stop or run.end)
        message = f"gepa failed with {type(error).__name__}: {error}"
        return Finding(run.best, Stop("strategy_error", message))


class _HaltedError(Exception):
    """Leaves the package from within: the search is over."""


@dataclass
class _Run:
    """One `gepa.optimize`, and what it calls back: as adapter, stopper, observer and logger.

    But for `halt`, everything here is called by the thread of the package.
    """

    bench: SearchBench
    loop: asyncio.AbstractEventLoop
    end: Stop = field(default_factory=lambda: Stop("no_progress", "gepa ended its search"))
    failure: BaseException | None = None
    _candidates: dict[str, Candidate] = field(default_factory=dict)
    _looks: Counter[tuple[str, str]] = field(default_factory=Counter)
    _best: tuple[float, Candidate] | None = None
    _proposed: Candidate | None = None
    _idle_iterations: int = 0
    _work: "asyncio.Task[Any] | None" = None
    _is_halted: bool = False

    @property
    def best(self) -> Candidate:
        return self._best[1] if self._best else self.bench.baseline

    def optimize(self) -> None:
        """Run the package to its end."""
        text = self.bench.baseline.instructions
        self._candidates[text] = self.bench.baseline
        tasks = list(self.bench.tasks)
        # The protocols of the package demand the members that it does without, too.
        this: Any = self
        optimize(
            {_PART: text},
            trainset=tasks,
            reflection_minibatch_size=min(_TASKS_DRAWN, len(tasks)) or None,
            adapter=this,
            stop_callbacks=self.is_over,
            callbacks=[this],
            logger=this,
            track_best_outputs=False,
            seed=self.bench.random.getrandbits(32),
        )

    def halt(self) -> None:
        """Cancel what is being done, and let nothing more be done. On the event loop only."""
        self._is_halted = True
        if self._work is not None:
            self._work.cancel()

    def is_over(self, gepa_state: object) -> bool:
        """Decide before each iteration, because nothing else surely ends the package."""
        idle, most = self._idle_iterations, self.bench.policy.stop_after
        self._idle_iterations += 1
        if self._best is not None and self._best[0] >= 1:
            self.end = Stop("nothing_left_to_fix", "no criterion is missed any more")
        elif idle >= most:
            self.end = Stop("no_progress", f"{idle} draws of tasks in a row led to no proposal")
        elif self.failure is None and not self._is_halted:
            return self.bench.stop is not None
        return True

    def evaluate(
        self, batch: Sequence[Task], candidate: Mapping[str, str], capture_traces: object = None
    ) -> EvaluationBatch[Task, None]:
        """Ask each task once more. The traces are the tasks: what they failed is on the bench."""
        chosen = self._candidates[candidate[_PART]]
        scores = self._do(lambda: self._look(chosen, batch))
        return EvaluationBatch([None] * len(batch), scores, list(batch))

    def make_reflective_dataset(
        self,
        candidate: Mapping[str, str],
        eval_batch: EvaluationBatch[Task, None],
        components_to_update: Sequence[str],
    ) -> dict[str, list[dict[str, Task]]]:
        return {_PART: [{"task": task} for task in eval_batch.trajectories or ()]}

    def propose_new_texts(
        self,
        candidate: Mapping[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Task]]],
        components_to_update: Sequence[str],
    ) -> dict[str, str]:
        """Ask for a revision; none, when no usable one came."""
        parent = self._candidates[candidate[_PART]]
        shown = {row["task"].key: row["task"] for row in reflective_dataset[_PART]}
        self._idle_iterations = 0
        proposals = self._do(lambda: self.bench.propose(parent, list(shown.values())))
        if not proposals:
            return {}
        self._proposed = proposals[0]
        self._candidates[self._proposed.instructions] = self._proposed
        return {_PART: self._proposed.instructions}

    def on_valset_evaluated(self, event: ValsetEvaluatedEvent) -> None:
        """Keep the best, the oldest of equals; gepa would only tell at its end."""
        candidate, score = self._candidates[event["candidate"][_PART]], event["average_score"]
        if self._best is None or score > self._best[0]:
            self._best = score, candidate
        if candidate is not self.bench.baseline:
            self._decide(candidate, Decision(True, f"better where it failed; {score:.3f} on all"))

    def on_candidate_rejected(self, event: CandidateRejectedEvent) -> None:
        if self._proposed is not None:
            old, new = event["old_score"], event["new_score"]
            reason = f"not better on the tasks drawn: {old:.3f} to {new:.3f} in all"
            self._decide(self._proposed, Decision(False, reason))

    def log(self, message: str) -> None:
        """Print nothing: what happens is on record already."""

    async def _look(self, candidate: Candidate, batch: Sequence[Task]) -> list[float]:
        """Give a score for each task of a batch, in which one may stand twice."""
        rounds: dict[int, list[tuple[int, Task]]] = defaultdict(list)
        for place, task in enumerate(batch):
            seen = (candidate.id, task.key)
            rounds[self._looks[seen]].append((place, task))
            self._looks[seen] += 1
        spare = self.bench.ledger.task_scores(self.bench.baseline)
        scores = [0.0] * len(batch)
        for look, items in rounds.items():
            trials = await self.bench.measure(candidate, [task for _, task in items], look)
            if {task.key for _, task in items} - {trial.task_key for trial in trials}:
                raise _HaltedError
            known = mean_scores(trials)
            for place, task in items:
                scores[place] = known.get(task.key, spare.get(task.key, 0.0))
        return scores

    def _decide(self, candidate: Candidate, decision: Decision) -> None:
        async def decide() -> None:
            self.bench.decide(candidate, decision)

        self._do(decide)

    def _do(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Have something done on the event loop; what fails there is remembered."""
        future = asyncio.run_coroutine_threadsafe(self._work_on(work), self.loop)
        error = future.exception()
        if error is None:
            return future.result()
        if not isinstance(error, _HaltedError):
            self.failure = self.failure or error
        raise error

    async def _work_on(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._is_halted or self.failure is not None:
            raise _HaltedError
        self._work = asyncio.current_task()
        return await work()
