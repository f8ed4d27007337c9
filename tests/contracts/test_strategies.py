"""What every strategy must do, whatever it is made of."""

import pytest

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.optimization import Evidence
from azd_eval.domain.ports import Strategy
from azd_eval.domain.stop import StopSign
from azd_eval.optimizers.gepa import GepaStrategy
from azd_eval.optimizers.reflect import ReflectStrategy
from azd_eval.workflows.optimization_job import OptimizationJob, OptimizationParts
from azd_eval.workflows.optimize_agent import OptimizationOutcome, optimize_agent
from tests.optimization_worlds import MemoryRecorder, ScriptedOptimizer, WordWorld, make_task

WORDS = "refund parcel invoice warranty".split()
TASKS = tuple(make_task(f"task {word}", word) for word in WORDS)


@pytest.fixture(params=[ReflectStrategy, GepaStrategy])
def strategy(request: pytest.FixtureRequest) -> Strategy:
    return request.param()


def add_missing_word(evidence: Evidence) -> str:
    return f"{evidence.parent.instructions} {evidence.failures[0].criterion.name}"


def turn_away(evidence: Evidence) -> str:
    return f"Say nothing, for the {evidence.attempt}. time."


async def optimize(
    strategy: Strategy,
    optimizer: ScriptedOptimizer,
    instructions: str = "Help.",
    recorder: MemoryRecorder | None = None,
    stop: StopSign | None = None,
    **fields: int,
) -> OptimizationOutcome:
    job = OptimizationJob(
        Candidate("baseline", instructions),
        TASKS,
        **{"max_iterations": 12, **fields},
        stop=stop or StopSign(),
    )
    parts = OptimizationParts(
        strategy, optimizer, WordWorld().measure, recorder or MemoryRecorder()
    )
    return await optimize_agent(job, parts)


async def test_it_finds_all_that_is_missing(strategy):
    outcome = await optimize(strategy, ScriptedOptimizer(add_missing_word))

    assert {"Help.", *WORDS} == set(outcome.best.instructions.split())
    assert "nothing_left_to_fix" == outcome.stop.reason


async def test_it_keeps_the_baseline_where_nothing_is_better(strategy):
    optimizer = ScriptedOptimizer(turn_away)

    outcome = await optimize(strategy, optimizer, "refund parcel", max_iterations=3)

    assert ("baseline", "max_iterations") == (outcome.best.id, outcome.stop.reason)
    assert 3 == len(optimizer.history) == outcome.iterations


async def test_each_proposal_is_decided_once(strategy):
    recorder = MemoryRecorder()

    await optimize(strategy, ScriptedOptimizer(turn_away), "refund", recorder, max_iterations=4)

    decided = [event["id"] for event in recorder.events if event["event"] == "decided"]
    assert ["baseline", *(f"candidate_{number}" for number in range(1, 5))] == decided


async def test_the_same_seed_gives_the_same_search(strategy):
    first, second = MemoryRecorder(), MemoryRecorder()

    await optimize(strategy, ScriptedOptimizer(add_missing_word), recorder=first, seed=7)
    await optimize(strategy, ScriptedOptimizer(add_missing_word), recorder=second, seed=7)

    assert first.events == second.events


async def test_a_stop_keeps_what_was_found(strategy):
    stop = StopSign()

    def add_and_stop(evidence: Evidence) -> str:
        if evidence.attempt == 3:
            stop.put_up("a limit was reached")
        return add_missing_word(evidence)

    outcome = await optimize(strategy, ScriptedOptimizer(add_and_stop), stop=stop)

    assert "a limit was reached" == outcome.stop.message
    assert outcome.best.id in {"baseline", "candidate_1", "candidate_2"}
    assert 3 == outcome.iterations
