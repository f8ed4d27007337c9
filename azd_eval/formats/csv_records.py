"""Part a CSV file into records, as spreadsheets write it: any delimiter, cells of several lines."""

import csv
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from azd_eval.formats.csv_columns import find_field
from azd_eval.formats.faults import Fault

LONGEST_CELL = csv.field_size_limit()

_DELIMITERS = ",;\t|"
_NAMED_DELIMITER = re.compile(rf"sep=([{_DELIMITERS}])\s*", re.IGNORECASE)
_TOO_LONG = f"a cell is not closed, or longer than {LONGEST_CELL} characters"
_DOUBLE_IT = 'a cell begins and ends with `"`; write a quotation mark inside it as `""`'
_CAUSES = {
    "field larger": (_TOO_LONG, _DOUBLE_IT),
    "unexpected end": ("a cell is not closed", _DOUBLE_IT),
    "expected after": ("a cell goes on after its closing quotation mark", _DOUBLE_IT),
}
_SAVE_AS_UTF8 = "save the file as UTF-8; in Excel, as `CSV UTF-8 (Comma delimited)`"

Record = list[str] | Fault
"""The cells of a record, or why it has none."""


def read_records(path: Path) -> Iterator[tuple[int, Record]]:
    """Walk the records, the header first, with the physical line on which each begins.

    Blank records are passed over. After a fault the next line begins a record; nothing follows a
    cell without end, or text that is not UTF-8.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        line = 1
        try:
            skipped, head, delimiter = _find_header(file)
            reader = csv.reader(chain([head], file), delimiter=delimiter, strict=True)
            while True:
                line = skipped + reader.line_num + 1
                try:
                    cells = next(reader, None)
                except csv.Error as error:
                    fault = _word_syntax(str(error), line)
                    yield line, fault
                    if _TOO_LONG in fault.message:
                        return
                    continue
                if cells is None:
                    return
                if any(cell.strip() for cell in cells):
                    yield line, cells
        except UnicodeDecodeError:
            yield _find_undecodable(path)


def _find_header(file: Iterator[str]) -> tuple[int, str, str]:
    """Give the number of lines before the header, its first line, and the delimiter."""
    delimiter = None
    for skipped, line in enumerate(file):
        if match := _NAMED_DELIMITER.fullmatch(line):
            delimiter = match[1]
        elif line.strip():
            return skipped, line, delimiter or _sniff_delimiter(line)
    return 0, "", ","


def _sniff_delimiter(header: str) -> str:
    """Choose the delimiter that shows the most known columns, else the most columns."""

    def rate(delimiter: str) -> tuple[int, int]:
        cells = next(csv.reader([header[:LONGEST_CELL]], delimiter=delimiter))
        return sum(find_field(cell) is not None for cell in cells), len(cells)

    return max(_DELIMITERS, key=rate)


def _word_syntax(said: str, line: int) -> Fault:
    unknown = (said, None)
    reason, hint = next((words for part, words in _CAUSES.items() if part in said), unknown)
    return Fault((), f"invalid CSV on line {line}: {reason}", hint)


def _find_undecodable(path: Path) -> tuple[int, Fault]:
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                raw.decode()
            except UnicodeDecodeError as error:
                return number, Fault((), f"not UTF-8: byte 0x{raw[error.start]:02x}", _SAVE_AS_UTF8)
    return 1, Fault((), "not UTF-8", _SAVE_AS_UTF8)
