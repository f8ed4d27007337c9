"""Limits per minute, on a clock that jumps."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.chat import ChatReply, ChatRequest, Message
from azd_eval.errors import ModelError
from azd_eval.providers.gate import Gate, Line
from azd_eval.providers.middleware import Retrying, RetryPolicy
from azd_eval.providers.pace import Pace, estimate_tokens
from tests.virtual_time import in_virtual_time, now


def ask(text="hi"):
    return ChatRequest((Message("user", text),), "judge")


def make_line(**limits):
    line = Line(Gate(20))
    line.pace = Pace(**limits)
    return line


class Recorder:
    """Notes when it was asked, and may refuse first."""

    def __init__(self, reply=None, refusals=0):
        self.times = []
        self._reply = reply or ChatReply("ok")
        self._refusals = refusals

    async def complete(self, request):
        self.times.append(now())
        if len(self.times) <= self._refusals:
            raise ModelError("slow down", code="rate_limited")
        return self._reply


async def call(line, recorder, requests, **parameters):
    model = Retrying(recorder, line, RetryPolicy(), parameters)
    await asyncio.gather(*map(model.complete, requests))
    return recorder.times


@in_virtual_time
async def test_without_limits_nobody_waits():
    assert [0] * 50 == await call(make_line(), Recorder(), [ask()] * 50)


@in_virtual_time
async def test_calls_are_spread_over_the_minute():
    times = await call(make_line(calls_per_minute=30), Recorder(), [ask()] * 61)

    assert pytest.approx([2.0 * number for number in range(61)]) == times


@in_virtual_time
async def test_an_idle_hour_is_not_saved_up():
    line, recorder = make_line(calls_per_minute=60, tokens_per_minute=10**6), Recorder()
    await call(line, recorder, [ask()])
    await asyncio.sleep(3600)

    await call(line, recorder, [ask()] * 3)

    assert pytest.approx([0, 3600, 3601, 3602]) == recorder.times


@in_virtual_time
async def test_tries_in_vain_are_calls_too():
    line = make_line(calls_per_minute=1)

    times = await call(line, Recorder(refusals=2), [ask()])

    assert pytest.approx([0, 60, 120]) == times


@in_virtual_time
async def test_no_place_is_held_while_the_pace_makes_wait():
    gate = Gate(1)
    slow, free = Line(gate), Line(gate)
    slow.pace = Pace(calls_per_minute=1)
    recorder = Recorder()
    waiting = asyncio.create_task(call(slow, recorder, [ask()] * 2))
    await asyncio.sleep(1)

    await call(free, recorder, [ask()])

    assert 1 == now()
    await waiting


@pytest.mark.parametrize(
    ("reply", "limit", "seconds"),
    [
        # 400 bytes are 100 tokens at first; the reply says how many there were.
        (ChatReply("ok", input_tokens=100, output_tokens=0), {}, 10),
        (ChatReply("ok", input_tokens=50, output_tokens=250), {}, 30),
        (ChatReply("ok", input_tokens=20), {}, 2),
        # Output that a call may ask for counts, used or not.
        (ChatReply("ok", input_tokens=100, output_tokens=10), {"max_tokens": 500}, 60),
        (ChatReply("ok", input_tokens=100, output_tokens=900), {"max_completion_tokens": 500}, 100),
        # A server that counts nothing leaves the estimate.
        (ChatReply("ok"), {}, 10),
    ],
)
@in_virtual_time
async def test_tokens_are_estimated_and_then_corrected(reply, limit, seconds):
    line, recorder = make_line(tokens_per_minute=600), Recorder(reply)
    await call(line, recorder, [ask("x" * 400)], **limit)

    await call(line, recorder, [ask("x" * 400)], **limit)

    assert pytest.approx([0, seconds]) == recorder.times


@given(st.lists(st.integers(0, 5000), min_size=2, max_size=30), st.floats(0, 100))
def test_any_minute_has_at_most_one_call_of_tokens_too_many(sizes, idle):
    pace = Pace(calls_per_minute=50, tokens_per_minute=3000)
    gone, clock = [], idle
    for size in sizes:
        clock = max(clock, pace.opens_at)
        pace.take(size, clock)
        gone.append((clock, size))

    for start, _ in gone:
        minute = [size for time, size in gone if start <= time < start + 60 - 1e-6]
        assert len(minute) <= 50
        assert sum(minute) - minute[-1] <= 3000 + 1e-3


def test_of_several_limits_the_lowest_counts():
    pace = Pace()
    for calls, tokens in [(None, None), (60, None), (90, 5000), (None, 4000), (70, 6000)]:
        pace.tighten(calls, tokens)

    assert (60, 4000) == (pace.calls_per_minute, pace.tokens_per_minute)


@pytest.mark.parametrize(
    ("parameters", "limit"),
    [
        ({}, 0),
        ({"max_tokens": 9}, 9),
        ({"max_completion_tokens": 7, "max_tokens": 9}, 7),
        ({"max_tokens": None}, 0),
        ({"max_tokens": "many"}, 0),
    ],
)
def test_finds_how_much_a_reply_may_have(parameters, limit):
    assert limit == estimate_tokens(ask(), parameters).output


def test_what_the_request_says_wins():
    request = replace(ask(), parameters={"max_tokens": 5})

    assert 5 == estimate_tokens(request, {"max_tokens": 9}).output


@given(st.text())
def test_any_text_can_be_estimated(text):
    assert 0 <= estimate_tokens(ask(text), {}).total <= len(text)
