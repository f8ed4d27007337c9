"""Counting, remembering and trying again, around scripted models and around the real client."""

import asyncio
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.chat import ChatReply, ChatRequest, Message, ReplySchema
from azd_eval.errors import ModelError
from azd_eval.providers.endpoint import Endpoint
from azd_eval.providers.gate import Gate, Line
from azd_eval.providers.meter import Meter
from azd_eval.providers.middleware import (
    Cached,
    Metered,
    Retrying,
    RetryPolicy,
    is_worth_keeping,
    request_key,
)
from azd_eval.providers.openai import OpenAIModel
from tests.fake_openai import Body, CutBody, Disconnect, Drip, Hang, Status
from tests.fakes import ScriptedModel

QUICK = RetryPolicy(timeout_s=5, first_wait_s=0.001, longest_wait_s=0.004)


def ask(text="hi", **fields):
    return ChatRequest((Message("user", text),), "judge", **fields)


class MemoryCache(dict):
    def put(self, key, reply):
        self[key] = reply


def failing(times, code="server_error", **fields):
    """Answer after some failures."""
    left = iter([ModelError("no", code=code, **fields)] * times)
    return ScriptedModel(lambda request: next(left, "ok"))


def retrying(model, policy=QUICK, line=None):
    return Retrying(model, line or Line(Gate(10)), policy)


class TestOverHTTP:
    """The stack around the real client."""

    @staticmethod
    async def run(server, policy=QUICK):
        client = OpenAIModel(Endpoint("m", "m", server.base_url, api_key="k"))
        meter = Meter()
        model = Metered(retrying(client, policy), meter, "m")
        try:
            return await model.complete(ask()), meter.usage({})
        finally:
            await client.aclose()

    @pytest.mark.parametrize(
        "fault",
        [
            Status(429),
            Status(500),
            Status(503, headers={"retry-after-ms": "5"}),
            Status(408),
            Status(409),
            Body(),
            Body("<html></html>", "text/html"),
            CutBody(),
            Disconnect(),
        ],
    )
    async def test_survives_a_fault(self, fake_openai, fault):
        server = fake_openai(lambda request: fault if request.nth < 3 else "fine")

        reply, usage = await self.run(server)

        assert ("fine", 3) == (reply.text, len(server.calls))
        assert (1, 2) == (usage.calls, usage.retries)

    @pytest.mark.parametrize("fault", [Hang(), Drip(0.1)])
    async def test_the_time_limit_beats_silence_and_slow_drips(self, fake_openai, fault):
        server = fake_openai(lambda request: fault)
        started = time.monotonic()

        with pytest.raises(ModelError, match=r"0\.3 s") as caught:
            await self.run(server, replace(QUICK, timeout_s=0.3))

        assert "timeout" == caught.value.code
        # The whole reply would drip for half a minute.
        assert time.monotonic() - started < 15
        assert 1 == len(server.calls)

    async def test_a_wrong_key_is_tried_once(self, fake_openai):
        server = fake_openai(lambda request: Status(401))

        with pytest.raises(ModelError):
            await self.run(server)

        assert 1 == len(server.calls)

    async def test_no_more_calls_fly_than_the_gate_lets_through(self, fake_openai):
        server = fake_openai(
            lambda request: Status(500) if request.nth == 1 else "ok", latency=0.01
        )
        clients = [OpenAIModel(Endpoint("m", "m", server.base_url)) for _ in range(2)]
        gate = Gate(4)
        models = [retrying(client, line=Line(gate)) for client in clients]

        await asyncio.gather(*(models[n % 2].complete(ask(str(n))) for n in range(40)))
        for client in clients:
            await client.aclose()

        assert 80 == len(server.calls)
        assert 4 == server.most_in_flight


