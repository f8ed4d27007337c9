"""Hold an evaluation document against what is documented, with notes where it goes beyond."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from azd_eval.evaluator_options import NEEDS_EXPECTED, SYSTEM_DEFAULTS
from azd_eval.formats.document_models import MOST_TURNS
from azd_eval.formats.document_rows import RESULTS, ItemRow, RootRow, TurnRow, part_ours
from azd_eval.formats.document_shapes import PARALLEL, Shape
from azd_eval.formats.document_versions import find_newer_features, find_version_faults
from azd_eval.formats.evaluator_maps import find_evaluator_faults
from azd_eval.formats.faults import Fault, Loc, name_kind, show, suggest
from azd_eval.formats.schema import Schema
from azd_eval.formats.task_rows import check_encodable
from azd_eval.formats.task_rules import FOREIGN_PROMPT, TaskRules, check_row

_ROOT = Schema(RootRow)
_ITEM = Schema(ItemRow, lenient=(ItemRow,))
_TURN = Schema(TurnRow, lenient=(TurnRow,))
_OF_ROOT = (*RootRow.__annotations__, "$schema", "name", "tags", "extensions")
_OF_A_TURN = ("expected_response", "context", "response", "citations", "diagnostics")
_FOREIGN = {
    **dict.fromkeys((*FOREIGN_PROMPT, "query"), "prompt"),
    **dict.fromkeys(
        ("expected", "expected_answer", "expected_output", "ground_truth", "groundTruth", "answer"),
        "expected_response",
    ),
}
_KEPT = "it is kept and not used; data of your own belongs into `extensions`"
_LEGACY = Fault(
    (),
    "the document states no `schemaVersion`; it is read as the versioned form",
    "`runevals --upgrade` writes that form back, with a backup",
    "note",
)


def find_document_faults(shape: Shape, rules: TaskRules) -> list[Fault]:
    """Find all there is to say of a document; with no error among it, tasks can be built."""
    return list(_Review(shape, rules).find_faults())


@dataclass(frozen=True, slots=True)
class _Review:
    shape: Shape
    rules: TaskRules

    def find_faults(self) -> Iterator[Fault]:
        root = self.shape.root
        if self.shape.is_legacy:
            yield _LEGACY
        yield from find_version_faults(root["schemaVersion"])
        yield from _ROOT.read(root)[1]
        yield from _find_slips(root)
        default = root.get("default_evaluators")
        custom = self.rules.custom_evaluators
        yield from find_evaluator_faults(("default_evaluators",), default, custom)
        yield from find_newer_features(root["schemaVersion"], root, self.shape.items)
        for index, item in enumerate(self.shape.rows):
            loc = (*self.shape.items, index)
            yield from self._review_item(loc, item)
            try:
                check_encodable(item)
            except ValueError as error:
                yield Fault(loc, str(error))

    def _review_item(self, loc: Loc, item: object) -> Iterator[Fault]:
        if not isinstance(item, dict):
            yield Fault(loc, f"expected an object, got {name_kind(item)}")
            return
        fields, ours = part_ours(item)
        yield from self._review_fields(loc, _ITEM, fields, ours)
        turns = fields.get("turns")
        if turns is None:
            yield from self._review_scoring(loc, fields, [fields])
            return
        yield from _find_beside_turns(loc, fields)
        yield from find_evaluator_faults(
            (*loc, "evaluators"), fields.get("evaluators"), self.rules.custom_evaluators
        )
        for index, turn in enumerate(turns if isinstance(turns, list) else ()):
            yield from self._review_turn((*loc, "turns", index), turn, fields)

    def _review_turn(self, loc: Loc, turn: object, item: Mapping[str, Any]) -> Iterator[Fault]:
        if not isinstance(turn, dict):
            yield Fault(loc, f"expected an object, got {name_kind(turn)}")
            return
        fields, ours = part_ours(turn)
        yield from self._review_fields(loc, _TURN, fields, ours)
        yield from self._review_scoring(loc, fields, [fields, item])

    def _review_fields(
        self, loc: Loc, schema: Schema[Any], fields: Mapping[str, Any], ours: Mapping[str, Any]
    ) -> Iterator[Fault]:
        """Look at what an item or a turn holds, each field for itself."""
        yield from _place(loc, _read(schema, fields))
        yield from _place((*loc, "extensions", "azd_eval"), self._review_ours(ours))
        yield from _note_results(loc, fields)

    def _review_ours(self, ours: Mapping[str, Any]) -> list[Fault]:
        """Check what JSONL has and documents have not, as a line of JSONL."""
        row = {"name": "n", "prompt": "p", **ours}
        return [fault for fault in check_row(row, self.rules) if {*fault.loc[:1]} & ours.keys()]

    def _review_scoring(
        self, loc: Loc, turn: Mapping[str, Any], levels: Sequence[Mapping[str, Any]]
    ) -> Iterator[Fault]:
        """Look at a turn as it is asked and scored; `levels` are its choices, innermost first."""
        prompt = turn.get("prompt")
        if prompt is None:
            yield Fault((*loc, "prompt"), "missing `prompt`")
        elif isinstance(prompt, str) and prompt and not prompt.strip():
            yield Fault((*loc, "prompt"), "the prompt is blank", severity="warning")
        named = turn.get("evaluators")
        yield from find_evaluator_faults((*loc, "evaluators"), named, self.rules.custom_evaluators)
        if turn.get("expected_response"):
            return
        where = (*loc, "expected_response")
        needing = sorted(NEEDS_EXPECTED & self._names_in_force(levels))
        for name in needing:
            yield Fault(where, f"{name} needs `expected_response`", "add the answer expected")
        if not needing:
            yield Fault(where, "no `expected_response`; no evaluator needs it", severity="note")

    def _names_in_force(self, levels: Sequence[Mapping[str, Any]]) -> set[str]:
        names: set[str] = set()
        for level in levels:
            names.update(_names(level.get("evaluators")))
            if level.get("evaluators_mode") == "replace":
                return names
        default = self.shape.root.get("default_evaluators")
        return names.union(_names(SYSTEM_DEFAULTS if default is None else default))


def _names(evaluators: object) -> Iterable[str]:
    return evaluators.keys() if isinstance(evaluators, Mapping) else ()


def _note_results(loc: Loc, fields: Mapping[str, Any]) -> Iterator[Fault]:
    for key in RESULTS:
        if key in fields:
            message = f"`{key}` of an earlier run is passed over"
            yield Fault((*loc, key), message, severity="note", at_key=True)


def _read(schema: Schema[Any], fields: Mapping[str, Any]) -> Iterator[Fault]:
    for fault in schema.read(fields)[1]:
        meant = _FOREIGN.get(str(fault.loc[-1])) if fault.at_key else None
        if meant is not None and fields.get(meant) is None:
            yield replace(fault, severity="error", hint=f"rename it to `{meant}`")
        else:
            yield replace(fault, hint=_KEPT) if fault.severity == "warning" else fault


def _find_slips(root: Mapping[str, Any]) -> Iterator[Fault]:
    for key in PARALLEL:
        if key in root:
            message = f"`{key}` and `items` in one document"
            yield Fault((key,), message, "move it into the items", at_key=True)
    for key in root:
        close = None if key in _OF_ROOT else suggest(key, _OF_ROOT)
        if close:
            yield Fault((key,), f"unknown key {show(key)}", f"did you mean `{close}`?", at_key=True)


def _find_beside_turns(loc: Loc, fields: Mapping[str, Any]) -> Iterator[Fault]:
    if fields.get("prompt") is not None:
        hint = "make `prompt` the first turn"
        yield Fault((*loc, "prompt"), "`prompt` and `turns` in one item", hint, at_key=True)
    for key in _OF_A_TURN:
        if fields.get(key) is not None:
            message = f"`{key}` and `turns` in one item"
            yield Fault((*loc, key), message, "move it into its turn", at_key=True)
    turns = fields.get("turns")
    if isinstance(turns, list) and len(turns) > MOST_TURNS:
        message = f"{len(turns)} turns; the official schema takes at most {MOST_TURNS}"
        yield Fault((*loc, "turns"), message, severity="note")


def _place(loc: Loc, faults: Iterable[Fault]) -> Iterator[Fault]:
    for fault in faults:
        yield replace(fault, loc=(*loc, *fault.loc))
