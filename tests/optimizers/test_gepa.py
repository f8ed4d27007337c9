import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.optimization import Evidence, Proposal
from azd_eval.domain.score import Trial, Verdict
from azd_eval.domain.search import Finding, SearchPolicy
from azd_eval.domain.stop import StopSign
from azd_eval.domain.task import Task
from azd_eval.optimizers.gepa import GepaStrategy
from azd_eval.workflows.optimization_job import OptimizationJob, OptimizationParts
from azd_eval.workflows.search_bench import GuardedBench
from tests.optimization_worlds import MemoryRecorder, make_errored_trial, make_task, make_trial

WORDS = "refund parcel invoice warranty".split()
TASKS = tuple(make_task(f"task {word}", word) for word in WORDS)


def add_missing_word(evidence: Evidence) -> str:
    return f"{evidence.parent.instructions} {evidence.failures[0].criterion.name}"


@dataclass
class Place:
    """A criterion is met where the instructions hold its word; all else is as it is told."""

    tasks: Sequence[Task] = TASKS
    revise: Callable[[Evidence], str | None] = add_missing_word
    max_iterations: int = 20
    fails: Callable[[Candidate, Task, int], bool] = lambda *_: False
    before_measuring: Callable[["Place"], None] = lambda _: None
    stop: StopSign = field(default_factory=StopSign)
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    asked: list[Evidence] = field(default_factory=list)
    measured: list[tuple[str, str, int]] = field(default_factory=list)
    instructions: str = "Help."

    async def measure(
        self, candidate: Candidate, tasks: Sequence[Task], look: int
    ) -> tuple[Trial, ...]:
        self.before_measuring(self)
        await asyncio.sleep(0)
        self.measured += [(candidate.id, task.name, look) for task in tasks]
        if self.stop.is_up:
            return ()
        return tuple(self.ask(candidate, task, look) for task in tasks)

    def ask(self, candidate: Candidate, task: Task, look: int) -> Trial:
        if self.fails(candidate, task, look):
            return make_errored_trial(task)
        word = task.turns[0].criteria[0].name
        is_met = word in candidate.instructions
        return make_trial(task, Verdict(word, "met" if is_met else "unmet"))

    async def propose(self, evidence: Evidence) -> Proposal:
        self.asked.append(evidence)
        return Proposal(self.revise(evidence))

    async def search(self, seed: int = 0) -> Finding:
        job = OptimizationJob(
            baseline=Candidate("baseline", self.instructions),
            tasks=self.tasks,
            max_iterations=self.max_iterations,
            seed=seed,
            stop=self.stop,
        )
        strategy = GepaStrategy()
        parts = OptimizationParts(strategy, self, self.measure, self.recorder)
        return await strategy.search(GuardedBench(job, parts, self.tasks))


async def test_finds_what_is_missing() -> None:
    finding = await Place().search()

    assert "nothing_left_to_fix" == finding.stop.reason
    assert {"Help.", *WORDS} == set(finding.best.instructions.split())


async def test_shows_only_what_the_drawn_tasks_failed() -> None:
    place = Place()

    await place.search()

    assert all(1 <= len(evidence.failures) <= 3 for evidence in place.asked)


async def test_the_same_seed_gives_the_same_search() -> None:
    first, second, other = Place(), Place(), Place()

    await first.search(seed=1)
    await second.search(seed=1)
    await other.search(seed=2)

    assert first.recorder.events == second.recorder.events
    assert first.recorder.events != other.recorder.events


async def test_every_proposal_is_decided() -> None:
    place = Place(revise=lambda evidence: f"{evidence.parent.instructions} {evidence.attempt}")
    place.max_iterations = 3

    finding = await place.search()

    assert "max_iterations" == finding.stop.reason
    assert "baseline" == finding.best.id
    assert 3 == len(place.asked)
    decided = [each for each in place.recorder.events if each["event"] == "decided"]
    assert ["candidate_1", "candidate_2", "candidate_3"] == [each["id"] for each in decided]
    assert all("not better on the tasks drawn" in each["reason"] for each in decided)


async def test_proposals_without_use_end_the_search() -> None:
    place = Place(revise=lambda _: "")

    finding = await place.search()

    assert "no_usable_proposals" == finding.stop.reason
    assert SearchPolicy().stop_after_unusable == len(place.asked)


async def test_a_perfect_baseline_is_left_alone() -> None:
    place = Place(instructions=" ".join(WORDS))

    finding = await place.search()

    assert ("baseline", "nothing_left_to_fix") == (finding.best.id, finding.stop.reason)
    assert [] == place.asked


@pytest.mark.parametrize("where", ["propose", "measure"])
async def test_a_bug_ends_the_search_and_is_raised(where: str) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError(where)

    place = Place()
    if where == "propose":
        place.revise = fail
    else:
        place.before_measuring = fail

    with pytest.raises(ZeroDivisionError, match=where):
        await place.search()

    assert len(place.asked) <= 1


async def test_a_failure_of_the_package_itself_is_named() -> None:
    finding = await Place(tasks=()).search()

    assert ("baseline", "strategy_error") == (finding.best.id, finding.stop.reason)
    assert finding.stop.message.startswith("gepa failed with ")


async def test_a_stop_keeps_the_best_so_far_and_measures_nothing_more() -> None:
    def stop_later(place: Place) -> None:
        if len(place.asked) == 3:
            place.stop.put_up("a limit was reached")

    place = Place(before_measuring=stop_later)

    finding = await place.search()

    assert ("stopped", "a limit was reached") == (finding.stop.reason, finding.stop.message)
    assert 2 == sum(word in finding.best.instructions for word in WORDS)
    assert 3 == len(place.asked)


@pytest.mark.parametrize("runs", [1, 3])
async def test_cancelling_ends_the_thread(runs: int) -> None:
    def cancel_later(place: Place) -> None:
        if len(place.asked) == runs:
            search.cancel()

    place = Place(before_measuring=cancel_later)
    search = asyncio.create_task(place.search())

    with pytest.raises(asyncio.CancelledError):
        await search

    assert runs == len(place.asked)


async def test_an_errored_trial_counts_as_the_baseline() -> None:
    def fails(candidate: Candidate, task: Task, look: int) -> bool:
        return candidate.id != "baseline" and task.name == "task refund"

    place = Place(fails=fails, max_iterations=8)
    place.instructions = "refund"

    finding = await place.search()

    assert "nothing_left_to_fix" == finding.stop.reason


@pytest.mark.parametrize("count", [1, 2, 4])
async def test_each_look_is_a_fresh_one(count: int) -> None:
    place = Place(tasks=TASKS[:count])

    await place.search()

    assert len(set(place.measured)) == len(place.measured)


async def test_a_single_task_is_asked_no_more_often_than_planned() -> None:
    place = Place(tasks=TASKS[:1])

    await place.search()

    assert [
        ("baseline", "task refund", 0),
        ("baseline", "task refund", 1),
        ("candidate_1", "task refund", 0),
        ("candidate_1", "task refund", 1),
    ] == place.measured
