"""What a call costs in CPU time: our models beside the bare openai client and bare HTTP.

    python benchmarks/call_overhead.py [--calls N] [--rounds N] [--json]

A server of another process answers at once. All ways take turns in many short rounds, and the best
round of each counts: on a busy machine the others measure the neighbours.
"""

import argparse
import asyncio
import json
import multiprocessing
import re
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx2
import openai

from azd_eval.domain.chat import ChatRequest, Message
from azd_eval.wiring.environment import Environment
from azd_eval.wiring.models import ModelPool, PoolOptions

IN_FLIGHT = 20
SYSTEM = "You judge the replies of a support agent, one criterion at a time. " * 20
KEY = "any"
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": '{"reason": "it is met", "score": 1}'},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 300, "completion_tokens": 10, "total_tokens": 310},
}

Call = Callable[[str], Awaitable[object]]


class Server(asyncio.Protocol):
    """Answers every request with the same reply."""

    def __init__(self) -> None:
        body = json.dumps(ANSWER).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        self._answer = f"{head}\r\n\r\n".encode() + body
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        if end and length and len(body) >= int(length[1]):
            self._received = b""
            self._transport.write(self._answer)


def serve(port: Connection) -> None:
    """Listen until the process is ended; the port is sent first."""

    async def listen() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(listen())


def make_messages(text: str) -> list[dict[str, str]]:
    """Give the messages of a call, as JSON."""
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]


@asynccontextmanager
async def open_httpx2(url: str) -> AsyncIterator[Call]:
    """Open bare HTTP: a POST and the JSON of its answer."""
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx2.AsyncClient(headers=headers) as client:

        async def call(text: str) -> object:
            body = {"model": "m", "messages": make_messages(text)}
            return (await client.post(f"{url}/chat/completions", json=body)).json()

        yield call


@asynccontextmanager
async def open_openai(url: str) -> AsyncIterator[Call]:
    """Open the openai client as its manual shows it."""
    async with openai.AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0) as client:

        async def call(text: str) -> object:
            messages: Any = make_messages(text)
            return await client.chat.completions.create(model="m", messages=messages)

        yield call


@asynccontextmanager
async def open_pool(url: str, cache: Path | None = None) -> AsyncIterator[Call]:
    """Open our whole stack: meter, cache, retries, line, adaptations, the client."""
    environment = Environment({"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY})
    async with ModelPool(PoolOptions(environment, concurrency=IN_FLIGHT, cache=cache)) as pool:
        model = pool.model("m")

        async def call(text: str) -> object:
            messages = (Message("system", SYSTEM), Message("user", text))
            return await model.complete(ChatRequest(messages, "judge"))

        yield call


async def time_calls(opened: AbstractAsyncContextManager[Call], calls: int) -> float:
    """Make calls, some in flight at once; give the CPU milliseconds of each."""
    async with opened as call:
        await call("a first one, to connect")
        numbers = iter(range(calls))

        async def work() -> None:
            for number in numbers:
                await call(f"question {number}: " + "is this criterion met? " * 10)

        started = time.process_time()
        await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
        return (time.process_time() - started) / calls * 1000


def measure(url: str, calls: int, rounds: int) -> dict[str, float]:
    """Give the CPU milliseconds of a call, each way, in its best round."""
    figures: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            ways = {
                "httpx2": open_httpx2(url),
                "openai": open_openai(url),
                "ours": open_pool(url),
                "ours + cache": open_pool(url, Path(folder) / f"{number}.db"),
            }
            for name, opened in ways.items():
                figures.setdefault(name, []).append(asyncio.run(time_calls(opened, calls)))
    return {name: min(times) for name, times in figures.items()}


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=300, help="calls of a round")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    receiver, sender = multiprocessing.Pipe(duplex=False)
    server = multiprocessing.Process(target=serve, args=(sender,), daemon=True)
    server.start()
    figures = measure(f"http://127.0.0.1:{receiver.recv()}/v1", options.calls, options.rounds)
    server.terminate()
    if options.json:
        print(json.dumps(figures))
        return
    print(f"{'':14} {'ms CPU':>7} {'x httpx2':>9} {'x openai':>9}")
    for name, spent in figures.items():
        by_http, by_client = spent / figures["httpx2"], spent / figures["openai"]
        print(f"{name:14} {spent:7.3f} {by_http:9.2f} {by_client:9.2f}")


if __name__ == "__main__":
    main()
