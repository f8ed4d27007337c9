"""A dataset as a stream of rows: what its formats have in common.

The file is never in memory as a whole, only a hash of each name.
"""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Generic, TypeVar

from azd_eval.domain.inspection import Inspection, ProblemLog
from azd_eval.domain.task import Task
from azd_eval.errors import FilesRefused, Problem
from azd_eval.formats.faults import Fault, show
from azd_eval.formats.task_rows import TaskRow
from azd_eval.formats.task_rules import PLAIN_RULES, TaskRules
from azd_eval.formats.tasks import build_task

R = TypeVar("R")

ReadRow = tuple[TaskRow | None, str | None, list[Problem]]
"""A row without errors, or None; the task's name, if it can be told; the problems."""

# How .xlsx, .ods and .zip begin, .xls, and .gz.
_PACKED = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b")
_HEAD = 4096


@dataclass(frozen=True, slots=True)
class RowDataset(ABC, Generic[R]):
    """The tasks of a file; may be walked any number of times, in the order of the file.

    Walking raises `FilesRefused` with all problems at the first row that has an error. Only
    `inspect` looks for names that stand twice and for an empty file: call it first. A format says
    how raw rows (`R`) are found and read.
    """

    path: Path
    rules: TaskRules = PLAIN_RULES

    @property
    def location(self) -> str:
        """The path as it was given."""
        return str(self.path)

    def __iter__(self) -> Iterator[Task]:
        return (task for _, task in self.numbered())

    def numbered(self) -> Iterator[tuple[int, Task]]:
        """Walk the tasks with their line numbers."""
        if _forbid_use(problems := self._find_file_problems()):
            raise FilesRefused(problems)
        for number, raw in self._raw_rows():
            row, _, _ = self._read(number, raw)
            if row is None:
                raise FilesRefused(self.inspect().problems)
            yield number, build_task(row)

    def inspect(self) -> Inspection:
        """Read the whole file and tell every problem."""
        problems = self._find_file_problems()
        if _forbid_use(problems):
            return Inspection(0, tuple(problems))
        log, rows, tasks, names = ProblemLog(), 0, 0, array("q")
        log.extend(problems)
        for number, raw in self._raw_rows():
            row, name, problems = self._read(number, raw)
            rows += 1
            tasks += row is not None
            if name is not None:
                names.append(hash(name))
            if problems:
                log.extend(problems)
        if len(set(names)) < len(names):
            log.extend(self._find_repeated(names))
        if not rows:
            log.extend([Problem("the dataset is empty", self.location, hint=self._shape())])
        return Inspection(tasks, log.close(self.location))

    def _find_repeated(self, names: "array[int]") -> Iterator[Problem]:
        hashes = {one for one, other in pairwise(sorted(names)) if one == other}
        first: dict[str, int] = {}
        for number, raw in self._raw_rows():
            _, name, _ = self._read(number, raw)
            if name is None or hash(name) not in hashes:
                continue
            before = first.setdefault(name, number)
            if before != number:
                message = f"name {show(name)} stands on line {before} and on line {number}"
                hint = "names tell tasks apart in the results; rename or remove one"
                yield self._place(Fault(("name",), message, hint), number, raw, name)

    @abstractmethod
    def _shape(self) -> str:
        """Say what a file of this format looks like."""

    @abstractmethod
    def _find_file_problems(self) -> list[Problem]:
        """Find what is wrong before the first row; with an error, there are no rows to read."""

    @abstractmethod
    def _raw_rows(self) -> Iterator[tuple[int, R]]:
        """Walk the rows that are not blank, with the line on which each begins."""

    @abstractmethod
    def _read(self, number: int, raw: R) -> ReadRow: ...

    @abstractmethod
    def _place(self, fault: Fault, number: int, raw: R, name: str | None) -> Problem:
        """Give a fault of a good row its place."""


def read_head(path: Path) -> bytes | Problem:
    """Read the first bytes of a file, or say why it is no text file in UTF-8."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except FileNotFoundError:
        hint = "a path in eval.yaml is relative to that file; on the command line, to the folder"
        return Problem(f"dataset_file not found: {path.absolute()}", hint=hint)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        return Problem(f"cannot read dataset_file: {path.absolute()}: {reason}")
    if head.startswith(_PACKED):
        message = "not a text file: a workbook of a spreadsheet, or an archive"
        hint = "save the sheet as `CSV UTF-8 (Comma delimited)`, or unpack the file"
        return Problem(message, str(path), hint=hint)
    if b"\0" in head:
        message = "not a text file in UTF-8: it holds zero bytes, as UTF-16 does"
        return Problem(message, str(path), hint="save the file as UTF-8")
    return head


def _forbid_use(problems: list[Problem]) -> bool:
    return any(problem.severity == "error" for problem in problems)
