"""What every test starts from: no keys, no proxies, no colour, a folder of its own."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.fake_openai import FakeOpenAI, Respond

ROOT = Path(__file__).parent.parent

# A loaded machine is no reason to fail a property.
settings.register_profile("azd-eval", deadline=None)
settings.load_profile("azd-eval")

_UNWANTED = ("OPENAI_", "AZURE_", "FOUNDRY_", "OLLAMA_", "AZD_", "AGENT_")


@pytest.fixture(autouse=True)
def clean_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.upper().startswith(_UNWANTED) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    # Processes that a test starts in its own folder still find azd_eval and tests.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def fake_openai() -> Iterator[Callable[..., FakeOpenAI]]:
    """Start servers that end with the test: `server = fake_openai(respond, latency=0.1)`."""
    with ExitStack() as servers:

        def start(respond: Respond, **options: Any) -> FakeOpenAI:
            return servers.enter_context(FakeOpenAI(respond, **options))

        yield start
