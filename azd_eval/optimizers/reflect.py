"""The strategy `reflect`: revise what fails, drop bad candidates early, accept after two looks."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.ports import SearchBench
from azd_eval.domain.score import mean
from azd_eval.domain.search import Decision, Finding, Stop
from azd_eval.domain.task import Task
from azd_eval.optimizers.acceptance import Challenge
from azd_eval.optimizers.selection import choose_best, choose_parent

# Blocks are waited for one after the other.
_MOST_BLOCKS = 10


@dataclass(frozen=True, slots=True)
class ReflectStrategy:
    """Improves one incumbent step by step, and believes nothing that was seen once. A strategy."""

    async def search(self, bench: SearchBench) -> Finding:
        """Search until nothing is missed any more, nothing helps, or the bench ends it."""
        search = _Search(bench)
        while (stop := search.find_stop()) is None:
            await search.iterate()
        return Finding(choose_best(bench, search.survivors), stop)


@dataclass(slots=True)
class _Course:
    """What was seen of a child, step by step, the early rejection, and whether all tasks were."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    rejection: Decision | None = None
    is_whole: bool = False

    def note(self, look: int, challenge: Challenge) -> None:
        gains = challenge.gains
        step = {"look": look, "tasks": len(gains), "difference": mean(gains.values())}
        self.steps.append(step)


class _Search:
    """The incumbent, who went through all looks or all tasks, and how long nothing helped."""

    def __init__(self, bench: SearchBench) -> None:
        self.survivors: list[Candidate] = []
        self._archive: list[Candidate] = []
        self._bench = bench
        self._incumbent = bench.baseline
        self._vain_in_a_row = 0
        self._stuck_for = 0
        self._last_reason = ""

    def find_stop(self) -> Stop | None:
        if stop := self._bench.stop:
            return stop
        if not self._find_failing():
            return Stop("nothing_left_to_fix", "no criterion is missed any more")
        vain = self._vain_in_a_row
        if vain < self._bench.policy.stop_after:
            return None
        message = f"{vain} iterations in a row brought nothing better; the last: "
        return Stop("no_progress", message + self._last_reason)

    async def iterate(self) -> None:
        """Ask for proposals, look at all of them at once, decide in their order."""
        parent = await self._choose_parent()
        if self._bench.is_cut_short:
            return
        children = await self._bench.propose(parent)
        # What is drawn or decided while others run would depend on who is first.
        blocks = [self._draw_blocks() for _ in children]
        is_quiet = self._bench.ledger.is_quiet(self._bench.policy.quiet_verdicts)
        looks = (
            self._look(child, order, is_quiet=is_quiet)
            for child, order in zip(children, blocks, strict=True)
        )
        courses = await asyncio.gather(*looks)
        if self._bench.is_cut_short or not children:
            return
        before = self._incumbent
        for child, course in zip(children, courses, strict=True):
            self._conclude(child, course)
        is_stuck = self._incumbent is before
        self._vain_in_a_row = self._vain_in_a_row + 1 if is_stuck else 0
        self._stuck_for = self._stuck_for + 1 if is_stuck else 0

    async def _choose_parent(self) -> Candidate:
        """Take the incumbent; when stuck, see whether it was merely lucky, and try another one."""
        if self._stuck_for < self._bench.policy.unstick_after:
            return self._incumbent
        self._stuck_for = 0
        lucky = self._incumbent
        await self._bench.measure(lucky, self._bench.tasks, self._bench.next_look(lucky))
        self._incumbent = choose_best(self._bench, self.survivors)
        parent = choose_parent(self._bench, self._incumbent, self._archive)
        event = {"event": "unstuck", "looked_again_at": lucky.id, "parent": parent.id}
        self._bench.record({**event, "incumbent": self._incumbent.id})
        return parent

    async def _look(
        self, child: Candidate, blocks: Sequence[Sequence[Task]], *, is_quiet: bool
    ) -> _Course:
        """Look block by block until there is no gain; then, unless all is quiet, afresh."""
        course, challenge = _Course(), Challenge(self._bench, self._incumbent, child)
        for number, block in enumerate(blocks, 1):
            await self._bench.measure(child, block, 0)
            if self._bench.is_cut_short:
                return course
            course.note(0, challenge)
            course.is_whole = number == len(blocks)
            course.rejection = challenge.find_early_rejection(is_whole=course.is_whole)
            if course.rejection:
                return course
        policy = self._bench.policy
        has_few = len(self._bench.tasks) < policy.few_tasks
        count = policy.looks_few if has_few else policy.looks
        for look in range(1, 1 if is_quiet else count):
            trials = await self._bench.measure(child, self._bench.tasks, look)
            if self._bench.is_cut_short:
                return course
            course.note(look, challenge)
            course.rejection = challenge.find_late_rejection(trials)
            if course.rejection:
                return course
        return course

    def _conclude(self, child: Candidate, course: _Course) -> None:
        against, decision = self._incumbent, course.rejection
        if decision is None:
            decision = Challenge(self._bench, against, child).decide()
            self.survivors.append(child)
        if course.is_whole:
            self._archive.append(child)
        self._last_reason = decision.reason
        if decision.accepted:
            self._incumbent = child
        looked = {"event": "looked", "id": child.id, "against": against.id, "steps": course.steps}
        self._bench.record(looked)
        self._bench.decide(child, decision)

    def _draw_blocks(self) -> list[list[Task]]:
        """Put some of the failing tasks first, where a good child shows itself, then the rest."""
        size = max(self._bench.policy.block, len(self._bench.tasks) // _MOST_BLOCKS)
        failing = self._find_failing()
        first = self._bench.random.sample(failing, min(size, len(failing)))
        rest = [task for task in self._bench.tasks if task not in first]
        self._bench.random.shuffle(rest)
        return [first, *(rest[start : start + size] for start in range(0, len(rest), size))]

    def _find_failing(self) -> list[Task]:
        scores = self._bench.ledger.task_scores(self._incumbent)
        return [task for task in self._bench.tasks if scores.get(task.key, 1.0) < 1]
