import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.optimization import Evidence, Proposal
from azd_eval.domain.ports import Optimizer
from azd_eval.domain.score import Trial, Verdict
from azd_eval.domain.search import SearchPolicy
from azd_eval.domain.task import Task
from azd_eval.errors import AzdEvalError, MeasurementError, ModelError
from azd_eval.optimizers.reflect import ReflectStrategy
from azd_eval.workflows.optimization_job import (
    Measure,
    OptimizationJob,
    OptimizationParts,
    OptimizationProgress,
)
from azd_eval.workflows.optimize_agent import OptimizationOutcome, optimize_agent
from tests.optimization_worlds import (
    MemoryRecorder,
    ScriptedOptimizer,
    WordWorld,
    make_errored_trial,
    make_scored_trial,
    make_task,
    make_trial,
)

START = "Help the user."
PERFECT = "Help the user. Say tone, dates and links."
TASKS = (make_task("a", "dates", "tone"), make_task("b", "links", "tone"))
WRONG_KEY = ModelError("the key was refused", code="wrong_key")
TOO_MANY = ModelError("the server asks to wait", code="rate_limited")


@dataclass
class Search:
    """An optimization in a scripted world, with everything it left behind."""

    optimizer: Optimizer
    measure: Measure
    max_iterations: int = 10
    start: str = START
    tasks: Sequence[Task] = TASKS
    options: dict[str, Any] = field(default_factory=dict)
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    progress: list[OptimizationProgress] = field(default_factory=list)

    async def run(self) -> OptimizationOutcome:
        baseline = Candidate("baseline", self.start)
        job = OptimizationJob(baseline, self.tasks, self.max_iterations, **self.options)
        parts = OptimizationParts(
            ReflectStrategy(), self.optimizer, self.measure, self.recorder, self.progress.append
        )
        return await optimize_agent(job, parts)


def scored(scores: Mapping[str, Mapping[str, float | None]]) -> Measure:
    """Make a world where each candidate has a score per task, at every look."""

    async def measure(candidate: Candidate, tasks: Sequence[Task], look: int) -> tuple[Trial, ...]:
        of_candidate = scores[candidate.id]
        return tuple(make_scored_trial(task, of_candidate[task.name], look) for task in tasks)

    return measure


def obey_reasons(evidence: Evidence) -> str:
    """Add the first word that a reason asks for."""
    word = evidence.failures[0].reason.partition(" is not said")[0]
    return f"{evidence.parent.instructions}\nSay {word}."


def propose(*answers: str | Proposal | AzdEvalError) -> ScriptedOptimizer:
    """Propose one answer after the other, the last one for ever."""
    remaining = list(answers)
    return ScriptedOptimizer(lambda _: remaining.pop(0) if len(remaining) > 1 else remaining[0])


def count_up() -> ScriptedOptimizer:
    """Propose a new text each time."""
    return ScriptedOptimizer(lambda evidence: f"{START} Attempt {evidence.attempt}.")


async def test_climbs_until_nothing_is_left_to_fix() -> None:
    search = Search(ScriptedOptimizer(obey_reasons), WordWorld().measure)

    outcome = await search.run()

    assert "nothing_left_to_fix" == outcome.stop.reason
    assert [0.0, 0.25, 0.75, 1.0] == [row.score for row in outcome.candidates]
    assert [None, 0.25, 0.5, 0.25] == [row.difference for row in outcome.candidates]
    assert 3 == outcome.iterations
    assert outcome.confirmation is not None
    assert ("likely", 1.0, False) == (
        outcome.confirmation.comparison.label,
        outcome.confirmation.comparison.difference,
        outcome.confirmation.comparison.is_unseen,
    )


async def test_each_candidate_names_parent_rationale_length_and_place() -> None:
    answers = propose("Say nothing.", f"{START} Say tone.", f"{START} Say tone, dates and links.")
    search = Search(answers, WordWorld().measure)

    outcome = await search.run()

    rows = [(row.id, row.parent, row.accepted) for row in outcome.candidates]
    assert [
        ("baseline", None, True),
        ("candidate_1", "baseline", False),
        ("candidate_2", "baseline", True),
        ("candidate_3", "candidate_2", True),
    ] == rows
    assert "because" == outcome.candidates[1].rationale
    assert len("Say nothing.") == outcome.candidates[1].length
    assert "candidates/candidate_3/instructions.md" == outcome.candidates[3].path
    assert START == search.recorder.candidates["baseline"]


