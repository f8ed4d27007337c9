"""Functions of the user's own as evaluators."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from azd_eval.domain.task import Exchange
from azd_eval.errors import TargetError
from azd_eval.evaluators.custom import FIELDS, FunctionEvaluator
from tests.factories import make_item, make_task


def make_evaluator(result, of_run=None):
    async def call(fields):
        if isinstance(result, Exception):
            raise result
        return result(fields) if callable(result) else result

    return FunctionEvaluator("tone", call, {} if of_run is None else of_run)


class Several:
    """Stands for an array, which is a number only when it has one element."""

    def __float__(self):
        raise TypeError("only arrays of one element are numbers")


@pytest.mark.parametrize(
    ("result", "options", "score", "passed"),
    [
        (True, {}, 1, True),
        (False, {}, 0, False),
        (1, {}, 1, True),
        (0.7, {}, 0.7, False),
        (0.7, {"threshold": 0.7}, 0.7, True),
        (4, {"threshold": 3}, 1, True),
        (1, {"threshold": 3}, 0, False),
        (-2, {"threshold": -3}, 1, True),
        (250, {}, 1, True),
        (Fraction(1, 4), {}, 0.25, False),
        (Decimal("0.25"), {}, 0.25, False),
        ({"score": 0.25, "reason": "curt"}, {}, 0.25, False),
        ({"score": True}, {}, 1, True),
    ],
)
async def test_a_result_is_a_score_and_passes_at_the_threshold(result, options, score, passed):
    found = await make_evaluator(result, options).score(make_item())

    native = result["score"] if isinstance(result, dict) else result
    assert (score, passed, native, options.get("threshold", 1)) == (
        found.score,
        found.passed,
        found.native,
        found.threshold,
    )


async def test_the_reason_is_kept():
    found = await make_evaluator({"score": 0, "reason": "curt"}).score(make_item())

    assert ["curt"] == [verdict.reason for verdict in found.verdicts]


@pytest.mark.parametrize(
    "result",
    [
        *(None, "5", [], {}, math.nan, math.inf, 10**400, 1j),
        *(
            Several(),
            {"score": "5"},
            {"reason": "x"},
            {"error": None},
            {"score": "5", "error": "x"},
        ),
    ],
)
async def test_anything_else_is_an_error(result):
    found = await make_evaluator(result).score(make_item())

    (verdict,) = found.verdicts
    assert (None, "unusable", "invalid_result") == (
        found.score,
        verdict.outcome,
        verdict.error_code,
    )


async def test_a_function_that_raises_is_an_error():
    found = await make_evaluator(TargetError("`tone` raised KeyError")).score(make_item())

    (verdict,) = found.verdicts
    assert ("unusable", "`tone` raised KeyError", "evaluator_error") == (
        verdict.outcome,
        verdict.reason,
        verdict.error_code,
    )


async def test_a_function_may_say_what_went_wrong():
    found = await make_evaluator({"error": "no glossary"}).score(make_item())

    (verdict,) = found.verdicts
    assert (None, "unusable", "no glossary", "evaluator_error") == (
        found.score,
        verdict.outcome,
        verdict.reason,
        verdict.error_code,
    )


async def test_it_is_given_all_that_it_may_ask_for():
    given = []
    task = make_task(
        prompts=("hi", "and now?"),
        expected="30 days",
        context="shop",
        turn={"evaluators": {"tone": {"options": {"word": "kind"}}}},
    )

    await make_evaluator(lambda fields: given.append(fields) or 1).score(
        make_item("so", task, (Exchange("hi", "hello"),))
    )

    history = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    expected = ("so", "and now?", "30 days", "shop", history, {"word": "kind"})
    assert [dict(zip(FIELDS, expected, strict=True))] == given
