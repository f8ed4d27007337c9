"""How items end."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.item_status import ITEM_STATUSES, judge_item, judge_thread, judge_turn
from azd_eval.domain.score import Score, Trial, TurnResult
from tests.factories import make_verdict

OUTCOMES = ("met", "unmet", "unusable", "undecided", "not_applicable")


def make_score(*outcomes):
    decided = [outcome == "met" for outcome in outcomes if outcome in ("met", "unmet")]
    passed = all(decided) if decided else None
    return Score("E", None, passed, tuple(make_verdict(outcome) for outcome in outcomes))


def make_turn(*outcomes, reply="Good day."):
    return TurnResult("hello", reply, scores=tuple(make_score(outcome) for outcome in outcomes))


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        ([], "pass"),
        (["met", "met"], "pass"),
        (["met", "unmet"], "fail"),
        (["unmet", "unmet"], "fail"),
        (["met", "unusable"], "partial"),
        (["unmet", "unusable"], "partial"),
        (["unusable", "unusable"], "partial"),
        (["met", "undecided"], "partial"),
        (["met", "not_applicable"], "partial"),
    ],
)
def test_a_turn_with_a_reply(outcomes, status):
    assert status == judge_turn(make_turn(*outcomes))


def test_an_evaluator_that_could_not_decide_a_part_failed_to_run():
    turn = TurnResult("hello", "Good day.", scores=(make_score("met", "unusable"),))

    assert "partial" == judge_turn(turn)


def test_a_turn_without_a_reply():
    assert "error" == judge_turn(TurnResult("hello", error="no", error_code="timeout"))


def test_the_worst_turn_is_the_status_of_the_thread():
    for statuses in itertools.product(ITEM_STATUSES, repeat=3):
        assert min(statuses, key=ITEM_STATUSES.index) == judge_thread(statuses)
    assert ("error", "partial", "fail", "pass") == ITEM_STATUSES


@given(st.lists(st.lists(st.sampled_from(OUTCOMES)), min_size=1))
def test_an_item_passes_only_if_every_evaluator_of_every_turn_says_so(turns):
    results = tuple(make_turn(*outcomes) for outcomes in turns)
    trial = Trial("t", "key", 0, "passed", None, results)

    expected = all(outcome == "met" for outcomes in turns for outcome in outcomes)
    assert expected == (judge_item(trial) == "pass")
