"""What every target keeps to, whatever stands behind it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from azd_eval.domain.chat import ChatReply, ChatRequest
from azd_eval.domain.ports import Target, TargetRequest
from azd_eval.domain.task import Exchange
from azd_eval.errors import ModelError, TargetError
from azd_eval.providers.gate import Gate
from azd_eval.targets.callables import load_function
from azd_eval.targets.chat import ChatTarget
from azd_eval.targets.python import PythonTarget

# Each agent says what it was given, fails when told "fail", and dawdles differently per prompt.
AGENT = """
import time

def respond(prompt, history, instructions, context):
    if prompt == "fail":
        raise RuntimeError("no")
    time.sleep(len(prompt) % 3 / 100)
    said = [message["content"] for message in history]
    return "|".join([instructions, context or "", *said, prompt])
"""


class Echo:
    async def complete(self, request: ChatRequest) -> ChatReply:
        texts = [message.text for message in request.messages]
        if texts[-1] == "fail":
            raise ModelError("no", code="server_error")
        await asyncio.sleep(len(texts[-1]) % 3 / 100)
        return ChatReply("|".join(texts))


def _chat(folder: Path) -> Target:
    return ChatTarget(Echo())


def _python(folder: Path) -> Target:
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    return PythonTarget(load_function("agent.py:respond", folder), Gate(8), timeout_s=5)


@pytest.fixture(params=[_chat, _python])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    build: Callable[[Path], Target] = request.param
    return build(tmp_path)


async def test_everything_of_a_request_reaches_the_agent_in_order(target):
    history = (Exchange("first question", "first answer"),)
    request = TargetRequest("second question", "rules", history, context="facts")

    text = (await target.respond(request)).text

    wanted = ["rules", "facts", "first question", "first answer", "second question"]
    places = [text.index(part) for part in wanted]
    assert sorted(places) == places


async def test_braces_quotes_and_scripts_arrive_unchanged(target):
    hostile = '{prompt} {{ prompt }} %s \\n "quote" </script> \u2028 \U0001f600'

    reply = await target.respond(TargetRequest(hostile, hostile))

    assert 2 == reply.text.count(hostile)


async def test_failures_are_errors_of_the_measurement(target):
    with pytest.raises((TargetError, ModelError)):
        await target.respond(TargetRequest("fail", "rules"))


async def test_concurrent_requests_are_never_mixed_up(target):
    prompts = [f"question {'x' * number}" for number in range(30)]

    replies = await asyncio.gather(
        *(target.respond(TargetRequest(prompt, "rules")) for prompt in prompts)
    )

    assert prompts == [reply.text.rpartition("|")[2] for reply in replies]


async def test_nothing_is_remembered_between_requests(target):
    request = TargetRequest("question", "rules")

    texts = {(await target.respond(request)).text for _ in range(3)}

    assert 1 == len(texts)


async def test_latency_is_measured_in_milliseconds_and_never_negative(target):
    assert 0 <= (await target.respond(TargetRequest("question", "rules"))).latency_ms < 5000
