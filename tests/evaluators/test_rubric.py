"""The adaptive evaluator: one rubric, binary or graded, asked of every task."""

import pytest

from azd_eval.domain.criterion import Rubric
from azd_eval.evaluators.rubric import RubricEvaluator
from tests.factories import ScriptedJudge, make_criteria, make_item, make_task

OUT = "not_applicable"


async def _score(answers, weights=None, **rubric):
    judge = ScriptedJudge({f"dimension {number}": each for number, each in enumerate(answers)})
    dimensions = [
        dimension
        for number, weight in enumerate(weights or [1.0] * len(answers))
        for dimension in make_criteria(f"dimension {number}", weight=weight)
    ]
    evaluator = RubricEvaluator(Rubric("quality", tuple(dimensions), **rubric), judge)
    return await evaluator.score(make_item()), judge


@pytest.mark.parametrize(
    ("answers", "weights", "threshold", "score", "passed"),
    [
        (["met", "unmet"], [1, 1], 0.5, 0.5, True),
        (["met", "unmet"], [1, 1], 0.51, 0.5, False),
        (["met", "unmet", "unmet"], [8, 1, 1], 0.8, 0.8, True),
        (["unmet", "met", OUT], [1, 3, 10], 0.75, 0.75, True),
        (["met", "met", "unmet"], [0.1, 0.6, 0.3], 0.7, 0.7, True),
        (["unmet"], [5], 0.0, 0.0, True),
        ([OUT, OUT], [1, 1], 0.5, None, None),
        (["undecided", OUT], [1, 1], 0.5, None, None),
        (["unusable", "unusable"], [1, 1], 0.5, None, None),
    ],
)
async def test_a_binary_rubric_passes_at_its_threshold(answers, weights, threshold, score, passed):
    result, _ = await _score(answers, weights, pass_threshold=threshold)

    assert pytest.approx(score) == result.score
    assert (passed, None) == (result.passed, result.native)


@pytest.mark.parametrize(
    ("grades", "weights", "score", "native"),
    [
        ([1], [1], 0.0, 1.0),
        ([3], [1], 0.5, 3.0),
        ([5, 5], [1, 1], 1.0, 5.0),
        ([5, 4], [1, 1], 0.875, 4.5),
        ([5, 1], [3, 1], 0.75, 4.0),
        ([5, OUT, 4], [1, 10, 1], 0.875, 4.5),
        ([OUT], [1], None, None),
    ],
)
async def test_grades_are_normalised_and_kept_beside(grades, weights, score, native):
    result, judge = await _score(grades, weights, scoring="graded")

    assert (score, native) == (result.score, result.native)
    assert [True] == [request.graded for request in judge.history]


@pytest.mark.parametrize(("fails", "passed"), [(True, False), (False, True)])
async def test_one_lowest_grade_fails_all_where_that_is_the_rule(fails, passed):
    result, _ = await _score([5, 5, 5, 1], scoring="graded", lowest_grade_fails=fails)

    assert (0.75, passed) == (result.score, result.passed)


async def test_the_expected_answer_is_no_business_of_a_rubric():
    judge = ScriptedJudge()
    evaluator = RubricEvaluator(Rubric("quality", make_criteria("polite")), judge)

    await evaluator.score(make_item(task=make_task(expected="30 days")))

    assert [None] == [request.expected for request in judge.history]
