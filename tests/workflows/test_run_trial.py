"""One task put to an agent, turn by turn."""

from dataclasses import replace

import pytest

from azd_eval.domain.score import TrialSpec
from azd_eval.domain.task import Exchange, Reply
from azd_eval.errors import FATAL_CODES, ModelError, TargetError
from azd_eval.evaluators.criteria import TaskAdherence
from azd_eval.evaluators.judge import IndependentJudge
from azd_eval.workflows.run_trial import Bench
from tests.factories import (
    BASELINE,
    MemoryJournal,
    ScriptedJudge,
    ScriptedTarget,
    make_criteria,
    make_spec,
    make_task,
)
from tests.fakes import ScriptedModel

THREE_TURNS = make_task(prompts=("one", "two", "three"), criteria=make_criteria("polite"))


async def _run(respond=lambda request: "Good day.", task=THREE_TURNS, evaluators=None):
    target, journal = ScriptedTarget(respond), MemoryJournal()
    if evaluators is None:
        evaluators = [TaskAdherence(ScriptedJudge())]
    trial = await Bench(target, evaluators, journal).run_trial(make_spec(task))
    return trial, target.history, journal.events


def _fail_at(prompt, error):
    return lambda request: error if request.prompt == prompt else f"re {request.prompt}"


async def test_every_turn_sees_the_real_replies_before_it():
    trial, requests, _ = await _run(lambda request: f"re {request.prompt}")

    assert [
        (),
        (Exchange("one", "re one"),),
        (Exchange("one", "re one"), Exchange("two", "re two")),
    ] == [request.history for request in requests]
    assert ["re one", "re two", "re three"] == [turn.reply for turn in trial.turns]
    assert ("passed", 1.0) == (trial.status, trial.score)


async def test_the_evaluators_see_what_was_said_before():
    judge = ScriptedJudge()

    await _run(lambda request: f"re {request.prompt}", evaluators=[TaskAdherence(judge)])

    seen = [
        (each.item.turn_index, each.item.reply.text, each.item.history) for each in judge.history
    ]
    assert (2, "re three", (Exchange("one", "re one"), Exchange("two", "re two"))) == seen[2]


async def test_the_agent_gets_instructions_and_context_but_no_expected_answer():
    task = make_task(context="shop", expected="-secret-", metadata={"note": "-secret-"})

    _, [request], _ = await _run(task=task)

    assert ("hello", "Be kind.", "shop") == (request.prompt, request.instructions, request.context)
    assert "-secret-" not in repr(request)


async def test_a_trial_carries_what_identifies_it():
    bench = Bench(ScriptedTarget(), [], MemoryJournal())
    task = make_task("refund", category="tone")

    trial = await bench.run_trial(TrialSpec(task, BASELINE, repeat=2, index=7))

    assert ("refund", task.key, 2, 7, "tone") == (
        trial.task,
        trial.task_key,
        trial.repeat,
        trial.index,
        trial.category,
    )


@pytest.mark.parametrize("failing", ["one", "two", "three"])
async def test_after_a_failing_turn_no_other_is_attempted(failing):
    trial, requests, events = await _run(_fail_at(failing, TargetError("it raised")))

    place = ["one", "two", "three"].index(failing)
    codes = [None] * place + ["agent_error"] + ["not_attempted"] * (2 - place)
    assert codes == [turn.error_code for turn in trial.turns]
    assert "it raised" == trial.turns[place].error
    assert place + 1 == len(requests)
    assert place == len(events)
    assert ("errored", None, None) == (trial.status, trial.score, trial.fatal)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(""), "empty_reply"),
        (Reply(" \n\t"), "empty_reply"),
        (Reply("", finish_reason="length", output_tokens=64), "empty_reply"),
        (ModelError("blocked", code="content_filter"), "content_filter"),
        (ModelError("slow", code="timeout"), "timeout"),
        (ModelError("cut", code="cut_off"), "cut_off"),
        (TargetError("raised"), "agent_error"),
    ],
)
async def test_what_an_agent_fails_to_say_is_an_error_not_a_zero(reply, code):
    trial, _, events = await _run(lambda request: reply, make_task())

    [turn] = trial.turns
    assert (code, None, ()) == (turn.error_code, turn.reply, turn.scores)
    assert 0 <= turn.latency_ms < 5000
    assert turn.error
    assert ("errored", None, []) == (trial.status, trial.score, events)


