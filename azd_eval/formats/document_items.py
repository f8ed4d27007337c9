"""Turn the items of an evaluation document into tasks and tasks into items.

`carried` of a task or a turn is what its item says beside the fields of the record, and stands over
them when the item is written: None for a field that the file does not have.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from azd_eval.domain.task import Reply, Task, Turn, make_unique
from azd_eval.formats.document_models import Thread as OfficialThread
from azd_eval.formats.document_models import Turn as OfficialTurn
from azd_eval.formats.document_rows import (
    EVIDENCE,
    MOVED,
    OUR_KEY,
    RESULTS,
    ItemRow,
    part_ours,
)
from azd_eval.formats.evaluator_maps import keep_official
from azd_eval.formats.tasks import build_criteria, criteria_to_rows, make_name

EvaluatorMap = Mapping[str, Mapping[str, Any]]

_OF_TURN = ("prompt", "expected_response", "context", "evaluators", "evaluators_mode", "response")
_CHOICE = ("evaluators", "evaluators_mode")
_SANCTIONED = ("testId", "category", "notes")
_FIRST = ("name", "description", "prompt", "expected_response", "context", "turns", *_CHOICE)
_LAST = ("testId", "category", "notes", "tags", "response", *EVIDENCE, "extensions")


def build_tasks(items: Iterable[Mapping[str, Any]]) -> tuple[Task, ...]:
    """Build the tasks of good items; their names are unique, made up where need be."""
    tasks: dict[str, Task] = {}
    for item in items:
        task = _build_task(item, tasks)
        tasks[task.name] = task
    return tuple(tasks.values())


def build_item(task: Task, *, official: bool = False) -> dict[str, Any]:
    """Give the item of a task; with `official`, what that schema lacks stands in `extensions`."""
    item: dict[str, Any] = {
        "name": None if task.name == _find_usual_name(task) else task.name,
        "testId": task.test_id,
        "category": task.category,
    }
    ours: dict[str, Any] = {"context": task.context, "metadata": task.metadata}
    if _is_thread(task):
        item["turns"] = [_build_turn_row(turn, official=official) for turn in task.turns]
        allowed = OfficialThread.__annotations__
    else:
        item |= _write_turn(task.turns[0])
        ours["criteria"] = criteria_to_rows(task.turns[0].criteria)
        allowed = OfficialTurn.__annotations__
    return _finish(item | dict(task.carried), ours, allowed if official else None)


def apply_defaults(task: Task, defaults: EvaluatorMap) -> Task:
    """Let each turn name all evaluators that score it, also those of the document."""
    turns = tuple(
        turn
        if turn.evaluators_mode == "replace"
        else replace(turn, evaluators=_merge(defaults, turn.evaluators))
        for turn in task.turns
    )
    turns = tuple(replace(turn, carried=_without_choice(turn.carried)) for turn in turns)
    whole = replace(task, turns=turns, carried=_without_choice(task.carried))
    if _is_thread(whole) == _is_thread(task):
        return whole
    return replace(whole, carried={**whole.carried, "prompt": None})


def _build_task(item: Mapping[str, Any], taken: Container[str]) -> Task:
    fields, ours = part_ours(item)
    listed = fields.get("turns")
    turns: tuple[Turn, ...]
    if listed is None:
        turn = _read_turn(fields, ours)
        turns, carried = (replace(turn, carried={}),), dict(turn.carried)
    else:
        turns = tuple(_inherit(_read_turn(*part_ours(each)), fields) for each in listed)
        carried = _keep(fields, ("turns",))
        if len(turns) == 1 and not turns[0].carried:
            carried["prompt"] = None
    found = {key: _take(carried, key) for key in ("testId", "category")}
    given, context = carried.pop("name", None), ours.get("context")
    task = Task(
        "", turns, found["category"], context, ours.get("metadata", {}), found["testId"], carried
    )
    usual = _find_usual_name(task)
    name = make_unique(given if given and given.strip() else usual, taken)
    if given != (None if name == usual else name):
        carried["name"] = given
    return replace(task, name=name)


def _find_usual_name(task: Task) -> str:
    """Give the name of a task whose item has none."""
    return task.test_id or make_name(task.turns, task.context)


def _read_turn(fields: Mapping[str, Any], ours: Mapping[str, Any]) -> Turn:
    carried = _keep(fields, (*_OF_TURN, *EVIDENCE))
    # An empty text or map says as much as none, but it is written back.
    empty = ("expected_response", "context", "evaluators")
    carried |= {key: fields[key] for key in empty if fields.get(key) in ("", {})}
    evidence = {key: fields[key] for key in EVIDENCE if fields.get(key) is not None}
    response = fields.get("response")
    if response is None:
        carried |= evidence
    return Turn(
        fields["prompt"],
        build_criteria(ours.get("criteria", ())),
        fields.get("expected_response") or None,
        fields.get("context") or None,
        fields.get("evaluators") or {},
        fields.get("evaluators_mode"),
        None if response is None else Reply(response, evidence=evidence),
        carried,
    )


def _inherit(turn: Turn, item: Mapping[str, Any]) -> Turn:
    """Give a turn the evaluators that its item chooses; those of its own stand over them."""
    if all(item.get(key) is None for key in _CHOICE):
        return turn
    own = {"evaluators": turn.evaluators or None, "evaluators_mode": turn.evaluators_mode}
    carried = own | dict(turn.carried)
    if turn.evaluators_mode == "replace":
        return replace(turn, carried=carried)
    merged = _merge(item.get("evaluators") or {}, turn.evaluators)
    mode = item.get("evaluators_mode") or turn.evaluators_mode
    return replace(turn, evaluators=merged, evaluators_mode=mode, carried=carried)


def _merge(outer: EvaluatorMap, inner: EvaluatorMap) -> dict[str, dict[str, Any]]:
    names = dict.fromkeys((*outer, *inner))
    return {name: {**outer.get(name, {}), **inner.get(name, {})} for name in names}


def _without_choice(carried: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in carried.items() if key not in _CHOICE}


def _keep(fields: Mapping[str, Any], used: Container[str]) -> dict[str, Any]:
    """Keep what is neither used nor a result; null in a known field says nothing."""
    return {
        key: value
        for key, value in fields.items()
        if key not in used
        and key not in RESULTS
        and (value is not None or key not in ItemRow.__annotations__)
    }


def _take(carried: dict[str, Any], key: str) -> str | None:
    """Take a text out, or find it where the official schema would have it, in `extensions`."""
    value = carried.get(key)
    if value and value.strip():
        del carried[key]
        return cast(str, value)
    extended = carried.get("extensions", {}).get(key)
    if not isinstance(extended, str) or not extended.strip():
        return None
    carried.setdefault(key, None)
    return extended


def _is_thread(task: Task) -> bool:
    (first, *others), carried = task.turns, task.carried
    return bool(others or first.carried or carried.get("prompt", first) is None)


def _build_turn_row(turn: Turn, *, official: bool) -> dict[str, Any]:
    ours = {"criteria": criteria_to_rows(turn.criteria)}
    allowed = OfficialTurn.__annotations__ if official else None
    return _finish(_write_turn(turn) | dict(turn.carried), ours, allowed)


def _write_turn(turn: Turn) -> dict[str, Any]:
    return {
        "prompt": turn.prompt,
        "expected_response": turn.expected,
        "context": turn.grounding,
        "evaluators": turn.evaluators or None,
        "evaluators_mode": turn.evaluators_mode,
        "response": None if turn.recorded is None else turn.recorded.text,
        **({} if turn.recorded is None else turn.recorded.evidence),
    }


def _finish(
    row: Mapping[str, Any], ours: Mapping[str, Any], allowed: Container[str] | None
) -> dict[str, Any]:
    """Drop what is not set, put what documents lack under our key, and order the rest."""
    known = ItemRow.__annotations__
    fields = {key: each for key, each in row.items() if each is not None or key not in known}
    extensions = dict(fields.pop("extensions", {}))
    kept = {**extensions.pop(OUR_KEY, {}), **{key: each for key, each in ours.items() if each}}
    if allowed is not None:
        moved = {key: fields.pop(key) for key in list(fields) if key not in allowed}
        chosen = fields.get("evaluators", {})
        if (official := keep_official(chosen)) != chosen:
            moved["evaluators"], fields["evaluators"] = chosen, official
        for key in _SANCTIONED:
            if key in moved and key not in extensions:
                extensions[key] = moved.pop(key)
        kept |= {MOVED: moved} if moved else {}
    extensions |= {OUR_KEY: kept} if kept else {}
    had_extensions = row.get("extensions") is not None
    fields |= {"extensions": extensions} if extensions or had_extensions else {}
    others = [key for key in fields if key not in (*_FIRST, *_LAST)]
    return {key: fields[key] for key in (*_FIRST, *others, *_LAST) if key in fields}
