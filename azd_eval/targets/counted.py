"""Admit and count the calls of an agent that is no chat model of ours; keep its secrets."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any

from azd_eval.domain.ports import Target, TargetRequest
from azd_eval.domain.task import Reply
from azd_eval.errors import TargetError


@dataclass(frozen=True, slots=True)
class CountedTarget:
    """A target around a target.

    `admit` is asked before each turn, `bound` is held during it, and both may raise `ModelError`;
    `count` is told of each answer.
    What the agent says or raises passes through `redact`: it has our keys in its environment.
    """

    inner: Target
    admit: Callable[[], None]
    bound: Callable[[], AbstractAsyncContextManager[None]]
    count: Callable[[], None]
    redact: Callable[[str], str]

    async def respond(self, request: TargetRequest) -> Reply:
        self.admit()
        try:
            async with self.bound():
                reply = await self.inner.respond(request)
        except TargetError as error:
            raise TargetError(self.redact(error.message), hint=error.hint) from None
        self.count()
        evidence = _redact_tree(dict(reply.evidence), self.redact)
        return replace(reply, text=self.redact(reply.text), evidence=evidence)


def _redact_tree(tree: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(tree, dict):
        return {key: _redact_tree(value, redact) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_redact_tree(value, redact) for value in tree]
    return redact(tree) if isinstance(tree, str) else tree
