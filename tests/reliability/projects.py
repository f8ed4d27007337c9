"""A project in a folder of its own, a server that plays its models, and runs in either process."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

import azd_eval
from azd_eval.domain.optimization_summary import OptimizationSummary
from azd_eval.domain.summary import RunSummary
from tests.cli.shell import Result, Shell, connect, judge_by_name
from tests.fake_openai import FakeOpenAI, Respond

WITH_EXPECTED = (
    "[{name: builtin.task_adherence, initialization_parameters: {use_ground_truth: true}}]"
)


@dataclass(slots=True)
class Project(Shell):
    """A folder with a suite whose models all live at the server of `serve`."""

    start_server: Callable[..., FakeOpenAI]
    monkeypatch: pytest.MonkeyPatch

    def serve(self, respond: Respond | None = None, **options: Any) -> FakeOpenAI:
        """Start a server and lead this process to it; without `respond` every verdict is 1."""
        server = self.start_server(respond or judge_by_name(), **options)
        for name, value in connect(server).items():
            self.monkeypatch.setenv(name, value)
        return server

    def run(self, server: FakeOpenAI, *arguments: str, **variables: str) -> Result:
        """Run a command as a process that is led to a server."""
        return self(*arguments, **{**connect(server), **variables})

    def evaluate(self, **overrides: Any) -> RunSummary:
        """Evaluate in this process."""
        return azd_eval.evaluate(self.folder / "eval.yaml", **overrides)

    def optimize(self, **overrides: Any) -> OptimizationSummary:
        """Optimize in this process."""
        return azd_eval.optimize(self.folder / "eval.yaml", **overrides)

    def trials(self, run_dir: str | None) -> dict[str, dict[str, Any]]:
        """Read the trials of a run, by the name of their task."""
        path = self.folder / str(run_dir) / "trials.jsonl"
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        return {row["task"]: row for row in rows}


def make_row(
    name: str = "t", prompt: str = "How?", *criteria: Mapping[str, Any] | str, **fields: Any
) -> dict[str, Any]:
    """Make the row of a task; a criterion may be given by its name."""
    listed = [
        {"name": one, "instruction": f"Is {one}"} if isinstance(one, str) else one
        for one in criteria or ("right",)
    ]
    return {"name": name, "prompt": prompt, "criteria": listed, **fields}


def make_rows(count: int) -> list[dict[str, Any]]:
    """Make rows `task_0`, `task_1` … that ask different questions."""
    return [make_row(f"task_{number}", f"Question {number}?") for number in range(count)]


def write_rows(rows: Iterable[Any]) -> str:
    """Write rows as JSONL; one that is text stands as it is."""
    return "".join(
        (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n"
        for row in rows
    )
