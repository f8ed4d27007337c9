"""Chat models for tests that need no server."""

from collections.abc import Callable
from dataclasses import dataclass, field

from azd_eval.domain.chat import ChatReply, ChatRequest
from azd_eval.errors import ModelError


@dataclass
class ScriptedModel:
    """Answers as a function of the request, and remembers what it was asked.

    `respond` returns the text or the whole reply, or an error, which is raised.
    """

    respond: Callable[[ChatRequest], str | ChatReply | ModelError] = lambda request: "ok"
    history: list[ChatRequest] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.history.append(request)
        answer = self.respond(request)
        if isinstance(answer, ModelError):
            raise answer
        return answer if isinstance(answer, ChatReply) else ChatReply(answer)
