"""Keep some evaluations of a search back, for the comparison that follows it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.ports import SearchBench, Strategy
from azd_eval.domain.score import Trial
from azd_eval.domain.search import Finding, Stop
from azd_eval.domain.task import Task


@dataclass(frozen=True, slots=True)
class RationedStrategy:
    """Lets a strategy search until so many trials are on its bench, or the bench ends it."""

    strategy: Strategy
    evaluations: int

    async def search(self, bench: SearchBench) -> Finding:
        rationed: Any = _RationedBench(bench, self.evaluations)
        return await self.strategy.search(rationed)


@dataclass
class _RationedBench:
    """A bench that is cut short earlier; all else is as on the real one."""

    bench: SearchBench
    evaluations: int
    is_spent: bool = field(default=False, init=False)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bench, name)

    @property
    def stop(self) -> Stop | None:
        spent = Stop("stopped", "the rest is kept back") if self.is_spent else None
        return self.bench.stop or spent

    @property
    def is_cut_short(self) -> bool:
        return self.is_spent or self.bench.is_cut_short

    async def measure(
        self, candidate: Candidate, tasks: Sequence[Task], look: int
    ) -> tuple[Trial, ...]:
        left = self.evaluations - self.bench.ledger.count
        self.is_spent = self.is_spent or len(tasks) > left
        return await self.bench.measure(candidate, tasks[: max(0, left)], look)
