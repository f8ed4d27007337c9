"""A project for every test."""

from collections.abc import Callable
from pathlib import Path

import pytest

from azd_eval.cli.app import build_app
from azd_eval.cli.boundary import run_guarded
from tests.fake_openai import FakeOpenAI
from tests.reliability.projects import Project


@pytest.fixture
def project(
    tmp_path: Path, fake_openai: Callable[..., FakeOpenAI], monkeypatch: pytest.MonkeyPatch
) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return Project(folder, fake_openai, monkeypatch)


@pytest.fixture
def call(project: Project) -> Callable[..., int]:
    """Run a command in this process, a tenth of the time of another; gives its exit code."""
    return lambda *arguments: run_guarded(build_app(), arguments)
