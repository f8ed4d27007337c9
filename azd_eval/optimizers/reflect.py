"""The strategy `reflect`: revise what fails, look on only while it seems better, mistrust luck."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import ceil
from typing import Any

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.ports import SearchBench
from azd_eval.domain.score import mean
from azd_eval.domain.search import Finding, Stop
from azd_eval.domain.task import Task
from azd_eval.optimizers.acceptance import Challenge
from azd_eval.optimizers.beliefs import Belief, form_beliefs

# Blocks are waited for one after the other.
_MOST_BLOCKS = 10


@dataclass(frozen=True, slots=True)
class ReflectStrategy:
    """Revises, again and again, the candidate that is believed to be the best. A strategy."""

    async def search(self, bench: SearchBench) -> Finding:
        """Search until nothing is missed any more, nothing helps, or the bench ends it."""
        search = _Search(bench)
        while (stop := search.find_stop()) is None:
            await search.iterate()
        return search.conclude(stop)


@dataclass(slots=True)
class _Racer:
    """A child with the steps before it, each a look at some tasks, and what was seen so far."""

    child: Candidate
    steps: Sequence[tuple[int, Sequence[Task]]]
    seen: list[dict[str, Any]] = field(default_factory=list)


class _Search:
    """The whole family of candidates, those accepted, and how long nothing helped."""

    def __init__(self, bench: SearchBench) -> None:
        self._bench = bench
        self._incumbent = bench.baseline
        self._family = [bench.baseline]
        self._accepted = [bench.baseline]
        self._vain_in_a_row = 0
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
        """Ask for revisions, race them, and go on with the best of the whole family."""
        children = await self._bench.propose(self._incumbent)
        known = len(self._accepted)
        self._family += children
        await self._race([_Racer(child, self._plan_steps()) for child in children])
        if self._bench.is_cut_short or not children:
            return
        self._vain_in_a_row = 0 if len(self._accepted) > known else self._vain_in_a_row + 1
        self._choose_incumbent(self._form_beliefs())

    def conclude(self, stop: Stop) -> Finding:
        beliefs = self._form_beliefs()
        believed = {each.id: beliefs[each.id].score for each in self._accepted}
        return Finding(self._incumbent, stop, believed)

    async def _race(self, racers: Sequence[_Racer]) -> None:
        """Let all take a step at the same time, then drop those that do not seem better.

        What was decided while others run would depend on who is first.
        """
        racing = list(racers)
        while racing:
            await asyncio.gather(*map(self._take_step, racing))
            if self._bench.is_cut_short:
                return
            beliefs = self._form_beliefs()
            for racer in list(racing):
                challenge = self._compare(racer, beliefs)
                if not racer.steps or not challenge.is_promising:
                    racing.remove(racer)
                    self._decide(racer, challenge)

    async def _take_step(self, racer: _Racer) -> None:
        (look, tasks), *racer.steps = racer.steps
        await self._bench.measure(racer.child, tasks, look)

    def _compare(self, racer: _Racer, beliefs: Mapping[str, Belief]) -> Challenge:
        child, incumbent = beliefs[racer.child.id], beliefs[self._incumbent.id]
        believed, wanted = child.worth - incumbent.worth, self._bench.policy.doubt * incumbent.error
        challenge = Challenge(self._bench, self._incumbent, racer.child, believed, wanted)
        gains = challenge.gains
        step = {"tasks": len(gains), "difference": mean(gains.values()), "believed": believed}
        racer.seen.append({**step, "wanted": wanted})
        return challenge

    def _decide(self, racer: _Racer, challenge: Challenge) -> None:
        decision = challenge.decide()
        self._last_reason = decision.reason
        if decision.accepted:
            self._accepted.append(racer.child)
        looked = {"event": "looked", "id": racer.child.id, "against": self._incumbent.id}
        self._bench.record({**looked, "steps": racer.seen})
        self._bench.decide(racer.child, decision)

    def _choose_incumbent(self, beliefs: Mapping[str, Belief]) -> None:
        """Take the accepted one that is believed best; it may be one from before the last."""
        former, latest = self._incumbent, self._accepted[-1]
        self._incumbent = max(self._accepted, key=lambda each: beliefs[each.id].worth)
        if self._incumbent not in (former, latest):
            self._bench.record(
                {"event": "believed", "best": self._incumbent.id, "instead_of": former.id}
            )

    def _form_beliefs(self) -> dict[str, Belief]:
        return form_beliefs(self._bench.ledger, self._family, self._bench.policy.drift)

    def _plan_steps(self) -> list[tuple[int, Sequence[Task]]]:
        """Put some of the failing tasks first, where a good child shows itself, then the others.

        Tasks are looked at again until there are enough trials, unless no verdict has ever changed.
        """
        bench, policy = self._bench, self._bench.policy
        size = max(policy.block, len(bench.tasks) // _MOST_BLOCKS)
        failing = self._find_failing()
        first = bench.random.sample(failing, min(size, len(failing)))
        rest = [task for task in bench.tasks if task not in first]
        bench.random.shuffle(rest)
        order = [*first, *rest]
        is_quiet = bench.ledger.is_quiet(policy.quiet_verdicts)
        enough = policy.count_trials(len(self._family))
        wanted = len(order) if is_quiet else max(enough, len(order))
        blocks = [order[start : start + size] for start in range(0, len(order), size)]
        steps = [(look, block) for look in range(ceil(wanted / len(order))) for block in blocks]
        trials = accumulate((len(block) for _, block in steps), initial=0)
        return [step for step, before in zip(steps, trials, strict=False) if before < wanted]

    def _find_failing(self) -> list[Task]:
        scores = self._bench.ledger.task_scores(self._incumbent)
        return [task for task in self._bench.tasks if scores.get(task.key, 1.0) < 1]
