"""The fake server itself: other tests trust what it serves and logs."""

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.fake_openai import FakeOpenAI, FakeRequest, Status


def post(url: str, body: dict[str, object]) -> tuple[int, bytes]:
    parts = urlsplit(url)
    assert parts.hostname
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
    connection.request("POST", f"{parts.path}?{parts.query}", json.dumps(body))
    response = connection.getresponse()
    try:
        return response.status, response.read()
    finally:
        connection.close()


def test_answers_are_a_function_of_the_request_and_of_its_repetition(
    fake_openai: Callable[..., FakeOpenAI],
) -> None:
    def respond(request: FakeRequest) -> str | Status:
        return Status(500) if request.nth == 1 else f"{request.model} heard {request.user}"

    server = fake_openai(respond)
    body: dict[str, object] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}

    statuses = [post(f"{server.base_url}/chat/completions", body)[0] for _ in range(2)]
    _, reply = post(f"{server.base_url}/chat/completions", body)

    assert [500, 200] == statuses
    assert "m heard hi" == json.loads(reply)["choices"][0]["message"]["content"]
    assert [1, 2, 3] == [call.nth for call in server.calls]
    assert 1 == server.most_in_flight


@pytest.mark.parametrize(
    "path",
    ["/v1", "/openai/v1", "/openai/deployments/dep"],
)
def test_serves_openai_and_azure_paths(fake_openai: Callable[..., FakeOpenAI], path: str) -> None:
    server = fake_openai(lambda request: request.model)

    url = f"{server.root_url}{path}/chat/completions?api-version=2024-10-21"
    status, _ = post(url, {"model": "dep", "messages": []})

    assert (200, "dep") == (status, server.calls[0].model)
    assert {"api-version": "2024-10-21"} == server.calls[0].query


def test_a_mistake_in_respond_is_not_hidden() -> None:
    def respond(request: FakeRequest) -> str:
        raise KeyError("oops")

    with pytest.raises(KeyError, match="oops"), FakeOpenAI(respond) as server:
        post(f"{server.base_url}/chat/completions", {"model": "m", "messages": []})


def test_runs_as_a_process(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(
        "from tests.fake_openai import Status\n\n\n"
        "def respond(request):\n    return request.user or Status(418)\n"
    )
    port_file = tmp_path / "port"
    command = [sys.executable, "-m", "tests.fake_openai", "--port-file", str(port_file)]
    with subprocess.Popen([*command, "--respond", "echo:respond"]) as process:
        try:
            deadline = time.monotonic() + 10
            while not (port_file.exists() and port_file.read_text()):
                assert time.monotonic() < deadline
                time.sleep(0.02)
            body: dict[str, object] = {"messages": [{"role": "user", "content": "hi"}]}
            _, reply = post(f"{port_file.read_text()}/chat/completions", body)
            status, _ = post(f"{port_file.read_text()}/chat/completions", {"messages": []})
        finally:
            process.terminate()

    assert b'"content": "hi"' in reply
    assert 418 == status
