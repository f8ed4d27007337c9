"""What every executor keeps to."""

import asyncio
import gc
from contextlib import aclosing
from itertools import islice

import pytest

from azd_eval.executor import LocalExecutor
from tests.factories import make_spec, make_trial

EXECUTORS = {"local": LocalExecutor}

LIMIT = 5


@pytest.fixture(params=EXECUTORS.values(), ids=EXECUTORS)
def executor(request):
    return lambda run_trial: request.param(run_trial, LIMIT)


def _specs(count):
    return (make_spec(index=index) for index in range(count))


async def _trial_of(spec):
    return make_trial(index=spec.index)


async def _finish(executor, run_trial, count):
    return [trial.index async for trial in executor(run_trial).run(_specs(count))]


@pytest.mark.parametrize("count", [0, 1, LIMIT - 1, LIMIT, LIMIT + 1, 100])
async def test_every_spec_becomes_one_trial(executor, count):
    indexes = await _finish(executor, _trial_of, count)

    assert list(range(count)) == sorted(indexes)


async def test_never_more_than_the_limit_are_under_way_and_places_are_used(executor):
    under_way, most = 0, 0

    async def run_trial(spec):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(spec.index * 7 % 5 + 1):
            await asyncio.sleep(0)
        under_way -= 1
        return await _trial_of(spec)

    await _finish(executor, run_trial, 200)

    assert LIMIT == most


async def test_trials_are_given_as_they_end(executor):
    slow = asyncio.Event()

    async def run_trial(spec):
        if spec.index == 0:
            await slow.wait()
        return await _trial_of(spec)

    indexes = []
    async for trial in executor(run_trial).run(_specs(50)):
        indexes.append(trial.index)
        if len(indexes) == 49:
            slow.set()

    assert 0 == indexes[-1]


async def test_specs_are_drawn_only_as_places_come_free(executor):
    drawn = 0

    def endless():
        nonlocal drawn
        for spec in _specs(1_000_000):
            drawn += 1
            yield spec

    async with aclosing(executor(_trial_of).run(endless())) as trials:
        taken = 0
        async for _ in trials:
            taken += 1
            if taken == 20:
                break

    assert drawn <= taken + LIMIT


async def _wait_for_ever(spec, started, cancelled):
    started.append(spec.index)
    try:
        await asyncio.Event().wait()
    finally:
        cancelled.append(spec.index)


async def test_closing_cancels_what_is_under_way(executor):
    started, cancelled = [], []

    async def run_trial(spec):
        if spec.index:
            await _wait_for_ever(spec, started, cancelled)
        return await _trial_of(spec)

    async with aclosing(executor(run_trial).run(_specs(100))) as trials:
        async for _ in trials:
            break

    assert sorted(started) == sorted(cancelled)
    assert len(started) in range(LIMIT)


async def test_cancelling_the_consumer_cancels_what_is_under_way(executor):
    started, cancelled, full = [], [], asyncio.Event()

    async def run_trial(spec):
        if spec.index == LIMIT - 1:
            full.set()
        await _wait_for_ever(spec, started, cancelled)

    consumer = asyncio.ensure_future(_finish(executor, run_trial, 100))
    await full.wait()

    consumer.cancel()

    with pytest.raises(asyncio.CancelledError):
        await consumer
    assert sorted(cancelled) == list(range(LIMIT))


async def test_a_bug_ends_the_run_and_cancels_the_others(executor):
    started, cancelled = [], []

    async def run_trial(spec):
        if spec.index == 3:
            raise ZeroDivisionError
        await _wait_for_ever(spec, started, cancelled)

    with pytest.raises(ZeroDivisionError):
        await _finish(executor, run_trial, 100)

    assert sorted(started) == sorted(cancelled)


async def test_bugs_of_one_moment_are_one_error_and_asyncio_prints_none(executor):
    unheard = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))

    async def run_trial(spec):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await _finish(executor, run_trial, 100)
    gc.collect()

    assert [] == unheard


async def test_it_can_be_used_again(executor):
    used = executor(_trial_of)

    rounds = [[trial.index async for trial in used.run(islice(_specs(9), 9))] for _ in range(3)]

    assert [list(range(9))] * 3 == [sorted(indexes) for indexes in rounds]
