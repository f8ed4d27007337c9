"""A shell in a folder of its own, a terminal in it, and a server that plays all roles."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pexpect
import pytest

from azd_eval.cli.app import build_runevals, read_words
from azd_eval.cli.boundary import run_guarded
from tests.cli.shell import Program, Result, Shell, command
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


@pytest.fixture
def here(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    """Run `runevals` in this process, with variables: the same at a tenth of the time."""
    monkeypatch.chdir(shell.folder)

    def start(*arguments: str, **variables: str) -> Result:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        capfd.readouterr()
        code = run_guarded(build_runevals(), read_words(arguments), "runevals")
        return Result(code, *capfd.readouterr())

    return start
