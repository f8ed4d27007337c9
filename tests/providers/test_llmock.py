"""Our stack against LLMock, a server that gives faults and judges how its clients bear them."""

import asyncio

import pytest

from azd_eval.domain.chat import ChatRequest, Message, ReplySchema
from azd_eval.errors import ModelError
from azd_eval.structured import read_reply
from azd_eval.wiring.environment import Environment
from azd_eval.wiring.models import ModelPool, PoolOptions

VERDICT = ReplySchema(
    "verdict",
    {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "score": {"type": "integer"}},
        "required": ["reason", "score"],
        "additionalProperties": False,
    },
)


async def complete(llmock, *texts, schema=None, timeout_s=20.0):
    """Ask through the whole stack, all at once."""
    variables = {"OPENAI_BASE_URL": llmock.base_url(), "OPENAI_API_KEY": "any"}
    async with ModelPool(PoolOptions(Environment(variables), timeout_s=timeout_s)) as pool:
        requests = [ChatRequest((Message("user", text),), "judge", schema) for text in texts]
        replies = await asyncio.gather(*map(pool.model("m").complete, requests))
    return [reply.text for reply in replies]


@pytest.mark.parametrize("retry_after", [0.3, 0.8])
async def test_waits_as_long_as_it_is_asked_to(llmock, retry_after):
    llmock.rate_limit(times=2, retry_after=retry_after).reply("fine", times=None)

    assert ["fine"] == await complete(llmock, "hi")

    assert 3 == len(llmock.requests)
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("status", [408, 500, 529])
async def test_backs_off_from_what_may_go_away(llmock, status):
    llmock.fail(status, times=2).reply("fine", times=None)

    assert ["fine"] == await complete(llmock, "hi")

    assert 3 == len(llmock.requests)
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "refused_request"),
        (401, "wrong_key"),
        (402, "no_credit"),
        (403, "wrong_key"),
        (404, "not_found"),
        (422, "refused_request"),
    ],
)
async def test_asks_once_where_no_retry_helps(llmock, status, code):
    llmock.fail(status, times=None)

    with pytest.raises(ModelError) as caught:
        await complete(llmock, "hi")

    assert (code, 1) == (caught.value.code, len(llmock.requests))
    llmock.assert_resilient(strict=True)


async def test_a_prompt_that_is_too_long_is_not_sent_again(llmock):
    llmock.context_overflow(times=None)

    with pytest.raises(ModelError) as caught:
        await complete(llmock, "hi")

    assert ("too_long", 1) == (caught.value.code, len(llmock.requests))


async def test_the_time_limit_of_a_call_beats_a_slow_server(llmock):
    llmock.delay(2, times=None)

    with pytest.raises(ModelError, match=r"0\.2 s") as caught:
        await complete(llmock, "hi", timeout_s=0.2)

    assert "timeout" == caught.value.code


async def test_many_calls_through_many_faults_are_all_answered(llmock):
    llmock.rate_limit(times=8, retry_after=0.2).fail(500, times=6).fail(503, times=3)

    replies = await complete(llmock, *(f"question {number}" for number in range(40)))

    assert 40 == len(replies)
    assert all(replies)
    assert 40 + 17 == len(llmock.requests)
    llmock.assert_resilient()


async def test_an_outage_is_no_reason_for_a_storm(llmock):
    llmock.outage()

    with pytest.raises(ModelError, match="tries") as caught:
        await complete(llmock, "hi", timeout_s=3)

    assert "server_error" == caught.value.code
    assert 2 <= len(llmock.requests) <= 7
    llmock.assert_resilient()


async def test_json_of_a_schema_comes_and_can_be_read(llmock):
    (text,) = await complete(llmock, "judge this", schema=VERDICT)

    assert {"reason", "score"} == set(read_reply(text, dict))
