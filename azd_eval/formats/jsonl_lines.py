"""Read one line of a dataset: its bytes, its JSON, its row; and tell where each fault stands."""

import re
from pathlib import Path
from typing import cast

from azd_eval.errors import Problem
from azd_eval.formats.faults import Fault, name_field
from azd_eval.formats.json_text import find_offsets, parse_json
from azd_eval.formats.task_rows import TaskRow
from azd_eval.formats.task_rules import TaskRules, check_row
from azd_eval.formats.tasks import name_task

BOM = b"\xef\xbb\xbf"
ONE_A_LINE = "a dataset is JSONL: one JSON object a line"

_HEAD = 4096
_SPREAD_DOCUMENT = re.compile(rb"\s*[\[{]\s*\n")
_SAVE_AS_UTF8 = "save the file as UTF-8"


Line = tuple[TaskRow | None, str | None, list[Problem]]
"""A row without errors, or None; the task's name, if it can be told; the problems."""


def find_file_fault(path: Path) -> Problem | None:
    """Tell why a file is no dataset at all: not there, not readable, another format."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).removeprefix(BOM)
    except FileNotFoundError:
        hint = "a path in eval.yaml is relative to that file; on the command line, to the folder"
        return Problem(f"dataset_file not found: {path.absolute()}", hint=hint)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        return Problem(f"cannot read dataset_file: {path.absolute()}: {reason}")
    if b"\0" in head:
        message = "not a text file in UTF-8: it holds zero bytes, as UTF-16 does"
        return Problem(message, str(path), hint=_SAVE_AS_UTF8)
    if path.suffix.lower() == ".csv":
        return Problem("a CSV file cannot be read as a dataset", str(path), hint=ONE_A_LINE)
    if _SPREAD_DOCUMENT.match(head):
        message = "invalid JSON on line 1: one value is spread over several lines"
        return Problem(message, str(path), 1, 1, hint=ONE_A_LINE)
    return None


def read_line(raw: bytes, number: int, path: str, rules: TaskRules) -> Line:
    """Read the bytes of a line, without its end."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte 0x{raw[error.start]:02x}"
        fault = Problem(message, path, number, error.start + 1, hint=_SAVE_AS_UTF8)
        return None, None, [fault]
    value, unreadable = parse_json(text)
    faults = [] if value is None and unreadable else check_row(value, rules)
    name = value.get("name") if isinstance(value, dict) else None
    if not faults and not unreadable:
        return cast(TaskRow, value), name, []
    is_good = not unreadable and all(fault.severity != "error" for fault in faults)
    row = cast(TaskRow, value) if is_good else None
    if not isinstance(name, str):
        name = name_task(row) if row is not None else None
    told = {fault.loc for _, fault in unreadable}
    faults = [fault for fault in faults if fault.loc not in told]
    placed = [*unreadable, *zip(find_offsets(text, faults), faults, strict=True)]
    return row, name, [place_fault(fault, at, number, path, name) for at, fault in placed]


def place_fault(fault: Fault, offset: int, number: int, path: str, name: str | None) -> Problem:
    """Give a fault its line and column; `name` is the task's."""
    return Problem(
        f"invalid JSON on line {number}: {fault.message}" if fault.is_syntax else fault.message,
        path,
        number,
        offset + 1,
        name,
        name_field(fault.loc),
        fault.hint,
        fault.severity,
    )
