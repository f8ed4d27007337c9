"""The messages that a model agent is sent, and what becomes of its answer."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.chat import ChatReply, ChatRequest, Message
from azd_eval.domain.ports import TargetRequest
from azd_eval.domain.task import Exchange, Reply
from azd_eval.targets.chat import ChatTarget, split_reasoning


@dataclass
class Recorder:
    reply: ChatReply = field(default_factory=lambda: ChatReply("fine"))
    requests: list[ChatRequest] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        return self.reply


async def _sent(request: TargetRequest) -> ChatRequest:
    model = Recorder()
    await ChatTarget(model, {"temperature": 0.2}).respond(request)
    return model.requests[0]


async def test_a_turn_is_sent_with_instructions_history_and_parameters():
    history = (Exchange("hi", "hello"), Exchange("how are you?", "well"))
    request = TargetRequest("bye", "Be {kind}.", history=history, repeat=3)

    expected = ChatRequest(
        messages=(
            Message("system", "Be {kind}."),
            Message("user", "hi"),
            Message("assistant", "hello"),
            Message("user", "how are you?"),
            Message("assistant", "well"),
            Message("user", "bye"),
        ),
        purpose="agent",
        parameters={"temperature": 0.2},
        repeat=3,
    )
    assert expected == await _sent(request)


@pytest.mark.parametrize("instructions", ["", " \n"])
async def test_without_instructions_there_is_no_system_message(instructions):
    sent = await _sent(TargetRequest("hi", instructions))

    assert (Message("user", "hi"),) == sent.messages


@pytest.mark.parametrize("history", [(), (Exchange("hi", "hello"),)])
async def test_context_opens_the_conversation_and_is_filled_only_once(history):
    request = TargetRequest("{{ context }}\n", "", history=history, context="<{{ prompt }}>")

    users = [message.text for message in (await _sent(request)).messages if message.role == "user"]

    assert [1] + [0] * len(history) == [text.count("<{{ prompt }}>") for text in users]
    assert users[-1].endswith("{{ context }}\n")


async def test_the_answer_is_passed_on_with_what_it_cost():
    model = Recorder(ChatReply("half", "length", 10, 20, 30.0, retries=1, cached=True))

    reply = await ChatTarget(model).respond(TargetRequest("hi", ""))

    assert Reply("half", "length", 30.0, 10, 20, cached=True) == reply


_pieces = st.sampled_from(["<think>", "</think>", "<Reasoning>", "</reasoning>", "\n", " ", "so"])


@given(st.lists(_pieces, max_size=12).map("".join), st.booleans())
def test_reasoning_and_rest_are_the_whole_reply(text, is_cut):
    reasoning, rest = split_reasoning(text, is_cut=is_cut)

    assert text == reasoning + rest
    assert not reasoning or "<" in reasoning


@given(st.text())
def test_a_reply_without_tags_is_no_reasoning(text):
    text = text.replace("<", "")

    assert ("", text) == split_reasoning(text, is_cut=True)
