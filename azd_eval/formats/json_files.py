"""A JSON document, and where its parts stand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azd_eval.errors import FilesRefused, Problem
from azd_eval.files import read_text
from azd_eval.formats.faults import Fault, name_field
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
        placed = zip(find_offsets(self.text, faults), faults, items, strict=True)
        return [_place(self.path, self.text, *each) for each in placed]


def read_json(path: Path, what: str) -> JsonFile:
    """Read a file; raises `InputError` when there is none and `FilesRefused` with its faults."""
    text = read_text(path, what)
    tree, unreadable = parse_json(text)
    if unreadable:
        raise FilesRefused([_place(str(path), text, *each, None) for each in unreadable])
    return JsonFile(str(path), text, tree)


def _place(path: str, text: str, offset: int, fault: Fault, item: str | None) -> Problem:
    before = text[:offset]
    return Problem(
        f"invalid JSON: {fault.message}" if fault.is_syntax else fault.message,
        path,
        before.count("\n") + 1,
        len(before) - before.rfind("\n"),
        item,
        name_field(fault.loc),
        fault.hint,
        fault.severity,
    )
