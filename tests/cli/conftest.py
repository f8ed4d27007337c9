"""A shell in a folder of its own, a terminal in it, and a server that plays all roles."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pexpect
import pytest

from tests.cli.shell import Program, Shell, command
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


@pytest.fixture
def terminal(shell: Shell) -> Iterator[Callable[..., pexpect.spawn]]:
    """Start commands at a terminal of their own, which ends with the test."""
    with ExitStack() as ended:

        def start(*arguments: str, program: Program = command, **variables: str) -> pexpect.spawn:
            python, *words = program(*arguments)
            child = pexpect.spawn(
                python,
                words,
                cwd=str(shell.folder),
                env=shell.environment({"TERM": "xterm", **variables}),
                encoding="utf-8",
                timeout=20,
                dimensions=(40, 120),
            )
            child.delaybeforesend = None
            ended.callback(child.close, force=True)
            return child

        yield start
