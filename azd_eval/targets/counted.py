"""Count the calls of an agent that is no chat model of ours."""

from collections.abc import Callable
from dataclasses import dataclass

from azd_eval.domain.ports import Target, TargetRequest
from azd_eval.domain.task import Reply


@dataclass(frozen=True, slots=True)
class CountedTarget:
    """A target around a target; `count` is called for each turn that was answered."""

    inner: Target
    count: Callable[[], None]

    async def respond(self, request: TargetRequest) -> Reply:
        reply = await self.inner.respond(request)
        self.count()
        return reply
