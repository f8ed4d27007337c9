"""The agent that is a chat model told the candidate's instructions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from azd_eval.domain.chat import ChatRequest, Message
from azd_eval.domain.ports import ChatModel, TargetRequest
from azd_eval.domain.task import Exchange, Reply
from azd_eval.prompts import fill


@dataclass(frozen=True, slots=True)
class ChatTarget:
    """Ask a chat model: instructions as its system message, then the conversation so far.

    The context of a task opens the first user message, whatever the turn: roles keep alternating,
    as many servers demand, and the turns of one task share their beginning in the prompt cache.
    Raises `ModelError` as the model does.
    """

    model: ChatModel
    parameters: Mapping[str, Any] = field(default_factory=dict)

    async def respond(self, request: TargetRequest) -> Reply:
        """Answer one turn."""
        answer = await self.model.complete(
            ChatRequest(
                messages=tuple(_messages(request)),
                purpose="agent",
                parameters=self.parameters,
                repeat=request.repeat,
            )
        )
        return Reply(
            text=answer.text,
            finish_reason=answer.finish_reason,
            latency_ms=answer.latency_ms,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            cached=answer.cached,
        )


def _messages(request: TargetRequest) -> list[Message]:
    messages = [Message("system", request.instructions)] if request.instructions.strip() else []
    opening = request.context
    for exchange in (*request.history, Exchange(request.prompt, "")):
        prompt = exchange.prompt
        if opening:
            prompt = fill("agent_context.md", {"context": opening, "prompt": prompt}).removesuffix(
                "\n"
            )
            opening = None
        messages += [Message("user", prompt), Message("assistant", exchange.reply)]
    return messages[:-1]
