"""Admit and count the calls of an agent that is no chat model of ours."""

from collections.abc import Callable
from dataclasses import dataclass

from azd_eval.domain.ports import Target, TargetRequest
from azd_eval.domain.task import Reply


@dataclass(frozen=True, slots=True)
class CountedTarget:
    """A target around a target.

    `admit` is asked before each turn and may raise `ModelError`; `count` is told of each answer.
    """

    inner: Target
    admit: Callable[[], None]
    count: Callable[[], None]

    async def respond(self, request: TargetRequest) -> Reply:
        self.admit()
        reply = await self.inner.respond(request)
        self.count()
        return reply
