"""Write the demo: a small agent in plain Python, with instructions that can be improved."""

from pathlib import Path
from typing import Final

from azd_eval.errors import InputError
from azd_eval.files import write_new
from azd_eval.prompts import template

_FILES: Final = (
    "README.md",
    "agent.py",
    "knowledge.md",
    "azure.yaml",
    ".agent_configs/baseline/metadata.yaml",
    ".agent_configs/baseline/instructions.md",
)


def write_demo_project(folder: Path) -> tuple[Path, ...]:
    """Write the files of the demo into a new or empty folder; returns their paths.

    Raises `InputError` when something is there already, and when the folder cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{str(folder)!r} is not an empty folder",
            hint="name a folder that does not exist yet: `azd-eval demo my-demo`",
        )
    paths = tuple(folder / name for name in _FILES)
    for name, path in zip(_FILES, paths, strict=True):
        write_new(path, template(f"demo/{name}"))
    return paths
