"""What was spent, fresh and cached and in vain, and what it costs."""

import pytest

from azd_eval.domain.chat import ChatReply, ChatRequest, Message, Usage
from azd_eval.errors import ModelError
from azd_eval.providers.meter import Meter
from azd_eval.providers.middleware import Metered
from tests.fakes import ScriptedModel


def spent(*entries):
    meter = Meter()
    for role, model, reply in entries:
        meter.count_reply(role, model, reply)
    return meter


def test_nothing_spent_is_nothing():
    assert Usage() == Meter().usage({})


def test_tells_fresh_from_cached_and_adds_up_by_role():
    fresh = ChatReply("", input_tokens=10, output_tokens=2, retries=3)
    cached = ChatReply("", input_tokens=99, output_tokens=99, cached=True)
    meter = spent(("agent", "a", fresh), ("judge", "b", fresh), ("judge", "b", cached))
    meter.count_call("agent", "module:function")

    assert Usage(
        calls=3,
        cached_calls=1,
        retries=6,
        input_tokens=20,
        output_tokens=4,
        calls_by_role={"agent": 2, "judge": 1},
    ) == meter.usage({})


@pytest.mark.parametrize(("tries", "retries"), [(0, 0), (1, 0), (4, 3)])
async def test_tries_after_the_first_are_retries_even_in_vain(tries, retries):
    meter = Meter()
    model = ScriptedModel(lambda request: ModelError("no", code="timeout", tries=tries))

    with pytest.raises(ModelError):
        await Metered(model, meter, "m").complete(ChatRequest((Message("user", "hi"),), "agent"))

    assert Usage(retries=retries, calls_by_role={"agent": 0}) == meter.usage({})


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        ({}, None),
        ({"a": (2.0, 8.0)}, None),
        ({"a": (2.0, 8.0), "b": (0.0, 1.0)}, 2.0 + 4.0 + 0.5),
        ({"a": (0.0, 0.0), "b": (0.0, 0.0)}, 0.0),
    ],
)
def test_a_cost_is_given_only_when_it_is_the_whole(prices, cost):
    reply = ChatReply("", input_tokens=1_000_000, output_tokens=500_000)
    meter = spent(("agent", "a", reply), ("judge", "b", reply))

    assert cost == meter.usage(prices).cost


def test_what_uses_no_tokens_needs_no_price():
    meter = Meter()
    meter.count_call("agent", "module:function")

    assert 0.0 == meter.usage({"judge": (1.0, 1.0)}).cost


async def test_failed_calls_count_their_further_tries_only():
    meter = Meter()
    model = Metered(ScriptedModel(lambda r: ModelError("no", code="timeout", tries=4)), meter, "m")

    with pytest.raises(ModelError):
        await model.complete(ChatRequest((Message("user", ""),), "judge"))

    assert Usage(retries=3, calls_by_role={"judge": 0}) == meter.usage({})
