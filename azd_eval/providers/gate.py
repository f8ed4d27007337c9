"""How many calls are in flight, and when an endpoint wants to be left alone."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from azd_eval.errors import ModelError
from azd_eval.providers.pace import Pace

_ANSWERS_PER_PLACE = 3
_LONG_WAIT_S = 5.0
_CHECK_EVERY_S = 1.0


class Gate:
    """Bounds the calls in flight, over all roles and endpoints of a run. Belongs to one loop."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._slots = asyncio.Semaphore(limit)

    def slot(self) -> AbstractAsyncContextManager[None]:
        return self._slots


class Line:
    """The way to one endpoint, shared by all its models: calls go one after the other.

    How many may be in flight follows from how the endpoint bears it: a refusal takes its place
    away, three answers give one back. So the limit of a server is found within one burst, while a
    server that refuses at random, up to a call in four, keeps its speed; halving would not.

    A refusal that asks for a pause closes the line, until the pause is over or another call is
    answered: then the endpoint is not closed, only that call has to wait. `tell` hears of pauses
    worth telling, once each. `check` is asked during every wait and raises to end it.
    """

    def __init__(
        self,
        gate: Gate,
        tell: Callable[[str], None] = lambda _: None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.pace = Pace()
        self._gate = gate
        self._tell = tell
        self._check = check
        self._credit = gate.limit * _ANSWERS_PER_PLACE
        self._in_flight = 0
        self._opens_at = 0.0
        self._told_until = 0.0
        self._head = asyncio.Lock()
        self._news = asyncio.Event()

    @asynccontextmanager
    async def slot(self, tokens: float = 0.0) -> AsyncIterator[None]:
        """Wait for one's turn, then for a slot of the gate; a slot is never held while waiting."""
        while True:
            async with self._head:
                await self._wait_for_turn()
                self._in_flight += 1
                self.pace.take(tokens, _now())
            try:
                async with self._gate.slot():
                    # A pause may have begun while we stood in the queue for the slot.
                    if self._opens_at <= _now():
                        yield
                        return
            finally:
                self._in_flight -= 1
                self._news.set()

    def note_answer(self, more_tokens: float = 0.0) -> None:
        """Learn that a call was answered, and how many tokens more than foreseen it took."""
        self.pace.correct(more_tokens)
        self._credit = min(self._gate.limit * _ANSWERS_PER_PLACE, self._credit + 1)
        self._opens_at = 0.0
        self._news.set()

    def note_refusal(self, error: ModelError) -> None:
        """Learn that a call was refused for now, and for how long."""
        self._credit = max(_ANSWERS_PER_PLACE, self._credit - _ANSWERS_PER_PLACE)
        wait, now = error.retry_after or 0.0, _now()
        self._opens_at = max(self._opens_at, now + wait)
        if wait > _LONG_WAIT_S and now >= self._told_until:
            self._told_until = now + wait
            self._tell(f"{error.message}; waiting {wait:.0f} s")

    async def wait(self, seconds: float) -> None:
        """Wait before another try."""
        ends_at = _now() + seconds
        while (left := ends_at - _now()) > 0:
            self._check()
            await asyncio.sleep(min(left, _CHECK_EVERY_S))

    async def _wait_for_turn(self) -> None:
        while (wait := self._find_wait()) > 0:
            self._check()
            self._news.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(wait, _CHECK_EVERY_S)):
                    await self._news.wait()

    def _find_wait(self) -> float:
        if self._in_flight >= self._credit // _ANSWERS_PER_PLACE:
            return math.inf
        return max(self._opens_at, self.pace.opens_at) - _now()


def _now() -> float:
    return asyncio.get_running_loop().time()
