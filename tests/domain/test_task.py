"""What identifies a task."""

from dataclasses import replace

import pytest

from azd_eval.domain.task import Turn
from tests.factories import make_criteria, make_task

TASK = make_task("refund", ("How long?",), expected="30 days", context="shop")


@pytest.mark.parametrize(
    "same",
    [
        replace(TASK, category="other"),
        replace(TASK, metadata={"id": 7}),
        replace(TASK, turns=(replace(TASK.turns[0], criteria=make_criteria("new")),)),
    ],
)
def test_what_is_asked_keeps_its_key(same):
    assert TASK.key == same.key


@pytest.mark.parametrize(
    "other",
    [
        replace(TASK, name="refunds"),
        replace(TASK, context=None),
        replace(TASK, context=""),
        replace(TASK, turns=(Turn("How long?"),)),
        replace(TASK, turns=(*TASK.turns, *TASK.turns)),
        make_task("refund", ("How long? 30 days",), context="shop"),
        make_task("refund", ("How \ud83d long?",), context="shop"),
    ],
)
def test_another_question_has_another_key(other):
    assert TASK.key != other.key
