"""Ctrl-C: the first one lets what is in flight end, the second ends at once."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from types import FrameType
from typing import Any, TypeVar

from azd_eval.domain.stop import GRACE_S, StopSign

T = TypeVar("T")

INTERRUPTED = 130
REASON = "interrupted by Ctrl-C"
# A bar hides the cursor, and who ends at once does not get to show it again.
_SHOW_CURSOR = "\x1b[?25h"


def run_until_interrupted(work: Coroutine[Any, Any, T], stop: StopSign) -> T:
    """Run a coroutine to its end.

    The first Ctrl-C puts up the stop sign: no new work begins, calls in flight have ten seconds to
    end, then they are cancelled and `KeyboardInterrupt` is raised. The second ends the process at
    once; what was measured is on disk already.
    """
    with asyncio.Runner() as runner:
        loop = runner.get_loop()

        def heed(_: int, __: FrameType | None) -> None:
            signal.signal(signal.SIGINT, _end_at_once)
            stop.put_up(REASON)
            sys.stderr.write(
                f"\nstopping: {GRACE_S:.0f} s for the calls in flight; Ctrl-C again ends at once\n"
            )
            loop.call_soon_threadsafe(loop.call_later, GRACE_S, _cancel_all, loop)

        before = signal.signal(signal.SIGINT, heed)
        try:
            return runner.run(work)
        except asyncio.CancelledError as error:
            raise KeyboardInterrupt from error
        finally:
            signal.signal(signal.SIGINT, before)


def _end_at_once(_: int, __: FrameType | None) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(_SHOW_CURSOR)
        sys.stderr.flush()
    os._exit(INTERRUPTED)


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task.cancel()
