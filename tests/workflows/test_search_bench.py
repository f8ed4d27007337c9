import asyncio
from collections.abc import Sequence
from random import Random

import pytest

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.optimization import Proposal
from azd_eval.domain.score import Trial
from azd_eval.domain.search import Decision, Stop
from azd_eval.domain.stop import StopSign
from azd_eval.domain.task import Task
from azd_eval.errors import ModelError
from azd_eval.optimizers.reflect import ReflectStrategy
from azd_eval.workflows.optimization_job import OptimizationJob, OptimizationParts
from azd_eval.workflows.optimize_agent import optimize_agent
from tests.optimization_worlds import (
    MemoryRecorder,
    ScriptedOptimizer,
    WordWorld,
    make_bench,
    make_scored_trial,
    make_task,
)

TASKS = [make_task("a", "tone"), make_task("b", "links"), make_task("c", "dates")]
BASELINE = Candidate("baseline", "Help the user.")


async def test_a_look_is_paid_for_once_at_each_task() -> None:
    world = WordWorld()
    bench = make_bench(TASKS, world.measure)

    first = await bench.measure(BASELINE, TASKS[:2], 0)
    second = await bench.measure(BASELINE, [TASKS[2], *TASKS[:2]], 0)
    await bench.measure(BASELINE, TASKS, 1)

    assert [("baseline", 0, 2), ("baseline", 0, 1), ("baseline", 1, 3)] == world.measured
    assert ["a", "b"] == [trial.task for trial in first]
    assert ["c", "a", "b"] == [trial.task for trial in second]
    assert (2, 0) == (bench.next_look(BASELINE), bench.next_look(Candidate("other", "")))


async def test_the_optimizer_is_shown_what_is_known_of_the_tasks_asked_about() -> None:
    optimizer = ScriptedOptimizer(lambda evidence: f"Attempt {evidence.attempt}.")
    bench = make_bench(TASKS, optimizer=optimizer)
    await bench.measure(BASELINE, TASKS, 0)

    (child,) = await bench.propose(BASELINE, TASKS[1:])
    bench.decide(child, Decision(accepted=False, reason="not better"))
    await bench.propose(BASELINE)

    shown = [[failure.task for failure in evidence.failures] for evidence in optimizer.history]
    assert [["b", "c"], ["a", "b", "c"]] == shown
    assert ["not better"] == [each.reason for each in optimizer.history[1].rejected]


async def test_once_the_sign_is_up_nothing_is_measured_and_no_try_is_lost() -> None:
    stop, world = StopSign(), WordWorld()
    error = ModelError("the limit is reached", code="stopped")
    bench = make_bench(TASKS, world.measure, ScriptedOptimizer(lambda _: error), stop=stop)
    stop.put_up("the limit is reached")

    trials = await bench.measure(BASELINE, TASKS, 0)
    children = await bench.propose(BASELINE)

    assert ((), ()) == (trials, children)
    assert [] == world.measured
    assert bench.is_cut_short
    assert bench.stop is not None
    assert ("stopped", 1) == (bench.stop.reason, len(bench.close(bench.stop)))


async def test_what_was_left_open_is_said_to_be() -> None:
    bench = make_bench(TASKS)

    await bench.propose(BASELINE)
    rows = bench.close(Stop("stopped", "the limit is reached"))

    assert ["not decided: the limit is reached"] * 2 == [row.reason for row in rows]


@pytest.mark.parametrize("seed", range(8))
async def test_whoever_is_first_the_search_is_the_same(seed: int) -> None:
    """Several candidates are looked at at once; how long each takes must not matter."""

    async def search(delays: Random) -> list[object]:
        async def measure(
            candidate: Candidate, tasks: Sequence[Task], look: int
        ) -> tuple[Trial, ...]:
            for _ in range(delays.randrange(9)):
                await asyncio.sleep(0)
            luck = Random(f"{seed} {candidate.id} {look}")
            return tuple(
                make_scored_trial(task, luck.choice((0.0, 0.5, 0.5, 1.0)), look) for task in tasks
            )

        tasks = [make_task(f"task {number}", "tone") for number in range(9)]
        optimizer = ScriptedOptimizer(lambda evidence: Proposal(f"Attempt {evidence.attempt}."))
        recorder = MemoryRecorder()
        job = OptimizationJob(BASELINE, tasks, 6, proposals=4, seed=seed)
        parts = OptimizationParts(ReflectStrategy(), optimizer, measure, recorder)
        outcome = await optimize_agent(job, parts)
        return [outcome, recorder.events]

    assert await search(Random(1)) == await search(Random(2))