async def test_the_optimizer_sees_failures_of_the_best_and_what_was_rejected() -> None:
    optimizer = propose(f"{START} Say tone.", "Be brief.", f"{START} Say tone, dates, links.")

    await Search(optimizer, WordWorld().measure).run()

    assert [1, 2, 3] == [evidence.attempt for evidence in optimizer.history]
    last = optimizer.history[-1]
    assert "candidate_1" == last.parent.id
    assert ["dates is not said", "links is not said"] == [each.reason for each in last.failures]
    assert ["tone"] == [each.criterion.name for each in last.met]
    assert ["Be brief."] == [each.instructions for each in last.rejected]
    assert "2 broken (tone)" in last.rejected[0].reason


async def test_a_perfect_baseline_is_looked_at_once_and_not_revised() -> None:
    optimizer, world = count_up(), WordWorld()

    outcome = await Search(optimizer, world.measure, start="dates tone links").run()

    assert "nothing_left_to_fix" == outcome.stop.reason
    assert "baseline" == outcome.best.id
    assert [] == optimizer.history
    assert [("baseline", 0, 2)] == world.measured


async def test_a_candidate_that_is_no_gain_on_its_first_block_costs_no_more() -> None:
    tasks = [make_task(f"task {number}", "tone") for number in range(7)]
    world = WordWorld()

    await Search(count_up(), world.measure, 1, tasks=tasks).run()

    assert [("baseline", 0, 7), ("baseline", 1, 7), ("candidate_1", 0, 3)] == world.measured


async def test_without_noise_one_look_at_a_candidate_is_enough() -> None:
    tasks = [make_task(f"task {number}", "one", "two", "three") for number in range(6)]
    world = WordWorld()

    await Search(propose("one two three"), world.measure, tasks=tasks).run()

    assert [
        ("baseline", 0, 6),
        ("baseline", 1, 6),
        ("candidate_1", 0, 3),
        ("candidate_1", 0, 3),
        *(("baseline", look, 6) for look in (2, 3)),
        *(("candidate_1", look, 6) for look in (1, 2)),
    ] == sorted(world.measured[:4]) + sorted(world.measured[4:])


async def test_stops_at_max_iterations() -> None:
    search = Search(ScriptedOptimizer(obey_reasons), WordWorld().measure, max_iterations=2)

    outcome = await search.run()

    assert ("max_iterations", 2) == (outcome.stop.reason, outcome.iterations)


async def test_stops_when_nothing_helps() -> None:
    policy = SearchPolicy(stop_after=5)
    search = Search(count_up(), WordWorld().measure, options={"policy": policy})

    outcome = await search.run()

    assert ("no_progress", 5) == (outcome.stop.reason, outcome.iterations)
    assert "baseline" == outcome.best.id
    assert outcome.confirmation is None


async def test_goes_on_from_an_earlier_candidate_when_the_latest_was_lucky() -> None:
    tasks = [make_task(name, "tone") for name in "abcd"]
    scores = {"baseline": 0.1, "candidate_1": 0.6, "candidate_2": 0.7}

    async def measure(candidate: Candidate, tasks: Sequence[Task], look: int) -> tuple[Trial, ...]:
        # All that comes from the second is as bad as can be: it cannot be that good.
        score = scores.get(candidate.id, 0.0)
        return tuple(make_scored_trial(task, score, look) for task in tasks)

    policy = SearchPolicy(drift=0.05, quiet_verdicts=1000)
    search = Search(count_up(), measure, 8, tasks=tasks, options={"policy": policy})

    outcome = await search.run()

    changes = [event for event in search.recorder.events if event["event"] == "believed"]
    assert ("candidate_1", "candidate_2") == (changes[0]["best"], changes[0]["instead_of"])
    parents = [row.parent for row in outcome.candidates[1:]]
    assert ["baseline", "candidate_1", "candidate_2"] == parents[:3]
    assert "candidate_1" in parents[3:]


async def test_a_success_starts_the_count_of_rejections_again() -> None:
    vain = [f"{START} Attempt {number}." for number in range(8)]
    answers = propose(*vain[:4], f"{START} Say tone.", *vain[4:])
    options = {"policy": SearchPolicy(stop_after=5)}

    outcome = await Search(answers, WordWorld().measure, 9, options=options).run()

    assert ("max_iterations", "candidate_5") == (outcome.stop.reason, outcome.best.id)


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        pytest.param(Proposal(None, fault="cut off at the limit"), "cut off", id="fault"),
        pytest.param("", "empty", id="empty"),
        pytest.param("Help  THE\nuser.\n", "tried before", id="same but for space and case"),
        pytest.param("Help {name}.", "placeholders changed", id="placeholder"),
        pytest.param(TOO_MANY, "asks to wait", id="model error"),
    ],
)
async def test_what_cannot_be_used_is_counted_named_and_never_measured(
    answer: str | Proposal | AzdEvalError, word: str
) -> None:
    world = WordWorld()
    search = Search(propose(answer), world.measure)

    outcome = await search.run()

    assert ("no_usable_proposals", 3) == (outcome.stop.reason, outcome.iterations)
    assert word in outcome.stop.message
    assert all(word in row.reason for row in outcome.candidates[1:])
    assert {"baseline"} == {name for name, _, _ in world.measured}
    assert {"baseline"} == set(search.recorder.candidates)


