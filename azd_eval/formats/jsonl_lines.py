"""Read one line of a dataset: its bytes, its JSON, its row; and tell where each fault stands."""

from typing import cast

from azd_eval.errors import Problem
from azd_eval.formats.faults import Fault, cut_faults, name_field
from azd_eval.formats.json_places import find_offsets
from azd_eval.formats.json_text import parse_json
from azd_eval.formats.row_dataset import ReadRow
from azd_eval.formats.task_rows import TaskRow
from azd_eval.formats.task_rules import TaskRules, check_row
from azd_eval.formats.tasks import name_task

_SAVE_AS_UTF8 = "save the file as UTF-8"


def read_line(raw: bytes, number: int, path: str, rules: TaskRules) -> ReadRow:
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
    faults = cut_faults([fault for fault in faults if fault.loc not in told])
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
