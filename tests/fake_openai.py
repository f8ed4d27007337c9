"""A chat completions server on loopback whose answers are a function of the request.

In a test:          with FakeOpenAI(lambda request: "yes") as server: ... server.base_url
As a process:       python -m tests.fake_openai --port-file F --respond tests.personas:respond

`respond` gets a `FakeRequest` and returns the text of the reply, a dict (sent as JSON text), a
`FakeReply` where the envelope matters, or a fault. It is never a queue: calls may come in any
order. Azure's paths are served too.
"""

import argparse
import asyncio
import hashlib
import importlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web


@dataclass(frozen=True, slots=True)
class FakeRequest:
    """One request as the server got it. `nth` counts requests with this same body, from 1."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    path: str
    query: Mapping[str, str]
    nth: int
    time: float
    in_flight: int

    @property
    def model(self) -> str:
        """Give the model asked for; on Azure's dated paths that is the deployment."""
        _, _, deployment = self.path.partition("/deployments/")
        return deployment.split("/")[0] or str(self.body.get("model", ""))

    @property
    def schema_name(self) -> str | None:
        """Name the JSON schema wanted, or None for a plain chat."""
        wanted = self.body.get("response_format") or {}
        name = wanted.get("json_schema", {}).get("name")
        return None if name is None else str(name)

    def text_of(self, *roles: str) -> str:
        """Join the messages of some roles."""
        messages = self.body.get("messages", ())
        return "\n".join(str(m["content"]) for m in messages if m["role"] in roles)

    @property
    def system(self) -> str:
        return self.text_of("system", "developer")

    @property
    def user(self) -> str:
        return self.text_of("user")


@dataclass(frozen=True, slots=True)
class FakeReply:
    """A reply whose envelope matters. `message` adds to or replaces parts of the message."""

    text: str | None = "ok"
    finish_reason: str | None = "stop"
    usage: Mapping[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    )
    message: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def payload(self, model: str) -> dict[str, Any]:
        """Build the chat completion object."""
        message = {"role": "assistant", "content": self.text, **self.message}
        return {
            "id": "chatcmpl-fake",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish_reason}],
            **({"usage": dict(self.usage)} if self.usage is not None else {}),
        }


@dataclass(frozen=True, slots=True)
class Status:
    """An error status. A dict as body is sent as JSON, text as it is."""

    status: int
    body: Mapping[str, Any] | str = field(
        default_factory=lambda: {"error": {"message": "something went wrong"}}
    )
    retry_after: str | float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Body:
    """A 200 with this body, whatever it is: broken JSON, HTML, JSON of the wrong shape."""

    text: str = '{"id": "chatcmpl-fake", "choices": [{"index"'
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Hang:
    """The request is accepted and never answered."""


@dataclass(frozen=True, slots=True)
class CutBody:
    """The connection closes before the promised length is sent."""


@dataclass(frozen=True, slots=True)
class Disconnect:
    """The connection closes before anything is sent."""


@dataclass(frozen=True, slots=True)
class Drip:
    """A good reply, one byte at a time: each arrives in time, the whole never does."""

    interval_s: float = 0.02


Fault = Status | Body | Hang | CutBody | Disconnect | Drip
Answer = str | dict[str, Any] | FakeReply | Fault
Respond = Callable[[FakeRequest], Answer]


