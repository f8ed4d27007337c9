"""The agent that is the user's own Python function."""

import asyncio
import contextvars
import inspect
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass

from azd_eval.domain.ports import CallGate, TargetRequest
from azd_eval.domain.task import Reply
from azd_eval.errors import TargetError
from azd_eval.targets.callables import PythonFunction, describe_exception


@dataclass(frozen=True, slots=True)
class PythonTarget:
    """Call a function, sync (each call in a thread of its own) or async.

    The function gets what its parameters ask for: `prompt`, `history` (messages with `role` and
    `content`), `instructions`, `context`. It returns text, a mapping with `output`, other JSON data
    (shown as JSON), or yields pieces of text; an awaitable of these will do.

    `timeout_s` bounds one call. A thread cannot be killed: after the limit it is left to itself and
    its result is dropped; it does not keep the process alive.
    """

    function: PythonFunction
    gate: CallGate
    timeout_s: float

    async def respond(self, request: TargetRequest) -> Reply:
        """Answer one turn."""
        call = self.function.bind(
            {
                "prompt": request.prompt,
                "history": _messages(request),
                "instructions": request.instructions,
                "context": request.context,
            }
        )
        async with self.gate.slot():
            started = time.perf_counter()
            try:
                async with asyncio.timeout(self.timeout_s):
                    value = await self._call(call)
            except TimeoutError as error:
                raise TargetError(
                    f"`{self.function.name}` gave no reply within {self.timeout_s:g} s",
                    hint="raise `options.timeout_s`, or look for a call that hangs",
                ) from error
            elapsed_ms = (time.perf_counter() - started) * 1000
        return Reply(text=self._render(value), latency_ms=elapsed_ms)

    async def _call(self, call: Callable[[], object]) -> object:
        """Run the user's code to its end; whatever it raises is a `TargetError`."""
        try:
            if _is_async(self.function.call):
                value = call()
            else:
                value = await asyncio.wrap_future(_start_thread(lambda: self._finish(call)))
            if inspect.isawaitable(value):
                value = await value
            return _join([piece async for piece in value]) if inspect.isasyncgen(value) else value
        except TargetError:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise self._blame(error) from error
        except (Exception, SystemExit) as error:  # the user's code may raise anything
            raise self._blame(error) from error

    def _finish(self, call: Callable[[], object]) -> object:
        """Call a sync function, and walk its generator in the same thread."""
        try:
            value = call()
            return _join(value) if inspect.isgenerator(value) else value
        except TargetError:
            raise
        except BaseException as error:  # what a thread raises is its own, even an interrupt
            raise self._blame(error) from error

    def _blame(self, error: BaseException) -> TargetError:
        name, folder = self.function.name, self.function.folder
        return TargetError(f"`{name}` raised {describe_exception(error, folder)}")

    def _render(self, value: object) -> str:
        try:
            return _render(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise TargetError(
                f"`{self.function.name}` returned {_kind(value)}, not a reply: {error}",
                hint="return text, a mapping with `output`, or data that JSON can show",
            ) from error


def _messages(request: TargetRequest) -> list[dict[str, str]]:
    messages = []
    for exchange in request.history:
        messages.append({"role": "user", "content": exchange.prompt})
        messages.append({"role": "assistant", "content": exchange.reply})
    return messages


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
        raise TargetError(f"the agent yielded {_kind(piece)}, not text")
    return piece


def _render(value: object) -> str:
    """Turn a result into text: `false` and `0` are answers, `None` is none."""
    if isinstance(value, Mapping) and "output" in value:
        value = value["output"]
    if value is None:
        raise ValueError("there is no text in it")
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, indent=2)
    # Half a surrogate pair can be neither stored nor sent.
    return value.encode("utf-8", "replace").decode("utf-8")


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"
