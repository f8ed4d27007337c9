"""The built-in evaluator of a task's own criteria."""

import pytest

from azd_eval.domain.criterion import Check, Criterion
from azd_eval.evaluators.criteria import TaskAdherence
from tests.factories import ScriptedJudge, make_criteria, make_item, make_task, make_verdict


async def _score(outcomes, criteria=None, reply="Good day."):
    criteria = make_criteria(*outcomes) if criteria is None else criteria
    judge = ScriptedJudge(outcomes)
    item = make_item(reply, make_task(criteria=criteria))
    return await TaskAdherence(judge).score(item), judge


@pytest.mark.parametrize(
    ("outcomes", "score", "passed"),
    [
        ("met met met met", 1.0, True),
        ("met met met unmet", 0.75, False),
        ("unmet", 0.0, False),
        ("met undecided", 1.0, True),
        ("unmet undecided met", 0.5, False),
        ("undecided undecided", None, None),
        ("unusable", None, None),
        ("met unusable", 1.0, True),
    ],
)
async def test_score_and_pass_follow_from_the_verdicts(outcomes, score, passed):
    named = {f"criterion {number}": each for number, each in enumerate(outcomes.split())}

    result, _ = await _score(named)

    assert (score, passed) == (result.score, result.passed)


async def test_heavy_criteria_count_more():
    criteria = (*make_criteria("polite", weight=3.0), *make_criteria("short", weight=1.0))

    result, _ = await _score({"short": "unmet"}, criteria)

    assert (0.75, False) == (result.score, result.passed)


async def test_checks_are_decided_without_the_judge_and_in_their_place():
    criteria = (
        Criterion("greets", "", check=Check("contains", "good day")),
        *make_criteria("polite"),
        Criterion("answers", "", weight=2.0, check=Check("contains", "30 days")),
        Criterion("odd", "", check=Check("regex", "(")),
        *make_criteria("short"),
    )

    result, judge = await _score({"short": "unmet"}, criteria)

    assert ["met", "met", "unmet", "unusable", "unmet"] == [v.outcome for v in result.verdicts]
    assert [each.name for each in criteria] == [v.criterion for v in result.verdicts]
    assert [each.weight for each in criteria] == [v.weight for v in result.verdicts]
    assert [("polite", "short")] == [
        tuple(each.name for each in request.criteria) for request in judge.history
    ]


async def test_checks_alone_ask_no_judge():
    result, judge = await _score({}, (Criterion("greets", "", check=Check("equals", "No.")),))

    assert (0.0, False, []) == (result.score, result.passed, judge.history)


@pytest.mark.parametrize(
    ("options", "shown"),
    [({}, None), ({"use_ground_truth": False}, None), ({"use_ground_truth": True}, "30 days")],
)
async def test_the_expected_answer_is_shown_only_when_allowed(options, shown):
    judge = ScriptedJudge()
    evaluator = TaskAdherence(judge, **options)

    await evaluator.score(make_item(task=make_task(expected="30 days")))

    assert [shown] == [request.expected for request in judge.history]


async def test_without_criteria_there_is_nothing_to_score():
    evaluator = TaskAdherence(ScriptedJudge())
    item = make_item(task=make_task(criteria=()))

    result = await evaluator.score(item)

    assert (None, None, ()) == (result.score, result.passed, result.verdicts)
    assert not evaluator.scores(item.turn)


def test_questions_are_the_criteria_without_a_check():
    criteria = (
        *make_criteria("polite", "short"),
        Criterion("json", "", check=Check("is_json", True)),
    )
    [turn] = make_task(criteria=criteria).turns

    evaluator = TaskAdherence(ScriptedJudge())
    assert (True, 2) == (evaluator.scores(turn), evaluator.questions(turn))


async def test_verdicts_are_kept_as_the_judge_gave_them():
    result, _ = await _score({"polite": "unmet", "short": "met"})

    assert (make_verdict("unmet", "polite"), make_verdict("met", "short")) == result.verdicts
