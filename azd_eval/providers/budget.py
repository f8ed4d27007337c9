"""Limits of a run that the user sets: calls, tokens, cost, time."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from azd_eval.domain.chat import ChatReply, ChatRequest, Usage
from azd_eval.domain.ports import ChatModel
from azd_eval.domain.stop import StopSign
from azd_eval.errors import ModelError


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be spent at most; None is no limit. `seconds` counts from the first call."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


class Budget:
    """Admits calls while the limits allow it; then puts up the stop sign and refuses.

    Calls are counted when they start, so that their number is never exceeded. Tokens and cost are
    known only afterwards: what is in flight when their limit is reached still comes on top.
    """

    def __init__(self, limits: Limits, usage: Callable[[], Usage], stop: StopSign) -> None:
        self._limits = limits
        self._usage = usage
        self._stop = stop
        self._admitted = 0
        self._started = time.monotonic()

    def admit(self) -> None:
        """Let one call through; raises `ModelError` (`stopped`) when no more may be made."""
        if not self._stop.is_up and (reason := self._find_reached()):
            self._stop.put_up(reason)
        if self._stop.reason is not None:
            raise ModelError(self._stop.reason, code="stopped")
        self._admitted += 1

    def _find_reached(self) -> str | None:
        limits = self._limits
        if limits.calls is not None and self._admitted >= limits.calls:
            return f"the limit of {limits.calls} calls is reached"
        if limits.seconds is not None and time.monotonic() - self._started >= limits.seconds:
            return f"the limit of {limits.seconds:g} s is reached"
        if limits.tokens is None and limits.cost is None:
            return None
        usage = self._usage()
        if limits.tokens is not None and usage.input_tokens + usage.output_tokens >= limits.tokens:
            return f"the limit of {limits.tokens} tokens is reached"
        if limits.cost is not None and usage.cost is not None and usage.cost >= limits.cost:
            return f"the limit of {limits.cost:g} in cost is reached"
        return None


@dataclass(frozen=True, slots=True)
class Budgeted:
    """A chat model that asks the budget before each call."""

    inner: ChatModel
    budget: Budget

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.budget.admit()
        return await self.inner.complete(request)
