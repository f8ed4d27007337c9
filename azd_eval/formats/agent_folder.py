"""`.agent_configs/`, azd's folder of an agent: its metadata, its baseline, its archive."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from azd_eval.errors import FilesRefused, InputError
from azd_eval.files import write_atomically, write_new
from azd_eval.formats.faults import Fault, name_kind
from azd_eval.formats.yaml_files import YamlFile, dump_yaml, read_yaml
from azd_eval.formats.yaml_scalars import Plain, resolve

BASELINE = Path(".agent_configs") / "baseline"

_METADATA = "metadata.yaml"
_INSTRUCTIONS = "instructions.md"


@dataclass(frozen=True, slots=True)
class AgentMetadata:
    """What a `metadata.yaml` says of an agent; `tools_file` is kept for azd, which sends it."""

    instructions_file: Path
    model: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tools_file: Path | None = None


def read_agent_metadata(path: Path) -> AgentMetadata:
    """Read a `metadata.yaml`, or that of a folder; keys that are not ours are passed over.

    Paths in it are relative to it. Raises `InputError` for a file that cannot be read.
    """
    if path.is_dir():
        path = path / _METADATA
    file = read_yaml(path, "agent metadata")
    tree = _as_map(file)
    parameters = {}
    if "temperature" in tree and (temperature := resolve(tree["temperature"])) is not None:
        if isinstance(temperature, bool) or not isinstance(temperature, int | float):
            message = f"expected a number, got {name_kind(temperature)}"
            raise FilesRefused([file.place(Fault(("temperature",), message))])
        parameters["temperature"] = temperature
    instructions = _text(tree, "instruction_file", "instructions_file") or _INSTRUCTIONS
    tools = _text(tree, "tools_file", "tool_file")
    return AgentMetadata(
        instructions_file=path.parent / instructions,
        model=_text(tree, "model"),
        parameters=parameters,
        tools_file=path.parent / tools if tools else None,
    )


def write_baseline(agent_configs: Path, instructions: str, *, model: str | None = None) -> Path:
    """Write the first instructions of an agent; gives their file.

    Raises `InputError` where there are some already.
    """
    folder = agent_configs / BASELINE.name
    path = folder / _INSTRUCTIONS
    write_new(path, instructions)
    _write_metadata(folder, model)
    return path


def _write_metadata(folder: Path, model: str | None) -> None:
    if not (folder / _METADATA).exists():
        named = {"model": model} if model else {}
        write_new(folder / _METADATA, dump_yaml(named | {"instruction_file": _INSTRUCTIONS}))


def apply_instructions(path: Path, instructions: str, agent_configs: Path) -> Path | None:
    """Write instructions to where the agent reads them; gives the archived copy of the old ones.

    The copy is made first, byte for byte. Windows line ends of the old text are kept.
    """
    archived = None
    if path.exists():
        archived = _archive(path, agent_configs / "archive")
        if b"\r\n" in path.read_bytes():
            instructions = instructions.replace("\r\n", "\n").replace("\n", "\r\n")
    write_atomically(path, instructions)
    if path == agent_configs / BASELINE.name / _INSTRUCTIONS:
        _write_metadata(path.parent, None)
    return archived


def _archive(path: Path, folder: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    archived, number = folder / f"{stamp}-{path.name}", 1
    while archived.exists():
        number += 1
        archived = folder / f"{stamp}-{number}-{path.name}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, archived)
    except OSError as error:
        raise InputError(f"cannot archive {str(path)!r}: {error.strerror or error}") from error
    return archived


def _as_map(file: YamlFile) -> dict[str, Any]:
    if file.tree is None:
        return {}
    if not isinstance(file.tree, dict):
        fault = Fault((), f"expected a map such as `model: ...`, got {name_kind(file.tree)}")
        raise FilesRefused([file.place(fault)])
    return file.tree


def _text(tree: Mapping[str, Any], *keys: str) -> str | None:
    for key in keys:
        value = tree.get(key)
        if isinstance(value, str) and not (isinstance(value, Plain) and value.is_null):
            return str(value)
    return None
