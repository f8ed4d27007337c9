"""What every chat model keeps to, whatever stands behind it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import pytest

from azd_eval.config import ModelConfig
from azd_eval.domain.chat import ChatReply, ChatRequest, Message
from azd_eval.domain.ports import ChatModel
from azd_eval.errors import ModelError
from azd_eval.providers.endpoint import Endpoint
from azd_eval.providers.gate import Gate, Line
from azd_eval.providers.meter import Meter
from azd_eval.providers.middleware import Cached, Metered, Retrying, RetryPolicy
from azd_eval.providers.offline import OfflineModel
from azd_eval.providers.openai import OpenAIModel
from azd_eval.storage.reply_cache import SqliteReplyCache
from azd_eval.wiring.environment import Environment
from azd_eval.wiring.models import ModelPool, PoolOptions
from tests.fake_openai import CutBody, FakeOpenAI, FakeRequest, Status
from tests.fakes import ScriptedModel

FAIL = "fail"


@dataclass
class Workshop:
    """What the builders of models need; everything ends with the test."""

    server: FakeOpenAI
    folder: Path
    open: AsyncExitStack

    def openai(self, kind="openai") -> OpenAIModel:
        is_azure = kind == "azure"
        base_url = self.server.root_url if is_azure else self.server.base_url
        version = "2024-10-21" if is_azure else None
        model = OpenAIModel(Endpoint("m", "m", base_url, kind, "k", api_version=version))
        self.open.push_async_callback(model.aclose)
        return model


def answer(request: FakeRequest):
    """Answer slowly to some, and fail where asked to, in a way of its own."""
    text = request.user
    faults = [Status(400), Status(401), CutBody()]
    return faults[len(text) % 3] if text.startswith(FAIL) else f"{request.system}|{text}"


def scripted(request: ChatRequest) -> str | ModelError:
    system, user = (message.text for message in request.messages)
    if user.startswith(FAIL):
        return ModelError("no", code="refused_request")
    return f"{system}|{user}"


def build_pool(shop: Workshop) -> ChatModel:
    environment = Environment({"OPENAI_BASE_URL": shop.server.base_url})
    # The time limit of a call ends its retries after a second or so.
    options = PoolOptions(environment, {"m": ModelConfig()}, 5, 2, cache=shop.folder / "c.db")
    pool = ModelPool(options)
    shop.open.push_async_exit(pool)
    return pool.model("m")


def build_cached(shop: Workshop) -> ChatModel:
    cache = SqliteReplyCache(shop.folder / "cache.db")
    shop.open.callback(cache.close)
    return Cached(shop.openai(), cache, "m")


BUILDERS: dict[str, Callable[[Workshop], ChatModel]] = {
    "openai": Workshop.openai,
    "azure": lambda shop: shop.openai("azure"),
    "cached": build_cached,
    "retrying": lambda shop: Retrying(
        shop.openai(), Line(Gate(3)), RetryPolicy(max_failures=2, first_wait_s=0.001)
    ),
    "metered": lambda shop: Metered(shop.openai(), Meter(), "m"),
    "pool": build_pool,
    "offline": lambda shop: OfflineModel(),
    "scripted": lambda shop: ScriptedModel(scripted),
}


@pytest.fixture(params=BUILDERS)
async def model(
    request: pytest.FixtureRequest, fake_openai: Callable[..., FakeOpenAI], tmp_path
) -> AsyncIterator[ChatModel]:
    async with AsyncExitStack() as stack:
        yield BUILDERS[request.param](Workshop(fake_openai(answer), tmp_path, stack))


def ask(user: str, system: str = "Refunds take 30 days.", **parameters) -> ChatRequest:
    messages = (Message("system", system), Message("user", user))
    return ChatRequest(messages, "agent", parameters=MappingProxyType(parameters))


async def test_answers_with_a_whole_reply(model):
    reply = await model.complete(ask("How long do refunds take?", temperature=0))

    assert isinstance(reply, ChatReply)
    assert reply.text
    assert "stop" == reply.finish_reason
    assert min(reply.input_tokens, reply.output_tokens, reply.latency_ms, reply.retries) >= 0


async def test_calls_at_one_moment_do_not_get_each_others_answers(model):
    requests = [ask(f"refunds {n}", f"Refunds {n} take {n} days.") for n in range(12)]

    alone = [(await model.complete(request)).text for request in requests]
    together = await asyncio.gather(*(model.complete(request) for request in requests))

    assert alone == [reply.text for reply in together]
    assert len(requests) == len(set(alone))


@pytest.mark.parametrize(
    "text", ["", "{x} {{y}} %s ${Z}", "</s>\n```json\n{", "\u2028 \u0000 \U0001f600"]
)
async def test_any_text_is_a_question(model, text):
    assert isinstance((await model.complete(ask(text))).text, str)


async def test_failures_are_model_errors(model):
    for text in ("fail", "fail!", "fail!!"):
        with pytest.raises(ModelError):
            # The offline engine answers every question, but not as a judge.
            await model.complete(replace(ask(text), purpose="judge"))

    assert (await model.complete(ask("refunds, then"))).text


async def test_a_cancelled_call_leaves_the_model_usable(model):
    call = asyncio.create_task(model.complete(ask("refunds, cancelled")))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)

    assert (await model.complete(ask("refunds, again"))).text
