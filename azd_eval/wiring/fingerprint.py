"""What decides the results of a run, as digests: so that a resumed run mixes nothing up.

Settings that change only how fast or how far a run goes (concurrency, limits, gate) are no part.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azd_eval.domain.ports import TaskSource
from azd_eval.domain.task import Task
from azd_eval.files import hash_file
from azd_eval.targets.callables import PythonFunction
from azd_eval.wiring.agents import Agent

_BITS = 128


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`subject`: what the agent is and is asked; `judging`: how its replies are judged.

    Both map the name of a part, in the words of eval.yaml, to a digest of it.
    """

    subject: Mapping[str, str]
    judging: Mapping[str, str]

    @property
    def judging_digest(self) -> str:
        return digest(dict(self.judging))

    def as_dict(self) -> dict[str, dict[str, str]]:
        """Give the form that the manifest holds."""
        return {"subject": dict(self.subject), "judging": dict(self.judging)}


def name_changes(before: Mapping[str, Any], after: Mapping[str, str]) -> list[str]:
    """Name the parts that are not the same any more."""
    return [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]


def digest(value: Any) -> str:
    """Digest anything that JSON or `repr` can write."""
    text = json.dumps(value, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def digest_agent(agent: Agent, endpoint: object) -> dict[str, str]:
    """Digest what the agent is: its model by `endpoint`, or its function."""
    parts = {
        "agent": digest([agent.kind, agent.name]),
        "agent.model": digest(endpoint),
        "agent.parameters": digest(dict(agent.parameters)),
        "instructions": agent.baseline.digest,
    }
    if agent.function is not None:
        parts["agent.callable"] = digest_function(agent.function)
    return parts


def digest_function(function: PythonFunction) -> str:
    """Digest a function of the user's: its name, and its module by its bytes."""
    code = _find_code(function)
    return digest([function.name, hash_file(code) if code.is_file() else None])


def _find_code(function: PythonFunction) -> Path:
    source = function.name.rpartition(":")[0]
    if source.endswith(".py"):
        return function.folder / source
    return Path(sys.modules[source].__file__ or "")


def digest_tasks(tasks: TaskSource) -> tuple[str, str]:
    """Digest what is asked, and by which criteria it is judged; the order does not count."""
    asked = criteria = 0
    for task in tasks:
        asked += int(task.key, 16)
        criteria += _number(task)
    return f"{asked % 2**_BITS:x}", f"{criteria % 2**_BITS:x}"


def _number(task: Task) -> int:
    parts = [task.key]
    for turn in task.turns:
        chosen = [turn.evaluators_mode, turn.evaluators, turn.grounding]
        parts += [repr(turn.criteria), json.dumps(chosen, sort_keys=True)]
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest())
