"""The task dataset as CSV, for people who keep it in a spreadsheet: one record a task."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from azd_eval.domain.task import Task
from azd_eval.errors import InputError, Problem
from azd_eval.formats.csv_columns import COLUMNS, CsvRow, read_cells, read_header, write_cells
from azd_eval.formats.csv_records import LONGEST_CELL, Record, read_records
from azd_eval.formats.faults import Fault, cut_faults, name_field
from azd_eval.formats.row_dataset import ReadRow, RowDataset, read_head
from azd_eval.formats.task_rows import TaskRow
from azd_eval.formats.task_rules import check_row
from azd_eval.formats.tasks import name_task

# Without it, Excel takes UTF-8 for the encoding of the country.
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class CsvDataset(RowDataset[CsvRow | Fault]):
    """The tasks of a CSV file; a problem stands on the line where its record begins."""

    def _shape(self) -> str:
        return "a CSV dataset has a header, such as `name,prompt,criteria`, and one record a task"

    def _find_file_problems(self) -> list[Problem]:
        head = read_head(self.path)
        if isinstance(head, Problem):
            return [head]
        for line, header in read_records(self.path):
            _, faults = self._read_header(header)
            return [self._place(fault, line) for fault in faults]
        return []

    def _raw_rows(self) -> Iterator[tuple[int, CsvRow | Fault]]:
        records = read_records(self.path)
        _, header = next(records, (1, []))
        columns, _ = self._read_header(header)
        for line, cells in records:
            yield line, cells if isinstance(cells, Fault) else read_cells(columns, cells)

    def _read_header(self, record: Record) -> tuple[list[str | None], list[Fault]]:
        if isinstance(record, Fault):
            return [], [record]
        return read_header(record, strict=self.rules.strict)

    def _read(self, number: int, raw: CsvRow | Fault) -> ReadRow:
        if isinstance(raw, Fault):
            return None, None, [self._place(raw, number)]
        told = {fault.loc for fault in raw.faults}
        faults = [fault for fault in check_row(raw.row, self.rules) if fault.loc not in told]
        faults = cut_faults(raw.faults + faults)
        is_good = all(fault.severity != "error" for fault in faults)
        row = cast(TaskRow, raw.row) if is_good else None
        name = raw.row.get("name") or (name_task(row) if row else None)
        return row, name, [self._place(fault, number, raw, name) for fault in faults]

    def _place(
        self, fault: Fault, number: int, raw: CsvRow | Fault | None = None, name: str | None = None
    ) -> Problem:
        return Problem(
            f"invalid JSON: {fault.message}" if fault.is_syntax else fault.message,
            self.location,
            number,
            None,
            name,
            name_field(fault.loc),
            fault.hint,
            fault.severity,
        )


def write_csv(tasks: Iterable[Task]) -> str:
    """Write tasks as CSV, with the columns that they need; reading it back gives equal tasks.

    Raises `InputError` for a task that CSV cannot hold.
    """
    rows = [write_cells(task) for task in tasks]
    for row in rows:
        for column, cell in row.items():
            _require_cell(cell, f"`{column}` of task {row['name']!r}")
    used = set().union(*rows)
    text = io.StringIO(_BOM, newline="")
    text.seek(0, io.SEEK_END)
    writer = csv.DictWriter(text, [column for column in COLUMNS if column in used], restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _require_cell(cell: str, what: str) -> None:
    hint = "keep it in a JSONL dataset"
    if len(cell) > LONGEST_CELL:
        raise InputError(f"{what} is longer than a cell, {LONGEST_CELL} characters", hint=hint)
    if "\0" in cell:
        raise InputError(f"{what} holds a zero character, which no cell can", hint=hint)
