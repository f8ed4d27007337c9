"""When a failed call is tried again, how long it waits, and what it says in the end."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.chat import ChatReply, ChatRequest, Message
from azd_eval.errors import ModelError
from azd_eval.providers.gate import Gate, Line
from azd_eval.providers.middleware import Retrying, RetryPolicy
from tests.fakes import ScriptedModel
from tests.virtual_time import in_virtual_time, now

POLICY = RetryPolicy()
ASK = ChatRequest((Message("user", "hi"),), "judge")


def failing(times, code="server_error", **fields):
    """Answer after some failures."""
    left = iter([ModelError("no", code=code, **fields)] * times)
    return ScriptedModel(lambda request: next(left, "ok"))


def retrying(model, policy=POLICY, line=None):
    return Retrying(model, line or Line(Gate(10)), policy)


@pytest.mark.parametrize(
    "code", ["rate_limited", "server_error", "connection", "timeout", "unreadable_reply"]
)
@in_virtual_time
async def test_tries_again_what_may_go_away(code):
    model = failing(3, code)

    reply = await retrying(model).complete(ASK)

    assert ("ok", 3, 4) == (reply.text, reply.retries, len(model.history))


@pytest.mark.parametrize(
    "code",
    [
        "wrong_key",
        "no_credit",
        "not_found",
        "content_filter",
        "too_long",
        "cut_off",
        "refused_request",
        "stopped",
    ],
)
@in_virtual_time
async def test_asks_once_where_asking_again_is_in_vain(code):
    model = failing(99, code, hint="do this")

    with pytest.raises(ModelError) as caught:
        await retrying(model).complete(ASK)

    assert (code, "no", "do this", 1, 1) == (
        caught.value.code,
        caught.value.message,
        caught.value.hint,
        caught.value.tries,
        len(model.history),
    )


@in_virtual_time
async def test_the_last_failure_counts_the_tries():
    model = failing(99)

    with pytest.raises(ModelError, match=r"no \(after 3 tries\)") as caught:
        await retrying(model, replace(POLICY, max_failures=3)).complete(ASK)

    assert ("server_error", 3, 3) == (caught.value.code, caught.value.tries, len(model.history))


@in_virtual_time
async def test_a_server_that_was_never_reached_is_soon_given_up():
    model = failing(99, "unreachable")

    with pytest.raises(ModelError, match=r"no \(after 3 tries\)"):
        await retrying(model).complete(ASK)

    assert now() < 2


@in_virtual_time
async def test_only_the_time_limit_ends_rate_limits():
    model = failing(30, "rate_limited", retry_after=1)

    reply = await retrying(model, replace(POLICY, max_failures=3)).complete(ASK)

    assert 30 == reply.retries


@in_virtual_time
async def test_refusals_of_parameters_count_as_retries():
    model = ScriptedModel(lambda request: ChatReply("ok", retries=2))

    assert 2 == (await retrying(model).complete(ASK)).retries


@in_virtual_time
async def test_waits_as_long_as_the_server_asks():
    await retrying(failing(1, "rate_limited", retry_after=20)).complete(ASK)

    assert 20 <= now() <= 20 + POLICY.first_wait_s


@pytest.mark.parametrize("retry_after", [120.0, 1800.0])
@in_virtual_time
async def test_a_longer_wait_than_is_left_fails_at_once(retry_after):
    model = failing(99, "rate_limited", retry_after=retry_after)
    line = Line(Gate(1))

    with pytest.raises(ModelError, match=f"wait {retry_after:.0f} s") as caught:
        await retrying(model, line=line).complete(ASK)
    await retrying(failing(0), line=line).complete(ASK)

    assert 0 == now()
    assert (1, retry_after) == (len(model.history), caught.value.retry_after)
    assert "`options.timeout_s`" in str(caught.value.hint)


@in_virtual_time
async def test_the_time_limit_is_for_all_tries_and_waits_together():
    model = failing(999, "rate_limited")

    with pytest.raises(ModelError):
        await retrying(model, replace(POLICY, timeout_s=100)).complete(ASK)

    assert 70 <= now() <= 100
    assert len(model.history) < 15


@in_virtual_time
async def test_the_time_limit_ends_a_call_that_never_answers():
    class Never:
        async def complete(self, request):
            await asyncio.Event().wait()

    policy = replace(POLICY, max_failures=1)

    with pytest.raises(ModelError, match="120 s") as caught:
        await retrying(Never(), policy).complete(ASK)

    assert ("timeout", 120) == (caught.value.code, now())


class Slow:
    """Takes a minute."""

    async def complete(self, request):
        await asyncio.sleep(60)
        return ChatReply("ok")


@in_virtual_time
async def test_the_queue_does_not_use_up_the_time_of_a_call():
    model = retrying(Slow(), line=Line(Gate(1)))

    replies = await asyncio.gather(*(model.complete(ASK) for _ in range(6)))

    assert [0] * 6 == [reply.retries for reply in replies]
    assert 360 == now()


@in_virtual_time
async def test_one_call_told_to_wait_holds_the_others_back():
    line = Line(Gate(10))
    first = asyncio.create_task(
        retrying(failing(1, "rate_limited", retry_after=20), line=line).complete(ASK)
    )
    await asyncio.sleep(1)

    await retrying(failing(0), line=line).complete(ASK)

    assert 20 == now()
    await first


@in_virtual_time
async def test_no_slot_is_held_while_waiting():
    gate = Gate(1)
    waiting = asyncio.create_task(
        retrying(failing(1, "rate_limited", retry_after=20), line=Line(gate)).complete(ASK)
    )
    await asyncio.sleep(1)

    await retrying(failing(0), line=Line(gate)).complete(ASK)

    assert 1 == now()
    await waiting


@in_virtual_time
async def test_a_cancelled_call_ends_and_gives_its_place_back():
    line = Line(Gate(1))
    calls = [asyncio.create_task(retrying(Slow(), line=line).complete(ASK)) for _ in range(3)]
    await asyncio.sleep(1)
    for call in calls:
        call.cancel()

    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    assert [asyncio.CancelledError] * 3 == [type(outcome) for outcome in outcomes]
    assert "ok" == (await retrying(failing(0), line=line).complete(ASK)).text
    assert 1 == now()


@in_virtual_time
async def test_a_bug_inside_is_not_retried():
    model = ScriptedModel(lambda request: {}["bug"])

    with pytest.raises(KeyError):
        await retrying(model).complete(ASK)

    assert 1 == len(model.history)


@given(st.integers(1, 60), st.none() | st.floats(0, 100))
def test_waits_grow_but_stay_within_bounds(failed_tries, retry_after):
    wait = POLICY.wait_s(failed_tries, retry_after)

    if retry_after is None:
        full = min(POLICY.longest_wait_s, POLICY.first_wait_s * 2 ** (failed_tries - 1))
        assert full / 2 <= wait <= full
    else:
        assert retry_after <= wait <= retry_after + POLICY.first_wait_s
