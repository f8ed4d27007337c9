"""Hold a row against its types and against the rules between its fields."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from azd_eval.evaluator_options import NEEDS_EXPECTED
from azd_eval.formats.evaluator_maps import find_evaluator_faults
from azd_eval.formats.faults import Fault, Loc, name_field, name_kind, show
from azd_eval.formats.schema import Schema
from azd_eval.formats.task_rows import MOST_ITEMS, CriterionRow, TaskRow, TurnRow

_PROMPT = ("prompt", "query")
_EXPECTED = ("groundTruth", "ground_truth")
_OF_A_TURN = ("grounding", "evaluators", "evaluators_mode", "response", "evidence")
FOREIGN_PROMPT = ("question", "input", "message", "user_input")
_PATTERNS = ("regex", "not_regex")
_SPECIFIED_TASK = ("name", "prompt", "criteria", "groundTruth")
_SPECIFIED_CRITERION = ("name", "instruction")

_SCHEMA = Schema(TaskRow, lenient=(TaskRow, TurnRow, CriterionRow))
_NO_NAME = Fault(
    ("name",),
    "missing `name`",
    "it is made from the content; a name of your own keeps results comparable",
    "warning",
)
_NO_CRITERIA = Fault(
    ("criteria",), "missing `criteria`", "`builtin.task_adherence` scores a task by them; write one"
)
_ONLY_RUBRICS = Fault(
    ("criteria",),
    "missing `criteria`",
    "only a rubric can score this task; criteria of its own say more",
    "warning",
)

Located = tuple[Loc, dict[str, Any]]
FindPatternFault = Callable[[str], str | None] | None
"""Says what is wrong with a regular expression, or None when nothing is."""


@dataclass(frozen=True, slots=True)
class TaskRules:
    """What a row must fulfil beyond its types.

    `criteria_required`: nothing else would score the task; `criteria_optional`: other evaluators
    score every task well enough. `strict`: only the fields of the
    specification, and warnings are errors. `find_pattern_fault` is handed in because the engine
    that runs a pattern decides whether it is one. `custom_evaluators` are the names that
    `evaluators` may hold beside the built-in ones; None when they are not known.
    """

    criteria_required: bool = False
    criteria_optional: bool = False
    strict: bool = False
    find_pattern_fault: FindPatternFault = None
    custom_evaluators: frozenset[str] | None = None


PLAIN_RULES = TaskRules()


def check_row(value: object, rules: TaskRules) -> list[Fault]:
    """Find every fault of a value; with no error among them, it is a `TaskRow`.

    Unknown keys that are warned of may be left in it.
    """
    if not isinstance(value, dict):
        hint = "write each task on a line of its own, as `{...}`"
        return [Fault((), f"expected an object, got {name_kind(value)}", hint)]
    _, faults = _SCHEMA.read(value)
    faults += _find_broken_rules(value, rules)
    if rules.strict:
        faults = [replace(fault, severity="error") for fault in faults]
        faults += _find_unspecified(value)
    return faults


def find_check_faults(loc: Loc, check: dict[str, Any], find: FindPatternFault) -> list[Fault]:
    """Find what is wrong with a check beyond its types: one kind, and a pattern that compiles."""
    faults = []
    if len(check) != 1:
        hint = "use one criterion for each test"
        faults.append(Fault(loc, f"expected exactly one kind of check, got {len(check)}", hint))
    for kind in _PATTERNS:
        pattern = check.get(kind)
        if isinstance(pattern, str) and find is not None and (fault := find(pattern)):
            faults.append(Fault((*loc, kind), f"invalid pattern: {fault}"))
    return faults


def _find_broken_rules(row: dict[str, Any], rules: TaskRules) -> list[Fault]:
    faults = [] if row.get("name") is not None else [_NO_NAME]
    top: Located = ((), row)
    groups = [[top]]
    if row.get("turns") is None:
        faults += _find_message_faults(top)
    else:
        turns = _objects(("turns",), row["turns"])
        faults += _find_misplaced(row, turns)
        for turn in turns:
            faults += _find_message_faults(turn)
        groups = [*([turn] for turn in turns[:-1]), [*turns[-1:], top]]
    for group in groups:
        faults += _find_criteria_faults(group, rules)
        faults += _find_evaluator_faults(group, rules)
    parts = [top, *(group[0] for group in groups)]
    is_scored = any(part.get("criteria") or part.get("evaluators") for _, part in parts)
    if rules.criteria_required and not is_scored:
        faults.append(_NO_CRITERIA)
    elif not (is_scored or rules.criteria_optional):
        faults.append(_ONLY_RUBRICS)
    return faults


def _find_message_faults(turn: Located) -> list[Fault]:
    loc, row = turn
    faults = []
    if row.get("prompt") is None and row.get("query") is None:
        other = next((key for key in FOREIGN_PROMPT if key in row), None)
        hint = f"rename `{other}` to `prompt`" if other else None
        faults.append(Fault((*loc, "prompt"), "missing `prompt`", hint))
    if row.get("evidence") and row.get("response") is None:
        faults.append(Fault((*loc, "evidence"), "`evidence` without `response`", at_key=True))
    for key, other in (_PROMPT, _EXPECTED):
        if other in row and _differ(row.get(key), row[other]):
            message = f"`{key}` and `{other}` are the same field and differ"
            faults.append(Fault((*loc, other), message, "keep one of them", at_key=True))
    return faults


def _differ(one: object, other: object) -> bool:
    return isinstance(one, str) and isinstance(other, str) and one != other


def _find_misplaced(row: dict[str, Any], turns: list[Located]) -> list[Fault]:
    faults = []
    if key := _find_given(row, _PROMPT):
        hint = f"make `{key}` the first turn"
        faults.append(Fault((key,), f"`{key}` and `turns` in one task", hint, at_key=True))
    key = _find_given(row, _EXPECTED)
    if key and turns and _find_given(turns[-1][1], _EXPECTED):
        hint = "beside `turns` it belongs to the last turn; keep one of them"
        faults.append(Fault((key,), f"`{key}` is given in the last turn too", hint, at_key=True))
    for key in _OF_A_TURN:
        if row.get(key) is not None:
            message = f"`{key}` and `turns` in one task"
            faults.append(Fault((key,), message, "move it into its turn", at_key=True))
    return faults


def _find_evaluator_faults(group: list[Located], rules: TaskRules) -> list[Fault]:
    """Look at the evaluators of one turn, whose expected answer may stand in two places."""
    (loc, row), *_ = group
    named = row.get("evaluators")
    if not named or not isinstance(named, dict):
        return []
    where = (*loc, "evaluators")
    faults = find_evaluator_faults(where, named, rules.custom_evaluators)
    if not any(part.get(key) for _, part in group for key in _EXPECTED):
        faults += [
            Fault((*where, name), f"{name} needs an expected answer", "add `groundTruth`")
            for name in named
            if name in NEEDS_EXPECTED
        ]
    return faults


def _find_criteria_faults(group: list[Located], rules: TaskRules) -> list[Fault]:
    """Look at the criteria of one turn, which may stand in two places."""
    faults: list[Fault] = []
    first: dict[str, tuple[Loc, int]] = {}
    for loc, row in group:
        listed = row.get("criteria")
        for index, criterion in enumerate(listed[:MOST_ITEMS] if isinstance(listed, list) else ()):
            if not isinstance(criterion, dict):
                continue
            # Paths are made for faults alone: a dataset may have millions of rows without.
            here, name, check = (loc, index), criterion.get("name"), criterion.get("check")
            if isinstance(name, str) and first.setdefault(name, here) is not here:
                message = f"criterion {show(name)} stands twice in the task"
                hint = f"rename it; the first is `{name_field(_criterion(*first[name]))}`"
                faults.append(Fault((*_criterion(*here), "name"), message, hint))
            if isinstance(check, dict):
                where = (*_criterion(*here), "check")
                faults += find_check_faults(where, check, rules.find_pattern_fault)
    return faults


def _criterion(loc: Loc, index: int) -> Loc:
    return (*loc, "criteria", index)


def _find_unspecified(row: dict[str, Any]) -> list[Fault]:
    faults = _name_unspecified(((), row), TaskRow, _SPECIFIED_TASK)
    for criterion in _objects(("criteria",), row.get("criteria")):
        faults += _name_unspecified(criterion, CriterionRow, _SPECIFIED_CRITERION)
    return faults


def _name_unspecified(part: Located, kind: type, specified: Sequence[str]) -> list[Fault]:
    loc, row = part
    return [
        Fault((*loc, key), f"`{key}` is not a field of the specification", at_key=True)
        for key in row
        if key in kind.__annotations__ and key not in specified
    ]


def _objects(loc: Loc, listed: object) -> list[Located]:
    if not isinstance(listed, list):
        return []
    items = enumerate(listed[:MOST_ITEMS])
    return [((*loc, index), item) for index, item in items if isinstance(item, dict)]


def _find_given(row: dict[str, Any], keys: Sequence[str]) -> str | None:
    return next((key for key in keys if row.get(key) is not None), None)
