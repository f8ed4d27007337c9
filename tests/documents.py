"""What tests run evaluation documents with: a server, a project, and the vendor's samples."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.cli.shell import Shell
from tests.fake_openai import Answer, FakeRequest, Respond

VENDOR = Path(__file__).parents[2] / "shared" / "samples" / "m365"
"""Beside the repository, not in it; tests that read it are skipped where it is not there."""

_CRITERION = re.compile(r'^Criterion "(.*?)":', re.MULTILINE)


def document_world(
    reply: str | Callable[[FakeRequest], Answer] = "Good day.",
    grades: Mapping[str, Any] | None = None,
) -> Respond:
    """Make the `respond` of a server: an agent, and a judge that grades by name of evaluator.

    An evaluator that is not in `grades` gets the best grade; what is no number there is sent as the
    judge's answer.
    """

    def respond(request: FakeRequest) -> Answer:
        if request.schema_name is None:
            return reply if isinstance(reply, str) else reply(request)
        (name,) = _CRITERION.findall(request.user)
        grade = (grades or {}).get(name, 5)
        return {"reason": f"{name} is {grade}", "score": grade} if grade in range(1, 6) else grade

    return respond


def last_prompt(request: FakeRequest) -> str:
    """Give what the agent is asked in this turn."""
    return str(request.body["messages"][-1]["content"])


def make_document(*items: Any, **root: Any) -> str:
    """Give the text of a document; an item that is a text is a prompt."""
    listed = [{"prompt": item} if isinstance(item, str) else item for item in items]
    return json.dumps({"schemaVersion": "1.6.0", **root, "items": listed}, ensure_ascii=False)


def write_agent(shell: Shell, *, evaluators: str = "", options: str = "") -> None:
    """Write the eval.yaml of an agent that is a model."""
    shell.write("instructions.md", "Be kind.\n")
    shell.write(
        "eval.yaml",
        "agent: {name: my-agent, model: m, instructions_file: instructions.md}\n"
        f"options: {{eval_model: m{options}}}\n{evaluators}",
    )


def find_results(shell: Shell) -> dict[str, Any]:
    """Read every result and summary under `.evals/results/`, by the name without time and hex."""
    return {
        re.sub(r"-\d{8}-\d{6}-[0-9a-f]{4}", "", path.name): json.loads(path.read_bytes())
        for path in sorted((shell.folder / ".evals" / "results").glob("*.json"))
    }
