"""A JSON document, and where its parts stand."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azd_eval.errors import FilesRefused, Problem
from azd_eval.files import read_text
from azd_eval.formats.faults import Fault, Loc, name_field
from azd_eval.formats.json_places import find_offsets
from azd_eval.formats.json_text import parse_json


@dataclass(frozen=True, slots=True)
class JsonFile:
    """A document as maps, lists, text, numbers and flags."""

    path: str
    text: str
    tree: Any

    def place(self, faults: Sequence[Fault], items: Iterable[str | None]) -> list[Problem]:
        """Give faults their line and column; a missing key stands where its object begins."""
        lines = _find_lines(self.text)
        placed = zip(find_offsets(self.text, faults), faults, items, strict=True)
        return [_place(self.path, lines, *each) for each in placed]

    def find_line_numbers(self, locs: Sequence[Loc]) -> list[int]:
        """Give the line on which each part begins."""
        lines = _find_lines(self.text)
        offsets = find_offsets(self.text, [Fault(loc, "") for loc in locs])
        return [bisect_right(lines, offset) for offset in offsets]


def read_json(path: Path, what: str) -> JsonFile:
    """Read a file; raises `InputError` when there is none and `FilesRefused` with its faults."""
    text = read_text(path, what)
    tree, unreadable = parse_json(text)
    if unreadable:
        lines = _find_lines(text)
        raise FilesRefused([_place(str(path), lines, *each, None) for each in unreadable])
    return JsonFile(str(path), text, tree)


def _find_lines(text: str) -> "array[int]":
    """Give the offset at which each line begins."""
    lines = array("Q", [0])
    lines.extend(match.end() for match in re.finditer("\n", text))
    return lines


def _place(path: str, lines: "array[int]", offset: int, fault: Fault, item: str | None) -> Problem:
    line = bisect_right(lines, offset)
    return Problem(
        f"invalid JSON: {fault.message}" if fault.is_syntax else fault.message,
        path,
        line,
        offset - lines[line - 1] + 1,
        item,
        name_field(fault.loc),
        fault.hint,
        fault.severity,
    )