async def test_a_usable_proposal_starts_the_count_of_unusable_ones_again() -> None:
    fault = Proposal(None, fault="refused")
    answers = propose(fault, fault, f"{START} Say tone.", fault, fault, PERFECT)

    outcome = await Search(answers, WordWorld().measure).run()

    assert ("nothing_left_to_fix", 6) == (outcome.stop.reason, outcome.iterations)


async def test_several_proposals_at_once_see_the_same_and_are_decided_in_their_order() -> None:
    texts = [f"{START} Say tone.", f"{START} Say tone and dates.", ""]
    optimizer = ScriptedOptimizer(lambda evidence: texts[evidence.number])
    search = Search(optimizer, WordWorld().measure, 1, options={"proposals": 3})

    outcome = await search.run()

    assert [(1, 0), (2, 1), (3, 2)] == [(e.attempt, e.number) for e in optimizer.history]
    assert [
        ("candidate_1", "baseline", True),
        ("candidate_2", "baseline", True),
        ("candidate_3", "baseline", False),
    ] == sorted((row.id, row.parent, row.accepted) for row in outcome.candidates[1:])
    assert ("candidate_2", 1) == (outcome.best.id, outcome.iterations)


@pytest.mark.parametrize("fails_in", ["propose", "trials"])
async def test_a_fatal_error_ends_the_search_with_the_best_so_far(fails_in: str) -> None:
    world = WordWorld()
    second = WRONG_KEY if fails_in == "propose" else PERFECT

    async def measure(candidate: Candidate, tasks: Sequence[Task], look: int) -> tuple[Trial, ...]:
        if candidate.id != "candidate_2":
            return await world.measure(candidate, tasks, look)
        return (make_errored_trial(tasks[0], WRONG_KEY.message, fatal=WRONG_KEY.message),)

    outcome = await Search(propose(f"{START} Say tone.", second), measure).run()

    assert "model_error" == outcome.stop.reason
    assert "the model failed: the key was refused" == outcome.stop.message
    assert "candidate_1" == outcome.best.id
    assert outcome.confirmation is None
    assert [True, True, False] == [row.accepted for row in outcome.candidates]


async def test_a_candidate_that_breaks_the_agent_costs_one_try() -> None:
    world = WordWorld()

    async def measure(candidate: Candidate, tasks: Sequence[Task], look: int) -> tuple[Trial, ...]:
        if candidate.id != "candidate_1":
            return await world.measure(candidate, tasks, look)
        return tuple(make_errored_trial(task, repeat=look) for task in tasks)

    outcome = await Search(propose("Crash.", PERFECT), measure).run()

    assert "nothing_left_to_fix" == outcome.stop.reason
    assert "could not be measured: the agent timed out" == outcome.candidates[1].reason


async def test_a_baseline_without_a_score_is_an_error_that_says_why() -> None:
    measure = scored({"baseline": {"a": None, "b": None}})

    with pytest.raises(MeasurementError, match="the agent timed out"):
        await Search(count_up(), measure).run()


async def test_nothing_decided_is_no_score_and_no_error() -> None:
    async def measure(_: Candidate, tasks: Sequence[Task], look: int) -> tuple[Trial, ...]:
        return tuple(make_trial(task, Verdict("x", "undecided"), repeat=look) for task in tasks)

    outcome = await Search(count_up(), measure).run()

    assert ("undecided", 0) == (outcome.stop.reason, outcome.iterations)


async def test_what_loses_the_last_comparison_is_not_the_best() -> None:
    async def measure(candidate: Candidate, tasks: Sequence[Task], look: int) -> tuple[Trial, ...]:
        is_lucky = candidate.id != "baseline" and look < 2  # as many as the search has
        score = 0.75 if is_lucky else 0.5 if candidate.id == "baseline" else 0.25
        return tuple(make_scored_trial(task, score, look) for task in tasks)

    search = Search(count_up(), measure, max_iterations=1)

    outcome = await search.run()

    assert [True, True] == [row.accepted for row in outcome.candidates]
    assert outcome.confirmation is not None
    assert ("worse", "baseline") == (outcome.confirmation.comparison.label, outcome.best.id)
    assert "confirmed" in [event["event"] for event in search.recorder.events]


