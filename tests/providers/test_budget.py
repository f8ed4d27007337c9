"""Limits: never more calls than allowed, and what was begun is ended first."""

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.chat import Usage
from azd_eval.domain.stop import StopSign
from azd_eval.errors import ModelError
from azd_eval.providers.budget import Budget, Limits

SPENT = Usage(input_tokens=10, output_tokens=5, cost=0.5)


def make_budget(usage=SPENT, **limits):
    stop = StopSign()
    return Budget(Limits(**limits), lambda: usage, stop), stop


def is_admitted(budget):
    try:
        budget.admit()
    except ModelError as error:
        return (error.code, error.tries) != ("stopped", 0)
    return True


def test_without_limits_everything_is_admitted():
    budget, stop = make_budget()

    assert all(is_admitted(budget) for _ in range(1000))
    assert not stop.is_up


def test_as_many_calls_as_allowed_and_then_the_sign():
    budget, stop = make_budget(calls=3)

    assert [True, True, True, False, False] == [is_admitted(budget) for _ in range(5)]
    assert "the limit of 3 calls is reached" == stop.reason


def test_a_check_counts_nothing_and_raises_when_nothing_is_left():
    budget, _ = make_budget(calls=2)
    for _ in range(5):
        budget.check()

    assert [True, True] == [is_admitted(budget) for _ in range(2)]
    with pytest.raises(ModelError, match="limit of 2 calls"):
        budget.check()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"tokens": 15}, "the limit of 15 tokens is reached"),
        ({"cost": 0.5}, "the limit of 0.5 in cost is reached"),
        ({"seconds": 0.0}, "the limit of 0 s is reached"),
    ],
)
def test_what_was_spent_ends_a_run(limits, reason):
    budget, stop = make_budget(**limits)

    assert not is_admitted(budget)
    assert reason == stop.reason


@pytest.mark.parametrize("limits", [{"tokens": 16}, {"cost": 0.6}, {"seconds": 60.0}])
def test_what_is_below_a_limit_goes_on(limits):
    budget, stop = make_budget(**limits)

    assert is_admitted(budget)
    assert not stop.is_up


async def test_a_failure_in_time_stays_what_it_is():
    budget, stop = make_budget(seconds=60.0)

    with pytest.raises(TimeoutError, match="of another clock"):
        async with budget.bound():
            raise TimeoutError("of another clock")
    assert not stop.is_up


def test_an_unknown_cost_reaches_no_limit():
    assert is_admitted(make_budget(Usage(cost=None), cost=0.0)[0])


async def test_no_call_is_made_for_a_trial_after_ctrl_c():
    budget, stop = make_budget(calls=10)

    async with budget.reserve(2):
        first = is_admitted(budget)
        stop.put_up("interrupted")

        assert [True, False] == [first, is_admitted(budget)]


async def run_trials(budget, trials, at_once):
    """Run trials as an executor does; give how many calls of each were admitted."""
    made: Counter[int] = Counter()
    places = asyncio.Semaphore(at_once)

    async def run(number, planned, needed):
        async with places, budget.reserve(planned):
            for _ in range(needed):
                await asyncio.sleep(0)
                if not is_admitted(budget):
                    return
                made[number] += 1

    await asyncio.gather(*(run(number, *trial) for number, trial in enumerate(trials)))
    return [made[number] for number in range(len(trials))]


@given(
    trials=st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), max_size=20),
    at_once=st.integers(1, 8),
    limit=st.integers(1, 60),
)
def test_the_limit_holds_and_whatever_is_begun_is_ended(trials, at_once, limit):
    # What needs fewer calls than planned has some in the cache; a retry makes them more.
    budget, _ = make_budget(calls=limit)

    made = asyncio.run(run_trials(budget, trials, at_once))

    assert sum(made) <= limit
    as_planned = [
        (calls, needed)
        for calls, (planned, needed) in zip(made, trials, strict=True)
        if needed <= planned
    ]
    # The last one may get the few calls that are left.
    assert sum(0 < calls < needed for calls, needed in as_planned) <= 1
    if len(as_planned) == len(trials) and sum(needed for _, needed in trials) <= limit:
        assert [needed for _, needed in trials] == made


async def test_what_nobody_needed_is_given_to_those_who_wait():
    budget, stop = make_budget(calls=6)

    # Five trials of three calls, of which the cache answers two.
    made = await run_trials(budget, [(3, 1)] * 5, at_once=5)

    assert [1] * 5 == made
    assert not stop.is_up
