import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.optimization import Evidence, Measurement, Proposal
from azd_eval.domain.ports import Optimizer
from azd_eval.domain.score import Verdict
from azd_eval.domain.task import Task
from azd_eval.errors import AzdEvalError, MeasurementError, ModelError, TargetError
from azd_eval.workflows.optimize_agent import (
    Measure,
    OptimizationJob,
    OptimizationOutcome,
    OptimizationProgress,
    optimize_agent,
)
from tests.optimization_worlds import (
    MemoryRecorder,
    ScriptedOptimizer,
    WordWorld,
    make_errored_trial,
    make_measurement,
    make_scored,
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
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    progress: list[OptimizationProgress] = field(default_factory=list)

    async def run(self) -> OptimizationOutcome:
        job = OptimizationJob(Candidate("baseline", self.start), self.tasks, self.max_iterations)
        return await optimize_agent(
            job, self.optimizer, self.measure, self.recorder, self.progress.append
        )


def obey_reasons(evidence: Evidence) -> str:
    """Add the first word that a reason asks for."""
    word = evidence.failures[0].reason.partition(" is not said")[0]
    return f"{evidence.incumbent.candidate.instructions}\nSay {word}."


def propose(*answers: str | Proposal | AzdEvalError) -> ScriptedOptimizer:
    """Propose one answer after the other, the last one for ever."""
    remaining = list(answers)
    return ScriptedOptimizer(lambda _: remaining.pop(0) if len(remaining) > 1 else remaining[0])


def count_up() -> ScriptedOptimizer:
    """Propose a new text each time."""
    return ScriptedOptimizer(lambda evidence: f"{START} Attempt {evidence.iteration}.")


async def test_climbs_until_nothing_is_left_to_fix() -> None:
    search = Search(ScriptedOptimizer(obey_reasons), WordWorld(TASKS).measure)

    outcome = await search.run()

    assert "nothing_left_to_fix" == outcome.stop.reason
    assert (0.0, 1.0) == (outcome.baseline.score, outcome.best.score)
    assert [0.0, 0.25, 0.75, 1.0] == [row.score for row in outcome.candidates]
    assert 3 == outcome.iterations
    assert 8 == outcome.evaluations


async def test_each_candidate_names_parent_rationale_length_and_place() -> None:
    answers = propose("Say nothing.", f"{START} Say tone.", f"{START} Say tone, dates and links.")
    search = Search(answers, WordWorld(TASKS).measure)

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

    await Search(optimizer, WordWorld(TASKS).measure).run()

    assert [1, 2, 3] == [evidence.iteration for evidence in optimizer.history]
    last = optimizer.history[-1]
    assert "candidate_1" == last.incumbent.candidate.id
    assert ["dates is not said", "links is not said"] == [each.reason for each in last.failures]
    assert ["Be brief."] == [each.instructions for each in last.rejected]
    assert "2 broken (tone)" in last.rejected[0].reason


async def test_a_perfect_baseline_is_not_revised() -> None:
    optimizer = count_up()

    outcome = await Search(optimizer, WordWorld(TASKS).measure, start="dates tone links").run()

    assert "nothing_left_to_fix" == outcome.stop.reason
    assert outcome.best is outcome.baseline
    assert [] == optimizer.history


async def test_stops_at_max_iterations() -> None:
    search = Search(ScriptedOptimizer(obey_reasons), WordWorld(TASKS).measure, max_iterations=2)

    outcome = await search.run()

    assert "max_iterations" == outcome.stop.reason
    assert 2 == outcome.iterations


async def test_stops_after_five_in_vain() -> None:
    outcome = await Search(count_up(), WordWorld(TASKS).measure).run()

    assert ("no_progress", 5) == (outcome.stop.reason, outcome.iterations)
    assert outcome.best is outcome.baseline


async def test_a_success_starts_the_count_of_rejections_again() -> None:
    vain = [f"{START} Attempt {number}." for number in range(8)]
    answers = propose(*vain[:4], f"{START} Say tone.", *vain[4:])

    outcome = await Search(answers, WordWorld(TASKS).measure, max_iterations=9).run()

    assert ("max_iterations", "candidate_5") == (outcome.stop.reason, outcome.best.candidate.id)


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        pytest.param(Proposal(None, fault="cut off at the limit"), "cut off", id="fault"),
        pytest.param("", "empty", id="empty"),
        pytest.param(" \n", "empty", id="blank"),
        pytest.param("Help  the\nuser.\n", "tried before", id="same but for space"),
        pytest.param("Help {name}.", "placeholders changed", id="placeholder"),
        pytest.param("Help! " * 2000, "too long", id="too long"),
        pytest.param(TOO_MANY, "asks to wait", id="model error"),
    ],
)
async def test_what_cannot_be_used_is_counted_named_and_never_measured(
    answer: str | Proposal | AzdEvalError, word: str
) -> None:
    world = WordWorld(TASKS)
    search = Search(propose(answer), world.measure)

    outcome = await search.run()

    assert ("no_usable_proposals", 3) == (outcome.stop.reason, outcome.iterations)
    assert word in outcome.stop.message
    assert all(word in row.reason for row in outcome.candidates[1:])
    assert ["baseline"] == world.measured
    assert {"baseline"} == set(search.recorder.candidates)


