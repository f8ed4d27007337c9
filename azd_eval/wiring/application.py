"""Write better instructions to where the agent reads them."""

from pathlib import Path

from azd_eval.errors import InputError
from azd_eval.files import require_writable_path
from azd_eval.formats.agent_folder import apply_instructions
from azd_eval.storage.optimization_folder import StoredOptimization, candidate_instructions
from azd_eval.wiring.layout import Layout
from azd_eval.wiring.setup import Setup


def require_writable(setup: Setup) -> Path:
    """Say where instructions would be written; raises `InputError` where they cannot be."""
    target = find_place(setup)
    if target is None:
        raise _refuse_inline(setup.config_path)
    require_writable_path(target)
    return target


def apply_stored(layout: Layout, stored: StoredOptimization, candidate: str) -> Path:
    """Write a candidate to where its optimization read the instructions, archiving those there.

    Needs no model, and no config that is still as it was. Raises `InputError`.
    """
    text = candidate_instructions(stored.path, candidate)
    place: str | None = stored.manifest.get("instructions_file")
    if place is None:
        raise _refuse_inline(stored.manifest.get("config"))
    target = layout.project / place
    apply_instructions(target, text, layout.agent_configs)
    return target


def find_place(setup: Setup) -> Path | None:
    """Find the file of the agent's instructions, there or not; None when they stand inline."""
    instructions = setup.agent.instructions
    if instructions.is_inline:
        return None
    return instructions.file or setup.layout.baseline_instructions


def _refuse_inline(config: object) -> InputError:
    return InputError(
        f"{config}: `agent.instructions` stand inside the config, which is never rewritten",
        hint="move them into a file and name it as `agent.instructions_file`, or replace the "
        "lines of `agent.instructions` by the candidate's instructions.md",
    )
