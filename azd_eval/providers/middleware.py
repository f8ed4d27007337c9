"""Chat models around chat models: count, remember, try again.

The order is Metered(Cached(Retrying(Bounded(model)))): an answer from the cache costs nothing and
takes no slot, and a slot is held only during a try, not while waiting for the next one.
"""

import asyncio
import hashlib
import json
import random
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from azd_eval.domain.chat import ChatReply, ChatRequest
from azd_eval.domain.ports import ChatModel, ReplyCache
from azd_eval.errors import ModelError
from azd_eval.providers.gate import Line
from azd_eval.providers.meter import Meter
from azd_eval.providers.pace import estimate_tokens
from azd_eval.structured import json_values


class Metered:
    """Counts what the model inside answers and fails to answer."""

    def __init__(self, inner: ChatModel, meter: Meter, model: str) -> None:
        self._inner = inner
        self._meter = meter
        self._model = model

    async def complete(self, request: ChatRequest) -> ChatReply:
        try:
            reply = await self._inner.complete(request)
        except ModelError as error:
            self._meter.count_failure(request.purpose, self._model, error)
            raise
        self._meter.count_reply(request.purpose, self._model, reply)
        return reply


class Cached:
    """Answers from a cache what was answered before; equal requests at one moment are one call.

    `identity` tells this model from every other: endpoint, model and its parameters.
    """

    def __init__(self, inner: ChatModel, cache: ReplyCache, identity: object) -> None:
        self._inner = inner
        self._cache = cache
        self._identity = identity
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def complete(self, request: ChatRequest) -> ChatReply:
        key = request_key(self._identity, request)
        async with self._locks.setdefault(key, asyncio.Lock()):
            known = self._cache.get(key)
            if known is not None:
                return replace(known, cached=True, retries=0)
            reply = await self._inner.complete(request)
            if is_worth_keeping(reply, request):
                self._cache.put(key, reply)
            return reply


class Bounded:
    """Cuts off a call of the model inside that outlasts the time limit of the run."""

    def __init__(
        self, inner: ChatModel, bound: Callable[[], AbstractAsyncContextManager[None]]
    ) -> None:
        self._inner = inner
        self._bound = bound

    async def complete(self, request: ChatRequest) -> ChatReply:
        async with self._bound():
            return await self._inner.complete(request)


def request_key(identity: object, request: ChatRequest) -> str:
    """Hash everything that can change the answer; the order of keys cannot."""
    content = {
        "identity": identity,
        "messages": [[message.role, message.text] for message in request.messages],
        "schema": request.schema and [request.schema.name, dict(request.schema.body)],
        "parameters": dict(request.parameters),
        "repeat": request.repeat,
        "token_factor": request.token_factor,
    }
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def is_worth_keeping(reply: ChatReply, request: ChatRequest) -> bool:
    """Tell whether an answer is complete and usable: not cut off, not empty, JSON if asked for."""
    if reply.finish_reason != "stop" or not reply.text.strip():
        return False
    try:
        return request.schema is None or bool(json_values(reply.text))
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When and how often a failed call is tried again; all times in seconds.

    `timeout_s` is the limit of one call: all its tries and the waits between them, but not the time
    in the queue for a slot. A wait grows from `first_wait_s` by doubling up to `longest_wait_s`.
    Rate limits are no failures: only the time limit ends them. A server that nobody has ever
    reached gets less patience.
    """

    timeout_s: float = 120.0
    max_failures: int = 7
    max_unreachable: int = 3
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0

    def has_patience(self, failures: int, error: ModelError) -> bool:
        """Tell whether to try again after so many failures, the last of them `error`."""
        is_unknown = error.code == "unreachable"
        return failures < (self.max_unreachable if is_unknown else self.max_failures)

    def wait_s(self, failed_tries: int, retry_after: float | None) -> float:
        """Draw the next wait: never shorter than the server asks, and never in step with others."""
        if retry_after is not None:
            return retry_after + random.uniform(0, self.first_wait_s)
        full = min(self.longest_wait_s, self.first_wait_s * 2.0 ** (failed_tries - 1))
        return random.uniform(full / 2, full)


@dataclass(slots=True)
class _Course:
    """How one call goes: the seconds left to it, the tries in vain, and those that are failures."""

    left_s: float
    tries: int = 0
    failures: int = 0


class Retrying:
    """Tries again what may go away by itself, within the time limit of a call.

    A server that asks for a longer wait than is left fails the call at once. What is raised in the
    end is the last failure, with the number of tries. `parameters` are what the model inside sends
    beside those of the request.
    """

    def __init__(
        self,
        inner: ChatModel,
        line: Line,
        policy: RetryPolicy,
        parameters: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._inner = inner
        self._line = line
        self._policy = policy
        self._parameters = parameters

    async def complete(self, request: ChatRequest) -> ChatReply:
        course = _Course(self._policy.timeout_s)
        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda e: isinstance(e, ModelError) and e.is_retryable),
            wait=lambda state: self._policy.wait_s(
                state.attempt_number, _failure(state).retry_after
            ),
            stop=lambda state: (
                not self._policy.has_patience(course.failures, _failure(state))
                or state.upcoming_sleep >= course.left_s
            ),
            before_sleep=lambda state: self._before_sleep(state, course),
            sleep=self._line.wait,
            reraise=True,
        )
        try:
            reply: ChatReply = await retrying(self._try, request, course)
        except ModelError as error:
            raise _last_failure(error, course) from error
        return replace(reply, retries=reply.retries + course.tries)

    async def _try(self, request: ChatRequest, course: _Course) -> ChatReply:
        tokens = estimate_tokens(request, self._parameters)
        async with self._line.slot(tokens.total):
            reply = await self._call(request, course)
        self._line.note_answer(tokens.find_error(reply))
        return reply

    async def _call(self, request: ChatRequest, course: _Course) -> ChatReply:
        clock = asyncio.get_running_loop().time
        started = clock()
        try:
            # The client's own limit is per chunk: a reply that drips in would never end.
            async with asyncio.timeout(course.left_s):
                return await self._inner.complete(request)
        except ModelError as error:
            course.tries += error.tries
            course.failures += error.code != "rate_limited"
            raise
        except TimeoutError as error:
            course.tries += 1
            message = f"no complete answer within {self._policy.timeout_s:g} s"
            hint = "raise `options.timeout_s`"
            raise ModelError(message, code="timeout", hint=hint) from error
        finally:
            course.left_s -= clock() - started

    def _before_sleep(self, state: RetryCallState, course: _Course) -> None:
        course.left_s -= state.upcoming_sleep
        error = _failure(state)
        if error.code == "rate_limited" or error.retry_after is not None:
            self._line.note_refusal(error)


def _failure(state: RetryCallState) -> ModelError:
    error = state.outcome.exception() if state.outcome else None
    if not isinstance(error, ModelError):
        raise TypeError(f"retried for {error!r}, which is no ModelError")
    return error


def _last_failure(error: ModelError, course: _Course) -> ModelError:
    message, hint = error.message, error.hint
    if error.is_retryable and error.retry_after and error.retry_after >= course.left_s:
        message += f"; it asks to wait {error.retry_after:.0f} s, longer than a call may take"
        hint = "wait, or raise `options.timeout_s`"
    if course.tries > 1:
        message += f" (after {course.tries} tries)"
    return ModelError(
        message, code=error.code, retry_after=error.retry_after, tries=course.tries, hint=hint
    )
