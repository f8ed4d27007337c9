"""An append-only file of JSON objects, one a line, that survives a kill at any moment."""

import json
import os
from collections.abc import Iterator, Mapping
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
        if _ends_torn(path):
            self._file.write(b"\n")

    def record(self, event: Mapping[str, Any]) -> None:
        line = json.dumps(event, ensure_ascii=False, allow_nan=False)
        try:
            self._file.write(line.encode("utf-8", errors="backslashreplace") + b"\n")
        except OSError as error:
            raise InputError(
                f"cannot write {str(self.path)!r}: {error.strerror or error}",
                hint="what was written before is kept",
            ) from error

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
    if not path.exists():
        return
    with open(path, "rb") as file:
        for line in file:
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                yield value
