"""Find the agent under evaluation: its kind, its model, its instructions and where they live."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from azd_eval.config import AgentConfig
from azd_eval.domain.candidate import BASELINE_ID, Candidate
from azd_eval.domain.ports import Target
from azd_eval.errors import InputError
from azd_eval.files import read_text
from azd_eval.formats.agent_folder import BASELINE, read_agent_metadata
from azd_eval.formats.azure_project import find_agents
from azd_eval.prompts import template
from azd_eval.targets.callables import PythonFunction, load_function
from azd_eval.targets.chat import ChatTarget
from azd_eval.targets.counted import CountedTarget
from azd_eval.targets.python import PythonTarget
from azd_eval.targets.recorded import RecordedTarget
from azd_eval.wiring.models import ModelPool

BUILT_IN_INSTRUCTIONS = "builtin_coding_instructions.md"

_LINES_TO_ADD = """\
add to eval.yaml, under `agent:`
  instructions_file: instructions.md
or put the instructions into `.agent_configs/baseline/instructions.md`"""


@dataclass(frozen=True, slots=True)
class Instructions:
    """The agent's instructions, and the file that holds them, if one does.

    Without `file` they stand inside eval.yaml (`is_inline`), or nowhere yet.
    """

    text: str
    file: Path | None = None
    is_inline: bool = False
    model: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent, found. `model` is set for the kind `model`, `function` for the kind `python`.

    Of the kind `recorded` there are only the replies of earlier, which the tasks hold.
    """

    name: str
    kind: Literal["model", "python", "recorded"]
    instructions: Instructions
    model: str | None = None
    function: PythonFunction | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def baseline(self) -> Candidate:
        """The instructions as they are now."""
        return Candidate(BASELINE_ID, self.instructions.text)

    def require_revisable(self) -> None:
        """Raise `InputError` where revising the instructions would change nothing."""
        if self.function is not None and not self.function.accepts_instructions:
            raise InputError(
                f"`{self.function.name}` takes no instructions: revising them has no effect",
                hint="give the function a parameter `instructions`",
            )
        if not self.instructions.text.strip():
            raise InputError(f"the agent {self.name!r} has no instructions", hint=_LINES_TO_ADD)

    def build_target(
        self, pool: ModelPool, timeout_s: float, redact: Callable[[str], str]
    ) -> Target:
        """Make the live agent; its calls share the gate and the meter of the pool.

        `redact` blots our keys out of what the user's code says.
        """
        if self.kind == "recorded":
            return RecordedTarget()
        if self.function is None:
            return ChatTarget(pool.model(self.model or ""), self.parameters)
        python = PythonTarget(self.function, pool.gate, timeout_s)
        return CountedTarget(
            python,
            admit=pool.budget.admit,
            bound=pool.budget.bound,
            count=lambda: pool.meter.count_call("agent", self.name),
            redact=redact,
        )


def find_agent_name(project: Path) -> str:
    """Name the agent where no config does: the only one of azure.yaml, else the folder."""
    agents = find_agents(project)
    if len(agents) == 1:
        return agents[0].name
    return project.resolve().name or "agent"


def find_agent(
    config: AgentConfig,
    project: Path,
    *,
    judge_model: str,
    flag: Path | None = None,
    built_in: bool = False,
    bare: bool = False,
) -> tuple[Agent, tuple[str, ...]]:
    """Find the agent and what to tell of it.

    With `built_in`, an agent without instructions starts from plain ones; with `bare`, a model that
    is named needs none. Raises `InputError` with the lines to add.
    """
    notes: list[str] = []
    found = find_instructions(config, project, flag)
    if config.callable is not None or config.kind == "python":
        if config.callable is None:
            raise InputError(
                "agent.kind is `python`, but `agent.callable` is missing",
                hint="add `callable: agent.py:respond`, or `callable: package.module:function`",
            )
        function = load_function(config.callable, project)
        return Agent(config.name, "python", found or Instructions(""), function=function), ()
    if found is None and built_in:
        found = Instructions(template(BUILT_IN_INSTRUCTIONS).strip())
        notes.append("the agent has no instructions yet: it starts from plain ones for coding")
    if found is None and bare and config.model is not None:
        found = Instructions("")
        notes.append("the agent has no instructions: its model answers as it is")
    elif found is None or not found.text.strip():
        raise InputError(f"the agent {config.name!r} has no instructions", hint=_LINES_TO_ADD)
    model = config.model or found.model
    if model is None:
        model = judge_model
        notes.append(f"the agent names no model: it answers with {model}")
    parameters = {**found.parameters, **config.parameters}
    return Agent(config.name, "model", found, model, parameters=parameters), tuple(notes)


def find_instructions(
    config: AgentConfig, project: Path, flag: Path | None = None
) -> Instructions | None:
    """Find the instructions: the first of the places of DESIGN 3 that has any, or None."""
    if flag is not None:
        return Instructions(read_text(flag, "instructions file"), flag)
    if config.instructions is not None:
        return Instructions(config.instructions, is_inline=True)
    if config.instructions_file is not None:
        path = project / config.instructions_file
        return Instructions(read_text(path, "agent.instructions_file"), path)
    if config.config is not None:
        return _read_agent_folder(project / config.config)
    return next(_in_known_places(config.name, project), None)


def _in_known_places(name: str, project: Path) -> Iterator[Instructions]:
    folders = [project]
    folders += [agent.folder for agent in find_agents(project) if agent.name == name]
    for folder in folders:
        metadata = folder / BASELINE / "metadata.yaml"
        bare = folder / BASELINE / "instructions.md"
        if metadata.is_file():
            yield _read_agent_folder(metadata)
        elif bare.is_file():
            yield Instructions(read_text(bare, "instructions"), bare)


def _read_agent_folder(metadata_path: Path) -> Instructions:
    metadata = read_agent_metadata(metadata_path)
    text = read_text(metadata.instructions_file, "instructions of the agent")
    return Instructions(
        text,
        metadata.instructions_file,
        model=metadata.model,
        parameters=metadata.parameters,
    )
