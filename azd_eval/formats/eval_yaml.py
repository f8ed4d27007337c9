"""eval.yaml: read it strictly, every fault with its line, and write the first one."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from azd_eval.config import DEFAULT_ITERATIONS, EvalConfig
from azd_eval.domain.gate import read_error_limit, read_share
from azd_eval.errors import FilesRefused, Problem
from azd_eval.formats.eval_aliases import Adopted, adopt
from azd_eval.formats.evaluator_references import find_reference_faults
from azd_eval.formats.faults import Fault, Loc, cut_faults, name_field, name_kind
from azd_eval.formats.schema import Schema
from azd_eval.formats.yaml_files import Mark, dump_yaml, read_yaml
from azd_eval.formats.yaml_scalars import fit
from azd_eval.prompts import fill

_SCHEMA = Schema(EvalConfig)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REFERENCE = re.compile(r"\$\{[^}]*\}?")
_EXAMPLE = """\
the smallest eval.yaml is
  agent:
    name: my-agent
  dataset_file: ./my_eval_dataset.jsonl
  options:
    eval_model: gpt-4.1-mini"""


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A config, and what to tell about the way it was written."""

    config: EvalConfig
    path: Path | None = None
    notes: tuple[str, ...] = ()
    places: Mapping[str, Mark] = field(default_factory=dict)

    def place(self, problem: Problem) -> Problem:
        """Give a problem of a field its place in the file."""
        line, column = self.places.get(problem.field or "", (None, None))
        return replace(problem, path=str(self.path or ""), line=line, column=column)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteConfig:
    """What the first eval.yaml says. `callable` makes it a Python agent, else it is a model."""

    agent: str
    model: str
    dataset_file: str
    evaluators: tuple[str, ...]
    name: str | None = None
    callable: str | None = None
    max_iterations: int = DEFAULT_ITERATIONS


def load_eval_yaml(path: Path) -> LoadedConfig:
    """Read a config; raises `InputError` when there is none, `FilesRefused` with all problems."""
    file = read_yaml(path, "config")
    if not isinstance(file.tree, dict):
        given = "nothing" if file.tree is None else name_kind(file.tree)
        fault = Fault((), f"expected `agent`, `dataset_file` and `options`, got {given}", _EXAMPLE)
        raise FilesRefused([file.place(fault)])
    adopted = adopt(file.tree)
    faults = list(adopted.faults)
    tree = fit(adopted.tree, EvalConfig)
    faults += _read_limits(tree)
    config, mismatches = _SCHEMA.read(tree)
    faults += [*mismatches, *_find_pasted_keys(tree), *_find_unreplaced(tree)]
    faults += find_reference_faults(tree.get("evaluators"))
    errors = [fault for fault in faults if fault.severity == "error"]
    if config is None or errors:
        problems = [file.place(_as_written(fault, adopted)) for fault in cut_faults(errors)]
        raise FilesRefused(sorted(problems, key=lambda problem: problem.line or 0))
    notes = (file.place(note) for note in (*adopted.notes, *faults))
    places = {name_field(loc) or "": value for loc, (value, _) in file.places.items()}
    return LoadedConfig(config, path, tuple(map(str, notes)), places)


def write_eval_yaml(suite: SuiteConfig) -> str:
    """Write the eval.yaml of a new suite, with comments for whoever edits it."""
    agent: dict[str, Any] = {"name": suite.agent, "kind": "model", "model": suite.model}
    if suite.callable is not None:
        agent = {"name": suite.agent, "kind": "python", "callable": suite.callable}
    options = {
        "eval_model": suite.model,
        "optimization_model": suite.model,
        "max_iterations": suite.max_iterations,
    }
    named = {"name": suite.name} if suite.name is not None else {}
    blocks = {
        "agent": dump_yaml({**named, "agent": agent}),
        "dataset": dump_yaml({"dataset_file": suite.dataset_file}),
        "evaluators": dump_yaml({"evaluators": list(suite.evaluators)}),
        "options": dump_yaml({"options": options}).rstrip("\n"),
    }
    return fill("eval.yaml", blocks)


def _as_written(fault: Fault, adopted: Adopted) -> Fault:
    is_bare = fault.loc in (("agent",), ("agent", "name")) and fault.message.startswith("missing")
    hint = _EXAMPLE if is_bare else fault.hint
    return replace(fault, loc=adopted.trace(fault.loc), hint=hint)


def _read_limits(tree: dict[str, Any]) -> list[Fault]:
    """Turn `70%` into 0.7 and try the limit of errors; what cannot be read is taken out."""
    options, faults = tree.get("options"), []
    if not isinstance(options, dict):
        return []
    limits = {"fail_under": read_share, "hold_out": read_share, "max_errors": read_error_limit}
    for key, read in limits.items():
        if isinstance(options.get(key), str | int | float):
            try:
                value = read(options[key])
            except ValueError as error:
                faults.append(Fault(("options", key), str(error)))
                del options[key]
            else:
                options[key] = options[key] if key == "max_errors" else value
    return faults


def _find_pasted_keys(tree: dict[str, Any]) -> list[Fault]:
    models = tree.get("models")
    hint = "put the key into a variable or a `.env` file, and its name here"
    return [
        Fault(("models", name, "api_key_env"), "expected the name of a variable", hint)
        for name, model in (models.items() if isinstance(models, dict) else ())
        if isinstance(model, dict)
        and isinstance(variable := model.get("api_key_env"), str)
        and not _VARIABLE.fullmatch(variable)
    ]


def _find_unreplaced(tree: Any, loc: Loc = ()) -> Iterator[Fault]:
    """Find variables where none is replaced: they would be sent, or opened, as they are written."""
    match loc:
        case ("agent", "instructions") | ("models", _, "api_key_env"):
            return
        case ("models", _, "base_url" | "deployment" | "api_version"):
            return
    if isinstance(tree, dict | list | tuple):
        for step, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _find_unreplaced(value, (*loc, step))
    elif isinstance(tree, str) and (found := _REFERENCE.search(tree)):
        hint = "only `base_url`, `deployment` and `api_version` of `models` take variables"
        yield Fault(loc, f"`{found[0]}` is not replaced in this field", hint)
