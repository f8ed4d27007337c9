"""What azd's versions write into eval.yaml: read as ours, passed over, or refused with help."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from azd_eval.formats.faults import Fault, Loc, name_field
from azd_eval.formats.yaml_scalars import Plain

_RENAMED: Mapping[Loc, Loc] = {
    ("dataset_reference",): ("dataset",),
    ("validation_reference",): ("validation_dataset",),
    ("agent", "instruction"): ("agent", "instructions"),
    ("agent", "instruction_file"): ("agent", "instructions_file"),
    ("options", "max_candidates"): ("options", "max_iterations"),
    ("options", "budget"): ("options", "max_iterations"),
    ("options", "reflection_model"): ("options", "optimization_model"),
}
_UNUSED: Mapping[Loc, str] = {
    ("max_samples",): "not used here: `eval init --max-samples` says how many tasks to draft",
    ("trace_days",): "not used: evaluators are not drafted from traces",
    ("generation_instruction",): "not used here: `eval init --gen-instruction` drafts a dataset",
    ("options", "max_stalls"): "not used",
    ("options", "max_concurrent_agent_runs"): "not used: `options.concurrency` bounds all calls",
    ("options", "strategies"): "not used: the instructions are what is optimized",
    ("options", "target_attributes"): "not used: the instructions are what is optimized",
    ("options", "min_improvement"): "not used",
    ("options", "improvement_threshold"): "not used",
    ("options", "keep_versions"): "not used",
    ("options", "tasks_per_iteration"): "not used",
    ("options", "mode"): "not used",
    ("options", "evaluation_level"): "not used: every turn of a task is scored",
}
_REFUSED: Mapping[Loc, tuple[str, str]] = {
    ("criteria",): (
        "criteria belong to the tasks",
        "write them as `criteria` of each task in the dataset, or as a rubric",
    ),
    ("options", "optimization_config"): (
        "only the instructions can be optimized",
        "remove it; `agent.model` and `agent.parameters` stay as they are",
    ),
    ("options", "target_config"): (
        "only the instructions can be optimized",
        "remove it; `agent.model` stays as it is",
    ),
    ("options", "pass_threshold"): (
        "a run has no `pass_threshold`",
        "`options.fail_under` is the gate of a run; a rubric has its own `pass_threshold`",
    ),
}


@dataclass(slots=True)
class Adopted:
    """A tree with our keys only; `notes` are faults that are none."""

    tree: dict[str, Any]
    notes: list[Fault] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    _moved: dict[Loc, Loc] = field(default_factory=dict)

    def trace(self, loc: Loc) -> Loc:
        """Give the path at which the user wrote what stands at a path of the adopted tree."""
        for new, old in self._moved.items():
            if loc[: len(new)] == new:
                return old + loc[len(new) :]
        return loc

    def note(self, loc: Loc, message: str) -> None:
        self.notes.append(Fault(loc, message, severity="note", at_key=True))

    def refuse(self, loc: Loc, message: str, hint: str) -> None:
        self.faults.append(Fault(loc, message, hint, at_key=True))

    def rename(self, old: Loc, new: Loc) -> None:
        value, present = self.take(old), self.get(new)
        if value is None:
            return
        if present is None:
            self._section(new)[str(new[-1])] = value
            self._moved[new] = old
            self.note(old, f"read as `{name_field(new)}`, the preferred key")
        elif present != value:
            message = f"the same as `{name_field(new)}`, and they differ"
            self.refuse(old, message, f"keep `{name_field(new)}`")

    def get(self, loc: Loc) -> Any:
        return self._section(loc).get(str(loc[-1]))

    def take(self, loc: Loc) -> Any:
        return self._section(loc).pop(str(loc[-1]), None)

    def _section(self, loc: Loc) -> dict[str, Any]:
        section = self.tree.get(str(loc[0])) if len(loc) > 1 else self.tree
        return section if isinstance(section, dict) else {}


def adopt(tree: Mapping[str, Any]) -> Adopted:
    """Translate what azd's versions write; leaves the tree that it is given as it is."""
    copy = {key: dict(value) if isinstance(value, dict) else value for key, value in tree.items()}
    adopted = Adopted(copy)
    for old, new in _RENAMED.items():
        adopted.rename(old, new)
    for loc, reason in _UNUSED.items():
        if adopted.take(loc) is not None:
            adopted.note(loc, reason)
    for loc, (message, hint) in _REFUSED.items():
        if adopted.take(loc) is not None:
            adopted.refuse(loc, message, hint)
    _adopt_kind(adopted)
    _adopt_dataset(adopted)
    _adopt_validation(adopted)
    _adopt_evaluators(adopted)
    return adopted


def _adopt_kind(adopted: Adopted) -> None:
    kind, loc = adopted.get(("agent", "kind")), ("agent", "kind")
    if kind == "prompt":
        adopted.tree["agent"]["kind"] = "model"
        adopted.note(loc, "`prompt` is read as `model`: the instructions with a chat model")
    elif kind == "hosted":
        hint = "`kind: model` puts the tasks to its instructions and a chat model instead"
        adopted.refuse(loc, "a hosted agent cannot be called yet", hint)
        del adopted.tree["agent"]["kind"]


def _adopt_dataset(adopted: Adopted) -> None:
    dataset, file = adopted.tree.get("dataset"), adopted.tree.get("dataset_file")
    if isinstance(dataset, str) and dataset:
        hint = f"write `dataset_file: {dataset}`"
        adopted.refuse(("dataset",), "expected a map with `local_uri`, got text", hint)
        del adopted.tree["dataset"]
    elif isinstance(dataset, dict) and "local_uri" in dataset:
        loc = ("dataset", "local_uri")
        if file is None:
            adopted.note(loc, "read as `dataset_file`, the preferred key")
        elif file != dataset["local_uri"]:
            adopted.refuse(loc, "the same as `dataset_file`, and they differ", "keep one of them")


def _adopt_validation(adopted: Adopted) -> None:
    path = adopted.tree.get("validation_dataset")
    if isinstance(path, str) and path:
        adopted.tree["validation_dataset"] = {"local_uri": path}


def _adopt_evaluators(adopted: Adopted) -> None:
    listed = adopted.tree.get("evaluators")
    if listed == [] or (isinstance(listed, Plain) and listed.is_null):
        hint = "name one, or remove the key for `builtin.task_adherence` alone"
        adopted.refuse(("evaluators",), "must not be empty", hint)
    if not isinstance(listed, list):
        return
    adopted.tree["evaluators"] = [
        {"name": entry} if isinstance(entry, str) else entry for entry in listed
    ]
    for index, entry in enumerate(listed):
        if isinstance(entry, dict) and "local_uri" in entry:
            loc = ("evaluators", index, "local_uri")
            adopted.note(loc, "read; the path alone, as `- ./quality.yaml`, says the same")