class FakeOpenAI:
    """The server in a thread of its own; a context manager.

    `calls` is the log, in order of arrival; `latency` (seconds) delays every answer and may be
    changed at any time. What `respond` raises is raised again on leaving.
    """

    def __init__(self, respond: Respond, *, latency: float = 0.0, port: int = 0) -> None:
        self.calls: list[FakeRequest] = []
        self.latency = latency
        self._respond = respond
        self._port = port
        self._in_flight = 0
        self._seen: Counter[str] = Counter()
        self._failures: list[Exception] = []
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def base_url(self) -> str:
        return f"{self.root_url}/v1"

    @property
    def root_url(self) -> str:
        """Give the address without a path, as an Azure endpoint is written."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def most_in_flight(self) -> int:
        return max((call.in_flight for call in self.calls), default=0)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(timeout=10):
            raise RuntimeError("the fake server did not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(timeout=10)
        if self._failures and error is None:
            raise self._failures[0]

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        app = web.Application(client_max_size=64 * 2**20)
        for path in ("/v1", "/openai/v1", "/openai/deployments/{deployment}"):
            app.router.add_post(f"{path}/chat/completions", self._handle)
        runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self._port, backlog=1024)
        await site.start()
        self._port = runner.addresses[0][1]
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()
        # Connections that were opened or closed just now are gone a few turns of the loop later.
        await asyncio.sleep(0.01)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        with self._counted():
            call = self._log(request, await request.read())
            if self.latency:
                await asyncio.sleep(self.latency)
            try:
                answer = self._respond(call)
            except Exception as error:
                self._failures.append(error)
                answer = Status(500, f"respond() raised {error!r}")
            return await _send(request, call, answer)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1

    def _log(self, request: web.Request, body: bytes) -> FakeRequest:
        key = hashlib.sha256(body).hexdigest()
        self._seen[key] += 1
        call = FakeRequest(
            body=json.loads(body),
            headers={name.lower(): value for name, value in request.headers.items()},
            path=request.path,
            query=dict(request.query),
            nth=self._seen[key],
            time=time.monotonic(),
            in_flight=self._in_flight,
        )
        self.calls.append(call)
        return call


async def _send(request: web.Request, call: FakeRequest, answer: Answer) -> web.StreamResponse:
    match answer:
        case Hang():
            await asyncio.Event().wait()
        case Disconnect():
            return _hang_up(request, web.Response())
        case CutBody():
            cut = web.StreamResponse(headers={"Content-Type": "application/json"})
            cut.content_length = 1000
            await cut.prepare(request)
            await cut.write(b'{"id": "chatcmpl-fake"')
            return _hang_up(request, cut)
        case Drip(interval_s):
            return await _drip(request, FakeReply().payload(call.model), interval_s)
        case Body(text, content_type):
            return web.Response(text=text, content_type=content_type)
        case Status():
            return _status(answer)
        case str():
            answer = FakeReply(answer)
        case dict():
            answer = FakeReply(json.dumps(answer))
    assert isinstance(answer, FakeReply)
    return web.json_response(answer.payload(call.model), headers=answer.headers)


def _status(fault: Status) -> web.Response:
    headers = dict(fault.headers)
    if fault.retry_after is not None:
        headers["Retry-After"] = str(fault.retry_after)
    if isinstance(fault.body, str):
        return web.Response(status=fault.status, text=fault.body, headers=headers)
    return web.json_response(fault.body, status=fault.status, headers=headers)


def _hang_up(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.close()
    return response


async def _drip(
    request: web.Request, payload: dict[str, Any], interval_s: float
) -> web.StreamResponse:
    body = json.dumps(payload).encode()
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = len(body)
    await response.prepare(request)
    for position in range(len(body)):
        await response.write(body[position : position + 1])
        await asyncio.sleep(interval_s)
    return response


def main() -> None:
    """Serve until the process is ended; the port is written to a file when it listens."""
    parser = argparse.ArgumentParser(description="a fake chat completions server")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", type=Path, required=True)
    parser.add_argument("--respond", default="tests.personas:respond")
    options = parser.parse_args()
    module, _, name = options.respond.partition(":")
    respond = getattr(importlib.import_module(module), name)
    with FakeOpenAI(respond, port=options.port) as server:
        options.port_file.write_text(server.base_url, encoding="utf-8")
        threading.Event().wait()


if __name__ == "__main__":
    # The records that `respond` returns are those of the module, not those of `__main__`.
    importlib.import_module("tests.fake_openai").main()
