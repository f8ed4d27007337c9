"""Call the user's function to its end; whatever it raises is a `TargetError`."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future

from azd_eval.errors import TargetError
from azd_eval.targets.callables import PythonFunction, describe_exception


async def call_function(
    function: PythonFunction, fields: Mapping[str, object], timeout_s: float
) -> object:
    """Call a function, sync (in a thread of its own) or async, with the fields that it takes.

    Awaitables are awaited; what a generator yields must be text and is joined. A thread cannot be
    killed: after `timeout_s` it is left to itself and its result is dropped; it does not keep the
    process alive. Raises `TargetError` and nothing else.
    """
    try:
        async with asyncio.timeout(timeout_s):
            return await _call(function, function.bind(fields))
    except TimeoutError as error:
        raise TargetError(
            f"`{function.name}` gave no reply within {timeout_s:g} s",
            hint="raise `options.timeout_s`, or look for a call that hangs",
        ) from error


async def _call(function: PythonFunction, call: Callable[[], object]) -> object:
    try:
        if _is_async(function.call):
            value = call()
        else:
            value = await asyncio.wrap_future(_start_thread(lambda: _finish(function, call)))
        if inspect.isawaitable(value):
            value = await value
        return _join([piece async for piece in value]) if inspect.isasyncgen(value) else value
    except TargetError:
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise _blame(function, error) from error
    # The user's code may raise anything. Ctrl-C does not come this way: it cancels.
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        raise _blame(function, error) from error


def _finish(function: PythonFunction, call: Callable[[], object]) -> object:
    """Call a sync function, and walk its generator in the same thread."""
    try:
        value = call()
        return _join(value) if inspect.isgenerator(value) else value
    except TargetError:
        raise
    except BaseException as error:  # what a thread raises is its own, even an interrupt
        raise _blame(function, error) from error


def _blame(function: PythonFunction, error: BaseException) -> TargetError:
    return TargetError(f"`{function.name}` raised {describe_exception(error, function.folder)}")


def _is_async(function: Callable[..., object]) -> bool:
    return any(
        inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call)
        for call in (function, type(function).__call__)
    )


def _start_thread(work: Callable[[], object]) -> Future[object]:
    """Run `work` in a daemon thread: one that hangs must not keep the program from ending."""
    future: Future[object] = Future()
    future.set_running_or_notify_cancel()  # from here on, cancelling the wait leaves it alone
    context = contextvars.copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except TargetError as error:
            future.set_exception(error)

    threading.Thread(target=run, name="azd-eval-agent", daemon=True).start()
    return future


def _join(pieces: Iterable[object]) -> str:
    return "".join(_checked(piece) for piece in pieces)


def _checked(piece: object) -> str:
    if not isinstance(piece, str):
        raise TargetError(f"the agent yielded {name_type(piece)}, not text")
    return piece


def name_type(value: object) -> str:
    """Name the type of what the user's code gave, for a message."""
    return "None" if value is None else f"a value of type {type(value).__name__}"