async def test_an_empty_cut_reply_names_the_limit():
    reply = Reply("", finish_reason="length", output_tokens=64)

    trial, _, _ = await _run(lambda request: reply, make_task())

    assert "the agent returned no text: cut at the limit of 64 tokens" == trial.turns[0].error


@pytest.mark.parametrize("text", ["0", "false", "None", "null", "."])
async def test_falsy_words_are_replies(text):
    trial, _, _ = await _run(lambda request: text, make_task())

    assert ("passed", text) == (trial.status, trial.turns[0].reply)


async def test_a_cut_reply_is_judged_and_stays_marked():
    reply = Reply(
        "Step 1: open the", "length", 12.5, input_tokens=10, output_tokens=16, cached=True
    )

    trial, _, [event] = await _run(lambda request: reply, make_task())

    [turn] = trial.turns
    assert ("length", 12.5, 26, True) == (
        turn.finish_reason,
        turn.latency_ms,
        turn.tokens,
        turn.cached,
    )
    kept = ("reply", "finish_reason", "latency_ms", "input_tokens", "output_tokens")
    assert ("Step 1: open the", "length", 12.5, 10, 16) == tuple(event[key] for key in kept)
    assert "passed" == trial.status


@pytest.mark.parametrize("code", sorted(FATAL_CODES))
async def test_an_error_that_meets_every_trial_is_fatal(code):
    by_agent, _, _ = await _run(_fail_at("two", ModelError("no credit left", code=code)))
    model = ScriptedModel(lambda request: ModelError("no credit left", code=code))
    judge = IndependentJudge(model, MemoryJournal())
    by_judge, _, _ = await _run(evaluators=[TaskAdherence(judge)])

    assert "no credit left" == by_agent.fatal
    assert "the judge failed: no credit left" == by_judge.fatal


@pytest.mark.parametrize("code", ["timeout", "content_filter", "server_error", "too_long"])
async def test_an_error_of_one_trial_is_not_fatal(code):
    trial, _, _ = await _run(_fail_at("two", ModelError("no", code=code)))

    assert ("errored", None) == (trial.status, trial.fatal)


async def test_an_unusable_verdict_makes_an_error_and_keeps_the_rest():
    judge = ScriptedJudge({"short": "unusable"})

    trial, _, _ = await _run(task=make_task(), evaluators=[TaskAdherence(judge)])

    assert ("errored", None) == (trial.status, trial.score)
    assert ["met", "unusable"] == [v.outcome for v in trial.turns[0].scores[0].verdicts]


async def test_scores_of_several_evaluators_keep_their_order():
    evaluators = [
        TaskAdherence(ScriptedJudge({"short": "unmet"}), "first"),
        TaskAdherence(ScriptedJudge(), "second"),
    ]

    trial, _, _ = await _run(task=make_task(), evaluators=evaluators)

    assert ["first", "second"] == [score.evaluator for score in trial.turns[0].scores]
    assert ("failed", 0.75) == (trial.status, trial.score)


async def test_a_reply_is_kept_before_it_is_judged():
    journal = MemoryJournal()

    class Witness(ScriptedJudge):
        async def decide(self, request):
            assert request.item.reply.text == journal.events[-1]["reply"]
            return await super().decide(request)

    bench = Bench(ScriptedTarget(), [TaskAdherence(Witness())], journal)

    trial = await bench.run_trial(make_spec(replace(THREE_TURNS, name="refund")))

    assert "passed" == trial.status
    assert [("reply", "refund", "baseline", 0, turn) for turn in range(3)] == [
        tuple(event[key] for key in ("event", "task", "candidate", "repeat", "turn"))
        for event in journal.events
    ]


@pytest.mark.parametrize("bug", [ZeroDivisionError(), KeyError("reply"), AttributeError()])
async def test_a_bug_is_no_result(bug):
    class Broken(ScriptedJudge):
        async def decide(self, request):
            raise bug

    for respond, judge in (
        (lambda request: bug, ScriptedJudge()),
        (lambda request: "hi", Broken()),
    ):
        with pytest.raises(type(bug)):
            await _run(respond, evaluators=[TaskAdherence(judge)])
