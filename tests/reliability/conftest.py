"""A project for every test."""

from collections.abc import Callable
from pathlib import Path

import pytest

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
