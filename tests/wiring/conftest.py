"""A shop whose server may be told to fail."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import KEY, Shell
from tests.fake_openai import FakeOpenAI
from tests.shop import AGENT, MODEL, Shop, World, write_tasks


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def shop(
    world: World,
    fake_openai: Callable[..., FakeOpenAI],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Shop:
    shell = Shell(tmp_path / "shop")
    shell.write_suite(
        tasks=write_tasks(), agent=MODEL, options="{eval_model: m, concurrency: 1, seed: 1}"
    )
    shell.write("agent.py", AGENT)
    server = fake_openai(world)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(shell.folder)
    return Shop(shell, server)
