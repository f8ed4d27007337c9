"""The task dataset: one JSON object a line, read as a stream.

Lines end at `\\n` alone: other line separators of Unicode may stand inside a text.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from azd_eval.domain.task import Task
from azd_eval.errors import Problem
from azd_eval.formats.faults import Fault
from azd_eval.formats.json_places import find_offsets
from azd_eval.formats.jsonl_lines import place_fault, read_line
from azd_eval.formats.row_dataset import ReadRow, RowDataset, read_head
from azd_eval.formats.tasks import task_to_row

_BOM = b"\xef\xbb\xbf"
_ONE_A_LINE = "a dataset is JSONL: one JSON object a line"
_SPREAD_DOCUMENT = re.compile(rb"\s*[\[{]\s*\n")
_TABLE = re.compile(rb'sep=|[^{\[\n]{0,200}\b(?:name|prompt|query)"?[ ]?[,;\t|]', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JsonlDataset(RowDataset[bytes]):
    """The tasks of a JSONL file."""

    def _shape(self) -> str:
        return _ONE_A_LINE

    def _find_file_problems(self) -> list[Problem]:
        head = read_head(self.path)
        if isinstance(head, Problem):
            return [head]
        beginning, message, hint = head.removeprefix(_BOM), "", _ONE_A_LINE
        if _SPREAD_DOCUMENT.match(beginning):
            message = "invalid JSON on line 1: one value is spread over several lines"
        elif _TABLE.match(beginning):
            message, hint = "invalid JSON on line 1: it begins a table", "name CSV files `.csv`"
        return [Problem(message, self.location, 1, 1, hint=hint)] if message else []

    def _raw_rows(self) -> Iterator[tuple[int, bytes]]:
        with self.path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                # Files put together of others have a byte order mark in the middle, too.
                line = raw.removeprefix(_BOM).rstrip(b"\r\n")
                if line and not line.isspace():
                    yield number, line

    def _read(self, number: int, raw: bytes) -> ReadRow:
        return read_line(raw, number, self.location, self.rules)

    def _place(self, fault: Fault, number: int, raw: bytes, name: str | None) -> Problem:
        (offset,) = find_offsets(raw.decode(), [fault])
        return place_fault(fault, offset, number, self.location, name)


def write_tasks(tasks: Iterable[Task]) -> str:
    """Write tasks as JSONL, in their order; reading it back gives equal tasks."""
    rows = (json.dumps(task_to_row(task), ensure_ascii=False) for task in tasks)
    return "".join(f"{row}\n" for row in rows)
