"""The agent that is a chat model told the candidate's instructions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from azd_eval.domain.chat import ChatRequest, Message
from azd_eval.domain.ports import ChatModel, TargetRequest
from azd_eval.domain.task import Exchange, Reply
from azd_eval.prompts import fill

_TAG = r"(think|thinking|thought|reasoning)"
_REASONING = re.compile(rf"(?:\s*<{_TAG}>.*?</\1>)+\s*", re.DOTALL | re.IGNORECASE)
# Some servers take the tag that begins a thought for a part of the prompt; then a reply follows.
_BARE_END = re.compile(rf".*?^</{_TAG}>[ \t]*$\s*(?=\S)", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_UNENDED = re.compile(rf"\s*<{_TAG}>.*", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChatTarget:
    """Ask a chat model: instructions as its system message, then the conversation so far.

    The context of a task opens the first user message, whatever the turn: roles keep alternating,
    as many servers demand, and the turns of one task share their beginning in the prompt cache.
    Reasoning that a reply begins with is no part of what a user reads: it is kept as evidence, and
    neither judged nor said again. Raises `ModelError` as the model does.
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
        reasoning, text = split_reasoning(answer.text, is_cut=answer.finish_reason == "length")
        return Reply(
            text=text,
            finish_reason=answer.finish_reason,
            latency_ms=answer.latency_ms,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            cached=answer.cached,
            evidence={"reasoning": reasoning} if reasoning else {},
        )


def split_reasoning(text: str, *, is_cut: bool = False) -> tuple[str, str]:
    """Split a reply into the reasoning that it begins with, tags included, and the rest.

    Reasoning stands between tags; where the first is missing, the last stands alone on a line, and
    where the reply was cut off (`is_cut`), the last may be missing.
    """
    found = _REASONING.match(text) or _BARE_END.match(text)
    if found is None and is_cut:
        found = _UNENDED.match(text)
    end = found.end() if found else 0
    return text[:end], text[end:]


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
