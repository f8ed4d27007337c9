"""A shell in a folder of its own, and a server that plays all roles."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.fake_openai import FakeOpenAI
from tests.personas import support_world


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    # A folder inside: tests may put files beside it, and its name is known.
    folder = tmp_path / "my-shop"
    folder.mkdir()
    return Shell(folder)


@pytest.fixture
def world(fake_openai: Callable[..., FakeOpenAI]) -> FakeOpenAI:
    """A server whose verdicts follow a rule that only reasons reveal."""
    return fake_openai(support_world())