async def test_a_text_that_lost_is_not_measured_again() -> None:
    world = WordWorld(TASKS)

    await Search(propose("Be brief.", "Be   brief."), world.measure).run()

    assert ["baseline", "candidate_1"] == world.measured


async def test_a_usable_proposal_starts_the_count_of_unusable_ones_again() -> None:
    fault = Proposal(None, fault="refused")
    answers = propose(fault, fault, f"{START} Say tone.", fault, fault, PERFECT)

    outcome = await Search(answers, WordWorld(TASKS).measure).run()

    assert ("nothing_left_to_fix", 6) == (outcome.stop.reason, outcome.iterations)


@pytest.mark.parametrize("fails_in", ["propose", "measure", "trials"])
async def test_a_fatal_error_ends_the_search_with_the_best_so_far(fails_in: str) -> None:
    world = WordWorld(TASKS)
    second = WRONG_KEY if fails_in == "propose" else PERFECT

    async def measure(candidate: Candidate) -> Measurement:
        if candidate.id != "candidate_2":
            return await world.measure(candidate)
        if fails_in == "measure":
            raise WRONG_KEY
        trial = make_errored_trial(TASKS[0], WRONG_KEY.message, fatal=WRONG_KEY.message)
        return make_measurement(candidate, trial)

    outcome = await Search(propose(f"{START} Say tone.", second), measure).run()

    assert "model_error" == outcome.stop.reason
    assert "the model failed: the key was refused" == outcome.stop.message
    assert "candidate_1" == outcome.best.candidate.id
    assert [True, True, False] == [row.accepted for row in outcome.candidates]


@pytest.mark.parametrize("error", [TOO_MANY, TargetError("it crashed"), MeasurementError("no")])
async def test_a_candidate_that_cannot_be_measured_costs_one_try(error: AzdEvalError) -> None:
    world = WordWorld(TASKS)

    async def measure(candidate: Candidate) -> Measurement:
        if candidate.id == "candidate_1":
            raise error
        return await world.measure(candidate)

    outcome = await Search(propose("Be brief.", PERFECT), measure).run()

    assert "nothing_left_to_fix" == outcome.stop.reason
    assert f"could not be measured: {error}" == outcome.candidates[1].reason


async def test_a_candidate_that_breaks_the_agent_is_rejected() -> None:
    world = WordWorld(TASKS)

    async def measure(candidate: Candidate) -> Measurement:
        if candidate.id == "baseline":
            return await world.measure(candidate)
        return make_measurement(candidate, *map(make_errored_trial, TASKS))

    outcome = await Search(propose("Crash."), measure, max_iterations=1).run()

    assert outcome.best is outcome.baseline
    assert "could not be measured: the agent timed out" == outcome.candidates[1].reason


@pytest.mark.parametrize("raises", [True, False])
async def test_a_baseline_without_a_score_is_an_error_that_says_why(raises: bool) -> None:
    async def measure(candidate: Candidate) -> Measurement:
        if raises:
            raise TargetError("the agent timed out")
        return make_measurement(candidate, *map(make_errored_trial, TASKS))

    with pytest.raises(MeasurementError, match="the agent timed out"):
        await Search(count_up(), measure).run()


