"""An append-only file of JSON objects, one a line, that survives a kill at any moment."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from azd_eval.errors import InputError


class JsonLines:
    """Append objects to a file, each with a single write to the operating system.

    Also a `Journal`: `record` is what the port asks for. A process that is killed loses at most the
    line it was writing; the next one to open the file ends that line first.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115 - closed by `close`
        self._is_torn = _ends_torn(path)

    def record(self, event: Mapping[str, Any]) -> None:
        text = json.dumps(event, ensure_ascii=False, allow_nan=False)
        line = text.encode("utf-8", errors="backslashreplace") + b"\n"
        if self._is_torn:
            line = b"\n" + line
        # Until the line is whole, whatever ends this: a full disk takes a part of it.
        self._is_torn = True
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError as error:
            raise InputError(
                f"cannot write {str(self.path)!r}: {error.strerror or error}",
                hint="what was written before is kept; `--resume` goes on once there is room",
            ) from error
        self._is_torn = False

    def close(self) -> None:
        self._file.close()


def _ends_torn(path: Path) -> bool:
    with open(path, "rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def read_json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file written by `JsonLines`; a torn line is passed over."""
    return (value for _, value in locate_json_lines(path))


def locate_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object with the place in the file where `read_lines_at` finds it again."""
    if not path.exists():
        return
    place = 0
    with open(path, "rb") as file:
        for line in file:
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            if isinstance(value, dict):
                yield place, value
            place += len(line)


def read_lines_at(path: Path, places: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Yield the objects at some places of a file."""
    if not path.exists():
        return
    with open(path, "rb") as file:
        for place in places:
            file.seek(place)
            yield json.loads(file.readline())
