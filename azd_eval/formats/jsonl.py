"""The task dataset: one JSON object a line, read as a stream.

The file is never in memory as a whole, only a hash of each name. Lines end at `\\n` alone: other
line separators of Unicode may stand inside a text.
"""

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from azd_eval.domain.inspection import Inspection
from azd_eval.domain.task import Task
from azd_eval.errors import FilesRefused, Problem
from azd_eval.formats.faults import show
from azd_eval.formats.jsonl_lines import BOM, ONE_A_LINE, Line, find_file_fault, read_line
from azd_eval.formats.task_rules import PLAIN_RULES, TaskRules
from azd_eval.formats.tasks import build_task, name_task, task_to_row

_MOST_LISTED = 10_000


@dataclass(frozen=True, slots=True)
class JsonlDataset:
    """The tasks of a JSONL file; may be walked any number of times, in the order of the file.

    Walking raises `FilesRefused` with all problems at the first row that has an error. Only
    `inspect` looks for names that stand twice and for an empty file: call it first.
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
        if fault := find_file_fault(self.path):
            raise FilesRefused([fault])
        for line in self._lines():
            if line.row is None:
                raise FilesRefused(self.inspect().problems)
            yield line.number, build_task(line.row)

    def inspect(self) -> Inspection:
        """Read the whole file and tell every problem."""
        if fault := find_file_fault(self.path):
            return Inspection(0, (fault,))
        log, tasks, names = _ProblemLog(), 0, array("q")
        for line in self._lines():
            tasks += line.row is not None
            if (name := _name(line)) is not None:
                names.append(hash(name))
            if line.problems:
                log.extend(line.problems)
        if len(set(names)) < len(names):
            log.extend(self._find_repeated(names))
        if not tasks and not log.problems:
            log.extend([Problem("the dataset is empty", self.location, hint=ONE_A_LINE)])
        return Inspection(tasks, log.close(self.location))

    def _lines(self) -> Iterator[Line]:
        path, rules = self.location, self.rules
        with self.path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                # Files put together of others have a byte order mark in the middle, too.
                line = raw.removeprefix(BOM).rstrip(b"\r\n")
                if line and not line.isspace():
                    yield read_line(line, number, path, rules)

    def _find_repeated(self, names: "array[int]") -> Iterator[Problem]:
        hashes = {one for one, other in pairwise(sorted(names)) if one == other}
        first: dict[str, int] = {}
        for line in self._lines():
            name = _name(line)
            if name is None or hash(name) not in hashes:
                continue
            before = first.setdefault(name, line.number)
            if before != line.number:
                message = f"name {show(name)} stands on line {before} and on line {line.number}"
                hint = "names tell tasks apart in the results; rename or remove one"
                place = (self.location, line.number, None, name, "name")
                yield Problem(message, *place, hint)


def write_tasks(tasks: Iterable[Task]) -> str:
    """Write tasks as JSONL, in their order; reading it back gives equal tasks."""
    rows = (json.dumps(task_to_row(task), ensure_ascii=False) for task in tasks)
    return "".join(f"{row}\n" for row in rows)


def _name(line: Line) -> str | None:
    if line.name is None and line.row is not None:
        return name_task(line.row)
    return line.name


@dataclass(slots=True)
class _ProblemLog:
    """Keeps problems within bounds; an equal warning on many lines is told once, with a count."""

    problems: list[Problem] = field(default_factory=list)
    warnings: Counter[str] = field(default_factory=Counter)
    left_out: int = 0

    def extend(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            is_warning = problem.severity != "error"
            if is_warning and problem.message in self.warnings:
                self.warnings[problem.message] += 1
            elif len(self.problems) == _MOST_LISTED:
                self.left_out += 1
            else:
                self.problems.append(problem)
                if is_warning:
                    self.warnings[problem.message] = 1

    def close(self, path: str) -> tuple[Problem, ...]:
        told = sorted(map(self._count, self.problems), key=lambda problem: problem.line or 0)
        if self.left_out:
            told.append(Problem(f"{self.left_out} more problems are not listed", path))
        return tuple(told)

    def _count(self, problem: Problem) -> Problem:
        others = self.warnings[problem.message] - 1
        if problem.severity == "error" or others < 1:
            return problem
        return replace(problem, message=f"{problem.message} (and {others} more like this)")
