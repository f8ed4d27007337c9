"""Turn rows into tasks and tasks into rows."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from azd_eval.domain.criterion import Check, CheckKind, Criterion
from azd_eval.domain.task import Reply, Task, Turn
from azd_eval.errors import InputError
from azd_eval.formats.faults import in_one_sentence
from azd_eval.formats.task_rows import CheckRow, CriterionRow, TaskRow, TurnRow
from azd_eval.formats.task_rules import PLAIN_RULES, TaskRules, check_row

_WORDS_IN_NAME = 4
_LONGEST_WORDS = 40


def read_task_row(row: Mapping[str, Any], rules: TaskRules = PLAIN_RULES) -> Task:
    """Read one task that a program or a model wrote, as strictly as a line of a file.

    Raises `ValueError` with one sentence that tells all faults.
    """
    plain = dict(row)
    faults = [fault for fault in check_row(plain, rules) if fault.severity == "error"]
    if faults:
        raise ValueError(in_one_sentence(faults))
    return build_task(cast(TaskRow, plain))


def build_task(row: TaskRow) -> Task:
    """Build the task that a good row describes; keys that it should not have are passed over."""
    return Task(
        name=row.get("name") or name_task(row),
        turns=_build_turns(row),
        category=row.get("category"),
        context=row.get("context") or None,
        metadata=row.get("metadata") or {},
        test_id=row.get("testId"),
        carried=row.get("carried") or {},
    )


def name_task(row: TaskRow) -> str:
    """Make a name from what is asked: its first words, and a hash of all of it."""
    return make_name(_build_turns(row), row.get("context"))


def make_name(turns: tuple[Turn, ...], context: str | None) -> str:
    """Make a name from turns: the first words, and a hash of all of it."""
    asked = json.dumps([context, [[turn.prompt, turn.expected] for turn in turns]])
    words = "_".join(re.findall(r"\w+", turns[0].prompt.casefold())[:_WORDS_IN_NAME])
    digest = hashlib.sha256(asked.encode()).hexdigest()[:12]
    return f"{words[:_LONGEST_WORDS] or 'task'}_{digest}"


def task_to_row(task: Task) -> dict[str, Any]:
    """Give the row of a task, with the fields in the specification's order and only those set.

    Raises `InputError` for a blank prompt, which only evaluation documents may have.
    """
    if not all(turn.prompt.strip() for turn in task.turns):
        raise InputError(
            f"task {task.name!r} has a blank prompt, which only a document may have",
            hint="write what the agent is to be asked",
        )
    row: dict[str, Any] = {"name": task.name}
    if len(task.turns) == 1 and not task.turns[0].carried:
        row |= _turn_to_row(task.turns[0])
    else:
        row["turns"] = [_turn_to_row(turn) for turn in task.turns]
    return row | _only_set(
        category=task.category,
        context=task.context,
        metadata=task.metadata,
        testId=task.test_id,
        carried=task.carried,
    )


def check_to_row(check: Check) -> dict[str, Any]:
    """Give the map of a check: one key, its kind."""
    return {check.kind: list(check.value) if isinstance(check.value, tuple) else check.value}


def build_check(row: CheckRow) -> Check:
    """Build the check that a good map describes."""
    ((kind, value),) = cast(dict[CheckKind, Any], row).items()
    return Check(kind, tuple(value) if isinstance(value, list) else value)


def build_criteria(rows: Iterable[CriterionRow]) -> tuple[Criterion, ...]:
    """Build the criteria that good rows describe."""
    return tuple([_build_criterion(row) for row in rows])


def criteria_to_rows(criteria: Iterable[Criterion]) -> list[dict[str, Any]]:
    """Give the rows of criteria."""
    return [_criterion_to_row(criterion) for criterion in criteria]


def _build_turns(row: TaskRow) -> tuple[Turn, ...]:
    listed = row.get("turns")
    if listed is None:
        return (_build_turn(row, {}),)
    *before, last = [_build_turn(turn, turn.get("carried") or {}) for turn in listed]
    criteria = last.criteria + build_criteria(row.get("criteria") or ())
    return (*before, replace(last, criteria=criteria, expected=last.expected or _expected(row)))


def _build_turn(row: TurnRow, carried: Mapping[str, Any]) -> Turn:
    response = row.get("response")
    return Turn(
        row.get("prompt") or row.get("query") or "",
        build_criteria(row.get("criteria") or ()),
        _expected(row),
        row.get("grounding") or None,
        row.get("evaluators") or {},
        row.get("evaluators_mode"),
        None if response is None else Reply(response, evidence=dict(row.get("evidence") or {})),
        carried,
    )


def _build_criterion(row: CriterionRow) -> Criterion:
    check = row.get("check")
    return Criterion(
        row["name"],
        row["instruction"],
        float(row.get("weight", 1)),
        row.get("must", False),
        build_check(check) if check else None,
    )


def _expected(row: TurnRow) -> str | None:
    return row.get("groundTruth") or row.get("ground_truth") or None


def _turn_to_row(turn: Turn) -> dict[str, Any]:
    row: dict[str, Any] = {"prompt": turn.prompt}
    row |= _only_set(
        groundTruth=turn.expected,
        criteria=criteria_to_rows(turn.criteria),
        grounding=turn.grounding,
        evaluators=turn.evaluators,
        evaluators_mode=turn.evaluators_mode,
    )
    if turn.recorded is not None:
        row["response"] = turn.recorded.text
        row |= _only_set(evidence=turn.recorded.evidence)
    return row | _only_set(carried=turn.carried)


def _only_set(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value}


def _criterion_to_row(criterion: Criterion) -> dict[str, Any]:
    row: dict[str, Any] = {"name": criterion.name, "instruction": criterion.instruction}
    if criterion.weight != 1:
        row["weight"] = criterion.weight
    if criterion.must:
        row["must"] = True
    if criterion.check is not None:
        row["check"] = check_to_row(criterion.check)
    return row
