"""azd-eval as its users start it: a process, a folder, an environment with nothing in it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fake_openai import FakeOpenAI, FakeRequest, Respond

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "tests" / "examples" / "valid"
KEY = "sk-secret-0123456789abcdef"

RUBRIC = """\
type: rubric
name: quality
version: "1"
dimensions:
  - {id: correct, description: The reply is right, weight: 9, always_applicable: true}
  - {id: complete, description: Nothing is missing, weight: 4, always_applicable: true}
  - {id: kind, description: The reply is kind, weight: 3, always_applicable: true}
  - {id: brief, description: The reply is brief, weight: 2, always_applicable: true}
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What a process left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """Read stdout, which must hold one JSON value and nothing else."""
        return json.loads(self.stdout)

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


Program = Callable[..., list[str]]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "azd_eval", *arguments]


def runevals(*arguments: str) -> list[str]:
    entry = "from azd_eval.cli.app import main_runevals; main_runevals()"
    return [sys.executable, "-c", entry, *arguments]


@dataclass(slots=True)
class Shell:
    """A folder to work in. Variables given with a command come on top of a bare environment."""

    folder: Path

    def __call__(self, *arguments: str, cwd: Path | None = None, **variables: str) -> Result:
        return self.execute(command(*arguments), cwd, variables)

    def runevals(self, *arguments: str, cwd: Path | None = None, **variables: str) -> Result:
        """Run the other executable."""
        return self.execute(runevals(*arguments), cwd, variables)

    def execute(self, words: list[str], cwd: Path | None, variables: Mapping[str, str]) -> Result:
        done = subprocess.run(
            words,
            cwd=cwd or self.folder,
            env=self.environment(variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )
        out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
        return Result(done.returncode, out, err)

    def start(
        self, *arguments: str, program: Program = command, **variables: str
    ) -> "subprocess.Popen[str]":
        """Start a command and leave it running."""
        return subprocess.Popen(
            program(*arguments),
            cwd=self.folder,
            env=self.environment(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        bare = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
        }
        return {**bare, **variables}

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def files(self) -> dict[str, bytes]:
        """Give all files by their path."""
        return {
            path.relative_to(self.folder).as_posix(): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }

    def write_suite(
        self,
        *,
        tasks: str | None = None,
        evaluators: str = "[builtin.task_adherence]",
        agent: str = "{name: my-agent, instructions_file: instructions.md}",
        options: str = "{eval_model: m}",
    ) -> None:
        """Write the suite of the specification: three tasks of two criteria each."""
        spec = (EXAMPLES / "customer_support.jsonl").read_text(encoding="utf-8")
        self.write("tasks.jsonl", spec if tasks is None else tasks)
        self.write("instructions.md", "Be kind. Call the user {name}.\n")
        self.write("quality.yaml", RUBRIC)
        self.write(
            "eval.yaml",
            f"agent: {agent}\ndataset_file: ./tasks.jsonl\n"
            f"evaluators: {evaluators}\noptions: {options}\n",
        )


def connect(server: FakeOpenAI, key: str = KEY) -> dict[str, str]:
    """Give the variables that lead to a server."""
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": key}


def count_roles(server: FakeOpenAI) -> dict[str, int]:
    """Count the calls that came, by what was wanted of them."""
    names = {None: "agent", "verdict": "judge", "verdicts": "judge", "instructions": "optimizer"}
    roles = [names.get(call.schema_name, "generator") for call in server.calls]
    return {role: roles.count(role) for role in dict.fromkeys(roles)}


def judge_by_name(*missed: str, reply: str = "Good day.") -> Respond:
    """Make the `respond` of a server whose judge finds all criteria met but those named."""

    def respond(request: FakeRequest) -> str | dict[str, Any]:
        if request.schema_name is None:
            return reply
        score = 0 if any(f'"{name}":' in request.user for name in missed) else 1
        return {"reason": f"the score is {score}", "score": score}

    return respond
