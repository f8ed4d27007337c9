"""Hold an evaluation document against the official schema, no more and no less."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from azd_eval.evaluator_options import OFFICIAL_OPTIONS, CustomOptions
from azd_eval.formats.document_models import Root, Thread, Turn
from azd_eval.formats.document_results import SCORES, ErroredScore
from azd_eval.formats.evaluator_maps import find_name_faults
from azd_eval.formats.faults import Fault, Loc
from azd_eval.formats.schema import Schema

_ROOT, _THREAD, _TURN = Schema(Root), Schema(Thread), Schema(Turn)
_OPTIONS = {name: Schema(kind) for name, kind in OFFICIAL_OPTIONS.items()}
_CUSTOM = Schema(CustomOptions)
_SCORES: dict[str, Schema[Any]] = {key: Schema(kind) for key, kind in SCORES.items()}
_ERRORED = Schema(ErroredScore)
_SANCTIONED = "the official schema has no such field here; it has `extensions` for it"
_HINTS = {
    **dict.fromkeys(("name", "description", "testId", "category", "notes"), _SANCTIONED),
    "prompt": "an item has either `prompt` or `turns`",
}


def find_schema_faults(document: object) -> list[Fault]:
    """Find every fault of a document; with none, the official schema takes it."""
    faults = []
    for loc, part, schema in _find_parts(document):
        for fault in schema.read(part)[1]:
            is_of_item = fault.at_key and len(fault.loc) == 1
            hint = _HINTS.get(str(fault.loc[0]), fault.hint) if is_of_item else fault.hint
            faults.append(replace(fault, loc=(*loc, *fault.loc), hint=hint))
        if schema is _CUSTOM:
            faults += find_name_faults(loc)
    return faults


_Part = tuple[Loc, Any, Schema[Any]]


def _find_parts(document: object) -> Iterator[_Part]:
    yield (), document, _ROOT
    if not isinstance(document, dict):
        return
    yield from _find_evaluators(("default_evaluators",), document)
    for index, item in _enumerate(document.get("items")):
        loc: Loc = ("items", index)
        if not isinstance(item, dict) or "turns" not in item:
            yield from _find_turn(loc, item)
            continue
        yield loc, item, _THREAD
        for place, turn in _enumerate(item["turns"]):
            yield from _find_turn((*loc, "turns", place), turn)


def _find_turn(loc: Loc, turn: object) -> Iterator[_Part]:
    yield loc, turn, _TURN
    if isinstance(turn, dict):
        yield from _find_evaluators((*loc, "evaluators"), turn)
        yield from _find_scores((*loc, "scores"), turn.get("scores"))


def _find_evaluators(loc: Loc, holder: dict[str, Any]) -> Iterator[_Part]:
    named = holder.get(str(loc[-1]))
    for name, options in named.items() if isinstance(named, dict) else ():
        yield (*loc, name), options, _OPTIONS.get(name, _CUSTOM)


def _find_scores(loc: Loc, scores: object) -> Iterator[_Part]:
    for key, score in scores.items() if isinstance(scores, dict) else ():
        is_errored = isinstance(score, dict) and score.get("result") == "error"
        if key in _SCORES:
            yield (*loc, key), score, _ERRORED if is_errored else _SCORES[key]


def _enumerate(listed: object) -> Iterator[tuple[int, Any]]:
    yield from enumerate(listed if isinstance(listed, list) else ())
