"""What may be said beside eval.yaml: the flags of the commands, the keywords of the Python API."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azd_eval.config import EvalConfig
from azd_eval.domain.gate import read_error_limit
from azd_eval.errors import FilesRefused, Problem
from azd_eval.formats.evaluator_references import find_reference_faults
from azd_eval.formats.faults import Fault, name_field
from azd_eval.formats.schema import Schema
from azd_eval.wiring.evaluators import locate_from_shell
from azd_eval.workflows.select_tasks import TaskFilter

_SCHEMA = Schema(EvalConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """What is said beside the config; None or nothing means: as the config says.

    Paths are relative to the working folder. `evaluators` are names, files, or maps as in eval.yaml
    with paths relative to it. `fail_under` is 0..1; `max_errors` a number or a share such as `5%`.
    With `cache` off, every model is asked again.
    """

    agent: str | None = None
    dataset: Path | str | None = None
    evaluators: Sequence[str | Mapping[str, Any]] = ()
    name: str | None = None
    task: Sequence[str] = ()
    category: Sequence[str] = ()
    test_id: Sequence[str] = ()
    limit: int | None = None
    repeats: int | None = None
    concurrency: int | None = None
    eval_model: str | None = None
    optimize_model: str | None = None
    model: str | None = None
    instructions_file: Path | str | None = None
    callable: str | None = None
    fail_under: float | None = None
    max_errors: str | int | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    max_time_s: float | None = None
    max_iterations: int | None = None
    strategy: str | None = None
    proposals: int | None = None
    hold_out: float | None = None
    seed: int | None = None
    cache: bool = True
    run_dir: Path | str | None = None

    @property
    def task_filter(self) -> TaskFilter:
        """Tell which tasks are wanted."""
        return TaskFilter(tuple(self.task), tuple(self.category), self.limit, tuple(self.test_id))

    def apply(self, config: EvalConfig) -> EvalConfig:
        """Give the config as it holds for this command; raises `FilesRefused`."""
        options = {
            "eval_model": self.eval_model,
            "optimization_model": self.optimize_model,
            "repeats": self.repeats,
            "concurrency": self.concurrency,
            "fail_under": self.fail_under,
            "max_errors": self.max_errors,
            "max_calls": self.max_calls,
            "max_tokens": self.max_tokens,
            "max_cost": self.max_cost,
            "max_time_s": self.max_time_s,
            "max_iterations": self.max_iterations,
            "strategy": self.strategy,
            "proposals": self.proposals,
            "hold_out": self.hold_out,
            "seed": self.seed,
        }
        tree = config.model_dump()
        tree["agent"] |= _given({"name": self.agent, "model": self.model})
        tree["agent"] |= _locate_callable(self.callable)
        tree["options"] |= _given(options)
        tree |= _given({"name": self.name})
        if self.evaluators:
            known = {row["name"]: row for row in tree["evaluators"]}
            rows = (_read_evaluator(each, known) for each in self.evaluators)
            tree["evaluators"] = tuple(rows)
        changed, faults = _SCHEMA.read(tree)
        faults += [*_find_bad_limits(self), *find_reference_faults(tree["evaluators"])]
        faults = [fault for fault in faults if fault.severity == "error"]
        if changed is None or faults:
            raise FilesRefused(
                [
                    Problem(fault.message, field=name_field(fault.loc), hint=fault.hint)
                    for fault in faults
                ]
            )
        return changed


def _locate_callable(name: str | None) -> dict[str, object]:
    """Give what makes an agent of a function; here, a file is relative to the shell."""
    if name is None:
        return {}
    source, _, function = name.rpartition(":")
    place = f"{Path(source).absolute()}:{function}" if source.endswith(".py") else name
    return {"kind": "python", "callable": place}


def _read_evaluator(
    given: str | Mapping[str, Any], known: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    """Give the row of an evaluator; a name that the config sets up means what it says there."""
    if isinstance(given, Mapping):
        return dict(given)
    name = locate_from_shell(given)
    return known.get(name, {"name": name})


def _given(values: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}


def _find_bad_limits(overrides: Overrides) -> Iterator[Fault]:
    if overrides.limit is not None and not 1 <= overrides.limit <= sys.maxsize:
        yield Fault(("limit",), f"expected a number from 1 to {sys.maxsize}, got {overrides.limit}")
    try:
        read_error_limit(overrides.max_errors or 0)
    except ValueError as error:
        yield Fault(("max_errors",), str(error))
