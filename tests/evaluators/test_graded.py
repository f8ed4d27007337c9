"""Evaluators that a judge grades from 1 to 5."""

import pytest

from azd_eval.domain.score import Verdict
from azd_eval.evaluators.graded import GRADED, grade_by_prompt, grade_named
from tests.factories import ScriptedJudge, make_item, make_task


def grade(name, grade_given, of_run, turn=None):
    judge = ScriptedJudge({name: grade_given})
    task = make_task(expected="30 days", turn=turn or {})
    return grade_named(name, judge, of_run), make_item(task=task), judge


@pytest.mark.parametrize("name", GRADED)
@pytest.mark.parametrize(
    ("given", "of_run", "passed"),
    [
        (3, {}, True),
        (2, {}, False),
        (4, {"threshold": 4.5}, False),
        (5, {"threshold": 4.5}, True),
        (1, {"threshold": 1}, True),
    ],
)
async def test_the_threshold_decides_on_the_native_grade(name, given, of_run, passed):
    evaluator, item, _ = grade(name, given, of_run)

    score = await evaluator.score(item)

    (verdict,) = score.verdicts
    assert (name, given, of_run.get("threshold", 3)) == (name, score.native, score.threshold)
    assert (passed, (given - 1) / 4) == (score.passed, score.score)
    assert (name, "met" if passed else "unmet") == (verdict.criterion, verdict.outcome)


async def test_options_of_a_turn_stand_over_those_of_the_run():
    turn = {"evaluators": {"Relevance": {"threshold": 5}}}
    evaluator, item, _ = grade("Relevance", 4, {"threshold": 2}, turn)

    assert (False, 5) == ((score := await evaluator.score(item)).passed, score.threshold)


@pytest.mark.parametrize("outcome", ["undecided", "unusable"])
async def test_without_a_grade_there_is_no_score(outcome):
    evaluator, item, _ = grade("Relevance", outcome, {})

    score = await evaluator.score(item)

    assert (None, None, None) == (score.score, score.passed, score.native)
    assert [outcome] == [verdict.outcome for verdict in score.verdicts]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Relevance", None), ("Coherence", None), ("Groundedness", None), ("Similarity", "30 days")],
)
async def test_only_similarity_shows_the_judge_the_expected_answer(name, expected):
    evaluator, item, judge = grade(name, 3, {}, {"grounding": "the policy"})

    await evaluator.score(item)

    (request,) = judge.history
    assert request.graded
    assert (expected, "the policy" if name == "Groundedness" else None) == (
        request.expected,
        request.grounding,
    )


@pytest.mark.parametrize(
    ("grounding", "context", "sources"),
    [
        ("the policy", "a context", "the policy"),
        (None, "a context", "a context"),
        (None, None, "30 days"),
    ],
)
async def test_groundedness_rests_on_the_best_source_there_is(grounding, context, sources):
    judge = ScriptedJudge({"Groundedness": 3})
    task = make_task(expected="30 days", context=context, turn={"grounding": grounding})

    await grade_named("Groundedness", judge, {}).score(make_item(task=task))

    assert [sources] == [request.grounding for request in judge.history]


@pytest.mark.parametrize("expected", [None, "", "  "])
async def test_similarity_to_nothing_is_an_error_and_asks_nobody(expected):
    judge = ScriptedJudge()
    item = make_item(task=make_task(expected=expected))
    evaluator = grade_named("Similarity", judge, {})

    score = await evaluator.score(item)

    assert ("groundTruth", 0) == (evaluator.lacks(item.turn), evaluator.questions(item.turn))
    reason = "the task has no `groundTruth`"
    error = Verdict("Similarity", "unusable", reason, error_code="missing_expected")
    assert ((error,), []) == (score.verdicts, judge.history)


@pytest.mark.parametrize(
    ("prompt", "asked", "expected", "sources"),
    [
        (" Is it kind?\n", "Is it kind?", None, None),
        ("Is {{response}} kind?", "Is the reply to be judged kind?", None, None),
        ("{{ prompt }} {{x}} {{response}", "the user's message {{x}} {{response}", None, None),
        (
            "As in {{expected_response}}, by {{context}}?",
            "As in the expected answer, by the sources?",
            "30 days",
            "the policy",
        ),
    ],
)
async def test_a_prompt_file_is_a_question_that_shows_what_it_mentions(
    prompt, asked, expected, sources
):
    judge = ScriptedJudge({"tone": 2})
    task = make_task(expected="30 days", turn={"grounding": "the policy"})

    score = await grade_by_prompt("tone", prompt, judge, {"threshold": 2}).score(
        make_item(task=task)
    )

    (request,) = judge.history
    assert (asked, expected, sources) == (
        request.criteria[0].instruction,
        request.expected,
        request.grounding,
    )
    assert ("tone", True, 2) == (score.evaluator, score.passed, score.native)
