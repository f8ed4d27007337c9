"""Limits of a run that the user sets: calls, tokens, cost, time."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from azd_eval.domain.chat import Usage
from azd_eval.domain.stop import GRACE_S, StopSign
from azd_eval.errors import ModelError


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be spent at most; None is no limit. `seconds` counts from the first call."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


@dataclass(slots=True, eq=False)
class _Share:
    """Calls set aside for one trial, and not made yet."""

    calls: int


# Each trial is an asyncio task of its own; the calls inside it find its share here.
_own_share: ContextVar[_Share | None] = ContextVar("own_share", default=None)


class Budget:
    """Admits calls while the limits allow it; then puts up the stop sign and refuses.

    Calls are counted when they are sent, each try by itself, so that their number is never
    exceeded. Tokens and cost are known only afterwards: what is in flight when their limit is
    reached still comes on top. At the limit of time, what is in flight has ten seconds to end.
    """

    def __init__(self, limits: Limits, usage: Callable[[], Usage], stop: StopSign) -> None:
        self._limits = limits
        self._usage = usage
        self._stop = stop
        self._admitted = 0
        self._shares: set[_Share] = set()
        self._is_returned = asyncio.Condition()
        self._started = time.monotonic()

    @asynccontextmanager
    async def reserve(self, calls: int) -> AsyncIterator[None]:
        """Set the calls of a trial aside, so that what is begun can be ended.

        While there are too few, wait for others to give back what they did not need; the last one
        gets what is left. Calls beyond the share (a retry, a repair) are taken from the rest.
        """
        if self._limits.calls is None:
            yield
            return
        async with self._is_returned:
            await self._is_returned.wait_for(lambda: not self._shares or self._left() >= calls)
        share = _Share(min(calls, self._left()))
        self._shares.add(share)
        _own_share.set(share)
        try:
            yield
        finally:
            self._shares.discard(share)
            share.calls = 0
            async with self._is_returned:
                self._is_returned.notify_all()

    def admit(self) -> None:
        """Let one call through; raises `ModelError` (`stopped`) when no more may be made."""
        self.check()
        share = _own_share.get()
        if share is not None and share.calls:
            share.calls -= 1
        self._admitted += 1

    def check(self) -> None:
        """Raise as `admit` would, and count nothing: for who waits before a call."""
        share = _own_share.get()
        is_reserved = share is not None and share.calls > 0
        if not self._stop.is_up and (reason := self._find_reached(is_reserved=is_reserved)):
            self._stop.put_up(reason)
        if self._stop.reason and not (is_reserved and self._stop.reason == self._word_calls()):
            raise ModelError(self._stop.reason, code="stopped", tries=0)

    @asynccontextmanager
    async def bound(self) -> AsyncIterator[None]:
        """Cut off what outlasts the limit of time; raises `ModelError` (`stopped`)."""
        if self._limits.seconds is None:
            yield
            return
        left = self._started + self._limits.seconds + GRACE_S - time.monotonic()
        try:
            async with asyncio.timeout(left) as limit:
                yield
        except TimeoutError as error:
            if not limit.expired():
                raise
            self._stop.put_up(self._word_seconds())
            raise ModelError(self._word_seconds(), code="stopped", tries=0) from error

    def _left(self) -> int:
        """Count the calls that nobody has made or set aside."""
        reserved = sum(share.calls for share in self._shares)
        return (self._limits.calls or 0) - self._admitted - reserved

    def _word_calls(self) -> str:
        return f"the limit of {self._limits.calls} calls is reached"

    def _word_seconds(self) -> str:
        return f"the limit of {self._limits.seconds:g} s is reached"

    def _find_reached(self, *, is_reserved: bool) -> str | None:
        limits = self._limits
        if limits.calls is not None and not is_reserved and self._left() <= 0:
            return self._word_calls()
        if limits.seconds is not None and time.monotonic() - self._started >= limits.seconds:
            return self._word_seconds()
        if limits.tokens is None and limits.cost is None:
            return None
        usage = self._usage()
        if limits.tokens is not None and usage.input_tokens + usage.output_tokens >= limits.tokens:
            return f"the limit of {limits.tokens} tokens is reached"
        if limits.cost is not None and usage.cost is not None and usage.cost >= limits.cost:
            return f"the limit of {limits.cost:g} in cost is reached"
        return None
