"""What the columns of a CSV dataset mean: from cells to the row of a task, and back."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from azd_eval.domain.task import Task
from azd_eval.formats.faults import Fault, fold, show, suggest
from azd_eval.formats.json_text import parse_json
from azd_eval.formats.task_rows import MOST_ITEMS, TurnRow
from azd_eval.formats.task_rules import FOREIGN_PROMPT
from azd_eval.formats.tasks import task_to_row

COLUMNS = (
    "name",
    "prompt",
    "criteria",
    "groundTruth",
    "category",
    "context",
    "metadata",
    "turns",
    "testId",
    "grounding",
    "evaluators",
    "evaluators_mode",
    "response",
    "evidence",
    "carried",
)

_CRITERIA = "criteria"
_JSON = ("metadata", "turns", "evaluators", "evidence", "carried")
_MESSAGE = ("prompt", "query", "turns")
_FIELDS = {fold(name): name for name in (*COLUMNS, "query")}
_CRITERIA_HEADER = re.compile(r"criteri(a|on)\d*")
_JSON_CRITERIA = re.compile(r'\s*(\[\s*[{\]]|\{\s*")')
_NAMED_CRITERION = re.compile(r"([\w.~-]+):\s+(.+)")
_LONGEST_NAME = 60
_MOST_COLUMNS = 1000


@dataclass(frozen=True, slots=True)
class CsvRow:
    """The row of a task as its cells give it, and what is wrong with the cells."""

    row: dict[str, Any]
    faults: list[Fault]


def find_field(header: str) -> str | None:
    """Give the field that a header names, however it is written: `Ground Truth` is `groundTruth`.

    `criterion`, `criteria` and both with a number are all columns of criteria.
    """
    folded = fold(header)
    return _CRITERIA if _CRITERIA_HEADER.fullmatch(folded) else _FIELDS.get(folded)


def read_header(cells: Sequence[str], *, strict: bool) -> tuple[list[str | None], list[Fault]]:
    """Give the field of each column, None for one that is not used, and the faults."""
    headers = [cell.strip() for cell in cells]
    while headers and not headers[-1]:
        headers.pop()
    if len(headers) > _MOST_COLUMNS:
        return [], [Fault((), f"more than {_MOST_COLUMNS} columns")]
    columns = [find_field(header) for header in headers]
    faults = []
    for index, (header, name) in enumerate(zip(headers, columns, strict=True)):
        if name is None:
            faults.append(_word_unknown(header, columns))
        elif name != _CRITERIA and name in columns[:index]:
            faults.append(Fault((header,), f"column `{name}` stands twice", "keep one of them"))
    if not any(name in _MESSAGE for name in columns):
        faults.append(_word_no_prompt(headers))
    return columns, [replace(fault, severity="error") for fault in faults] if strict else faults


def read_cells(columns: Sequence[str | None], cells: Sequence[str]) -> CsvRow:
    """Read a record; an empty cell says nothing."""
    row: dict[str, Any] = {}
    faults: list[Fault] = []
    for name, cell in zip(columns, cells, strict=False):
        if name is None or not cell:
            continue
        if name == _CRITERIA:
            criteria, unreadable = _read_criteria(cell)
            row.setdefault(name, []).extend(criteria)
        elif name in _JSON:
            row[name], unreadable = _read_json(cell)
        else:
            row[name], unreadable = cell, []
        faults += [replace(fault, loc=(name,)) for fault in unreadable]
    if any(cells[len(columns) :]):
        message = f"{len(cells)} cells, but the header has {len(columns)}"
        hint = "put a cell that holds the delimiter, or a line break, in double quotes"
        faults.append(Fault((), message, hint))
    return CsvRow(row, faults)


def write_cells(task: Task) -> dict[str, str]:
    """Give the cells of a task by column, only those that say something."""
    row = task_to_row(task)
    if row.get("response") == "":
        # An empty cell says nothing, but an agent that said nothing is a finding.
        of_turn = row.keys() & TurnRow.__annotations__.keys() - {"carried"}
        row["turns"] = [{name: row.pop(name) for name in COLUMNS if name in of_turn}]
    return {name: _write_cell(name, value) for name, value in row.items()}


def _word_unknown(header: str, columns: Sequence[str | None]) -> Fault:
    message = f"unknown column {show(header)}"
    if close := suggest(header, [name for name in _FIELDS.values() if name not in columns]):
        return Fault((header,), message, f"did you mean `{close}`?")
    hint = "it is not used; data of your own belongs into a column `metadata`, as a JSON object"
    return Fault((header,), message, hint, "warning")


def _word_no_prompt(headers: Sequence[str]) -> Fault:
    foreign = {fold(name) for name in FOREIGN_PROMPT}
    other = next((header for header in headers if fold(header) in foreign), None)
    hint = "the first line names the columns; `prompt` is the one that the agent is asked"
    hint = f"rename `{other}` to `prompt`" if other else hint
    return Fault(("prompt",), "missing column `prompt`", hint)


def _read_json(cell: str) -> tuple[Any, list[Fault]]:
    value, unreadable = parse_json(cell)
    return value, [fault for _, fault in unreadable]


def _read_criteria(cell: str) -> tuple[list[Any], list[Fault]]:
    if not _JSON_CRITERIA.match(cell):
        lines = map(str.strip, re.split(r"\r\n?|\n", cell, maxsplit=MOST_ITEMS))
        return [_read_criterion(line) for line in lines if line], []
    value, faults = _read_json(cell)
    return value if isinstance(value, list) else [] if value is None else [value], faults


def _read_criterion(line: str) -> dict[str, str]:
    if named := _NAMED_CRITERION.fullmatch(line):
        return {"name": named[1], "instruction": named[2]}
    return {"name": _name_criterion(line), "instruction": line}


def _name_criterion(instruction: str) -> str:
    words = "_".join(re.findall(r"\w+", instruction.casefold()))
    if 0 < len(words) <= _LONGEST_NAME:
        return words
    digest = hashlib.sha256(instruction.encode()).hexdigest()[:8]
    return f"{words[:_LONGEST_NAME] or 'criterion'}_{digest}"


def _write_cell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if name == _CRITERIA:
        lines = "\n".join(f"{each['name']}: {each['instruction']}" for each in value)
        # Weights, checks, line breaks: whether the plain form says all, its reader knows.
        if _read_criteria(lines) == (value, []):
            return lines
    return json.dumps(value, ensure_ascii=False)
