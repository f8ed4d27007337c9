"""How many calls are in flight, and when an endpoint wants to be left alone."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from azd_eval.domain.ports import CallGate


class Gate:
    """Bounds the calls in flight, over all roles and endpoints of a run. Belongs to one loop."""

    def __init__(self, limit: int) -> None:
        self._slots = asyncio.Semaphore(limit)

    def slot(self) -> AbstractAsyncContextManager[None]:
        return self._slots


class Line:
    """The way to one endpoint: a slot of the gate, and none while the endpoint asks for a pause.

    Shared by all models of the endpoint, so that one 429 slows all of them down.
    """

    def __init__(self, gate: CallGate) -> None:
        self._gate = gate
        self._opens_at = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for the end of the pause, then for a slot; a slot is never held while waiting."""
        while True:
            await asyncio.sleep(max(0.0, self._opens_at - time.monotonic()))
            async with self._gate.slot():
                # The pause may have begun while we stood in the queue for the slot.
                if self._opens_at <= time.monotonic():
                    yield
                    return

    def pause(self, seconds: float) -> None:
        """Let no call through for some time."""
        self._opens_at = max(self._opens_at, time.monotonic() + seconds)