class TestCached:
    async def test_asks_once_and_says_so(self):
        model = ScriptedModel(lambda request: ChatReply("ok", retries=2, output_tokens=7))
        cached = Cached(model, MemoryCache(), "m")

        first, second = [await cached.complete(ask()) for _ in range(2)]

        assert (False, True) == (first.cached, second.cached)
        assert ("ok", 0, 7, 1) == (
            second.text,
            second.retries,
            second.output_tokens,
            len(model.history),
        )

    async def test_equal_questions_at_one_moment_are_one_call(self):
        class Slow(ScriptedModel):
            async def complete(self, request):
                await asyncio.sleep(0.01)
                return await super().complete(request)

        model = Slow()
        cached = Cached(model, MemoryCache(), "m")

        replies = await asyncio.gather(*(cached.complete(ask(str(n % 2))) for n in range(10)))

        assert 2 == len(model.history)
        assert 8 == sum(reply.cached for reply in replies)

    async def test_a_failure_is_not_kept_and_does_not_stick(self):
        cached = Cached(failing(1), MemoryCache(), "m")

        with pytest.raises(ModelError):
            await cached.complete(ask())

        assert not (await cached.complete(ask())).cached

    @pytest.mark.parametrize(
        ("reply", "schema", "expected"),
        [
            (ChatReply("ok"), None, True),
            (ChatReply("ok", finish_reason="length"), None, False),
            (ChatReply("ok", finish_reason="tool_calls"), None, False),
            (ChatReply(""), None, False),
            (ChatReply(" \n"), None, False),
            (ChatReply('Sure: {"score": 1}'), ReplySchema("v", {}), True),
            (ChatReply("I cannot judge this"), ReplySchema("v", {}), False),
            (ChatReply('{"score": 1, "rea'), ReplySchema("v", {}), False),
        ],
    )
    def test_keeps_complete_and_usable_answers_only(self, reply, schema, expected):
        assert expected == is_worth_keeping(reply, ask(schema=schema))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)
MAPPINGS = st.dictionaries(st.text(max_size=3), JSON, max_size=3)


def turned_round(value):
    """Reverse the order of all keys."""
    if not isinstance(value, dict):
        return value
    return {key: turned_round(inner) for key, inner in reversed(value.items())}


class TestRequestKey:
    @given(MAPPINGS, MAPPINGS)
    def test_the_order_of_keys_does_not_matter(self, parameters, body):
        one = ask(parameters=parameters, schema=ReplySchema("s", body))
        other = ask(
            parameters=turned_round(parameters), schema=ReplySchema("s", turned_round(body))
        )

        assert request_key("m", one) == request_key("m", other)

    @given(st.text(), st.text())
    def test_any_change_of_a_text_matters(self, one, other):
        keys = {
            request_key(identity, ChatRequest(messages, "agent", ReplySchema(name, {})))
            for identity, messages, name in [
                ("m", (Message("user", one),), "s"),
                ("m", (Message("user", other),), "s"),
                (f"m{one}x", (Message("user", one),), "s"),
                ("m", (Message("user", one),), f"s{one}x"),
                ("m", (Message("system", one),), "s"),
                ("m", (Message("user", one), Message("user", "")), "s"),
            ]
        }

        assert 5 + (one != other) == len(keys)

    @pytest.mark.parametrize(
        "change",
        [
            {"parameters": {"temperature": 0.9}},
            {"parameters": {"reasoning_effort": "low"}},
            {"schema": ReplySchema("v", {})},
            {"schema": ReplySchema("v", {"type": "object"})},
            {"repeat": 1},
        ],
    )
    def test_all_that_changes_the_answer_matters(self, change):
        assert request_key("m", ask()) != request_key("m", replace(ask(), **change))

    def test_the_role_of_the_question_does_not_matter(self):
        assert request_key("m", ask()) == request_key("m", replace(ask(), purpose="agent"))

    def test_endpoints_that_differ_only_in_parameters_differ(self):
        one = Endpoint("m", "m", "http://h/v1", parameters={"temperature": 0})

        keys = {
            request_key(endpoint.identity, ask())
            for endpoint in (
                one,
                replace(one, parameters={}),
                replace(one, model="n"),
                replace(one, base_url="http://other/v1"),
                replace(one, api_version="2024-10-21"),
            )
        }

        assert 5 == len(keys)
        assert one.identity == replace(one, name="alias", api_key="another").identity
