"""An event loop whose clock jumps: waits of minutes take no time, and end exactly when due.

@in_virtual_time
async def test_…():
    await asyncio.sleep(60)
    assert 60 == now()
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for nothing: as soon as there is nothing to do, it is later."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("everything waits, for ever")
        if not ready and timeout is not None:
            self.now += max(0.0, timeout)
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def in_virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in a loop of its own, which begins at second 0."""

    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
            runner.run(test(*args, **kwargs))

    return run


def now() -> float:
    """Tell the time of the running loop, in seconds."""
    return asyncio.get_running_loop().time()