async def test_held_out_tasks_are_never_shown_and_decide_in_the_end() -> None:
    tasks = [make_task(f"task {number}", "tone", f"word {number}") for number in range(10)]
    optimizer, world = propose(f"{START} Say tone."), WordWorld()

    outcome = await Search(optimizer, world.measure, 1, tasks=tasks).run()

    held_out = {task.name for task in outcome.split.held_out}
    shown = {failure.task for failure in optimizer.history[0].failures}
    assert (3, 7) == (len(held_out), len(shown))
    assert not held_out & shown
    assert outcome.confirmation is not None
    assert (3, True, 0.5) == (
        outcome.confirmation.comparison.tasks,
        outcome.confirmation.comparison.is_unseen,
        outcome.confirmation.comparison.difference,
    )
    # In the search, nobody has looked at them.
    looked = [count for name, look, count in world.measured if (name, look) == ("baseline", 0)]
    assert [7] == looked


async def test_progress_tells_each_step() -> None:
    search = Search(ScriptedOptimizer(obey_reasons), WordWorld().measure, max_iterations=1)

    await search.run()

    steps = [(each.iteration, each.step, each.candidate_id) for each in search.progress]
    assert [
        (0, "measuring", "baseline"),
        (0, "decided", "baseline"),
        (0, "measuring", "baseline"),
        (0, "calibrated", "baseline"),
        (1, "proposing", "candidate_1"),
    ] == steps[:5]
    assert (1, "decided", "candidate_1") in steps
    results = [each.result.id for each in search.progress if each.result]
    assert ["baseline", "candidate_1"] == results


@pytest.mark.parametrize("hangs_in", ["propose", "measure"])
async def test_cancelled_it_has_everything_on_record(hangs_in: str) -> None:
    world, reached = WordWorld(), asyncio.Event()

    class Hanging:
        async def propose(self, evidence: Evidence) -> Proposal:
            if evidence.attempt == 2 and hangs_in == "propose":
                reached.set()
                await asyncio.Event().wait()
            return Proposal(obey_reasons(evidence))

    async def measure(candidate: Candidate, tasks: Sequence[Task], look: int) -> tuple[Trial, ...]:
        if candidate.id == "candidate_2":
            reached.set()
            await asyncio.Event().wait()
        return await world.measure(candidate, tasks, look)

    search = Search(Hanging(), measure)
    task = asyncio.create_task(search.run())
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert {"event": "stopped", "reason": "interrupted"} == search.recorder.events[-1]
    decided = [e["id"] for e in search.recorder.events if e["event"] == "decided"]
    assert ["baseline", "candidate_1"] == decided
    assert {"baseline", "candidate_1"} <= set(search.recorder.candidates)


_TEXTS = st.sampled_from(
    ["", " ", START, "Be brief.", "Be kind.", "Use {x}.", "Be brief. Be kind."]
)
_ANSWERS = st.one_of(
    _TEXTS,
    st.text(max_size=20),
    st.just(Proposal(None, fault="refused")),
    st.sampled_from([TOO_MANY, WRONG_KEY]),
)
_SCORES = st.lists(st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=3)


@given(_SCORES, st.lists(_ANSWERS, min_size=8, max_size=8), st.integers(1, 8), st.integers(1, 3))
async def test_whatever_happens_the_best_is_not_below_the_baseline_and_each_try_is_on_record(
    scores: list[float | None],
    answers: list[str | Proposal | AzdEvalError],
    max_iterations: int,
    proposals: int,
) -> None:
    def draw(candidate: Candidate, task: Task, look: int) -> float | None:
        if (candidate.id, look) == ("baseline", 0):
            return 0.5
        return scores[hash((candidate.id, task.name, look)) % len(scores)]

    async def measure(candidate: Candidate, tasks: Sequence[Task], look: int) -> tuple[Trial, ...]:
        return tuple(make_scored_trial(task, draw(candidate, task, look), look) for task in tasks)

    search = Search(propose(*answers), measure, max_iterations, options={"proposals": proposals})

    outcome = await search.run()

    compared = outcome.confirmation and outcome.confirmation.comparison
    assert outcome.best.id == "baseline" or compared is None or compared.difference >= 0
    assert outcome.iterations <= max_iterations
    decided = [e["id"] for e in search.recorder.events if e["event"] == "decided"]
    assert sorted(row.id for row in outcome.candidates) == sorted(decided)
    assert len(outcome.candidates) - 1 <= proposals * outcome.iterations
    assert "stopped" == search.recorder.events[-1]["event"]
    assert len(set(search.recorder.candidates.values())) == len(search.recorder.candidates)