async def test_nothing_decided_is_no_score_and_no_error() -> None:
    async def measure(candidate: Candidate) -> Measurement:
        return make_measurement(candidate, make_trial(TASKS[0], Verdict("tone", "undecided")))

    outcome = await Search(count_up(), measure).run()

    assert ("undecided", 0) == (outcome.stop.reason, outcome.iterations)


async def test_better_than_the_incumbent_on_gained_tasks_must_also_beat_the_baseline() -> None:
    worlds: dict[str, dict[str, float | None]] = {
        "baseline": {"a": 0.5, "b": None},
        "candidate_1": {"a": 0.75, "b": 0.5},
        "candidate_2": {"a": 0.375, "b": 1.0},
    }

    async def measure(candidate: Candidate) -> Measurement:
        return make_scored(candidate, worlds[candidate.id])

    outcome = await Search(count_up(), measure, max_iterations=2).run()

    assert "candidate_1" == outcome.best.candidate.id


async def test_progress_tells_each_step() -> None:
    search = Search(ScriptedOptimizer(obey_reasons), WordWorld(TASKS).measure, max_iterations=1)

    await search.run()

    steps = [(each.iteration, each.step, each.candidate_id) for each in search.progress]
    assert [
        (0, "measuring", "baseline"),
        (0, "decided", "baseline"),
        (1, "proposing", "candidate_1"),
        (1, "measuring", "candidate_1"),
        (1, "decided", "candidate_1"),
    ] == steps
    results = [each.result.id for each in search.progress if each.result]
    assert ["baseline", "candidate_1"] == results


@pytest.mark.parametrize("hangs_in", ["propose", "measure"])
async def test_cancelled_it_has_everything_on_record(hangs_in: str) -> None:
    world, reached = WordWorld(TASKS), asyncio.Event()

    class Hanging:
        async def propose(self, evidence: Evidence) -> Proposal:
            if evidence.iteration == 2 and hangs_in == "propose":
                reached.set()
                await asyncio.Event().wait()
            return Proposal(obey_reasons(evidence))

    async def measure(candidate: Candidate) -> Measurement:
        if candidate.id == "candidate_2":
            reached.set()
            await asyncio.Event().wait()
        return await world.measure(candidate)

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
_SCORES = st.fixed_dictionaries(
    {name: st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 1.0])) for name in "abc"}
)
_MEASURED = st.one_of(_SCORES, st.sampled_from([TOO_MANY, WRONG_KEY, TargetError("it crashed")]))


@given(
    _SCORES.filter(lambda scores: any(score is not None for score in scores.values())),
    st.lists(_ANSWERS, min_size=8, max_size=8),
    st.lists(_MEASURED, min_size=8, max_size=8),
    st.integers(1, 8),
)
async def test_whatever_happens_the_best_is_not_below_the_baseline_and_each_try_is_on_record(
    first: dict[str, float | None],
    answers: list[str | Proposal | AzdEvalError],
    measured: list[dict[str, float | None] | AzdEvalError],
    max_iterations: int,
) -> None:
    remaining = [first, *measured]

    async def measure(candidate: Candidate) -> Measurement:
        result = remaining.pop(0)
        if isinstance(result, AzdEvalError):
            raise result
        return make_scored(candidate, result)

    search = Search(propose(*answers), measure, max_iterations)

    outcome = await search.run()

    shared = {trial.task: trial.score for trial in outcome.baseline.trials}
    gains = [
        trial.score - before
        for trial in outcome.best.trials
        if trial.score is not None and (before := shared[trial.task]) is not None
    ]
    assert outcome.best is outcome.baseline or sum(gains) > 0
    assert (outcome.best.score or 0) >= (outcome.baseline.score or 0)
    assert outcome.iterations <= max_iterations
    assert outcome.iterations == len(outcome.candidates) - 1
    decided = [e for e in search.recorder.events if e["event"] == "decided"]
    assert [row.id for row in outcome.candidates] == [event["id"] for event in decided]
    assert "stopped" == search.recorder.events[-1]["event"]
    assert len(set(search.recorder.candidates.values())) == len(search.recorder.candidates)
