"""The task dataset: one JSON object a line, read as a stream.

The file is never in memory as a whole, only a hash of each name. Lines end at `\\n` alone: other
line separators of Unicode may stand inside a text.
"""

import json
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from azd_eval.domain.inspection import Inspection, ProblemLog
from azd_eval.domain.task import Task
from azd_eval.errors import FilesRefused, Problem
from azd_eval.formats.faults import Fault, show
from azd_eval.formats.json_text import find_offsets
from azd_eval.formats.jsonl_lines import (
    BOM,
    ONE_A_LINE,
    Line,
    find_file_fault,
    place_fault,
    read_line,
)
from azd_eval.formats.task_rules import PLAIN_RULES, TaskRules
from azd_eval.formats.tasks import build_task, task_to_row


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
        for number, (row, _, _) in self._lines():
            if row is None:
                raise FilesRefused(self.inspect().problems)
            yield number, build_task(row)

    def inspect(self) -> Inspection:
        """Read the whole file and tell every problem."""
        if fault := find_file_fault(self.path):
            return Inspection(0, (fault,))
        log, lines, tasks, names = ProblemLog(), 0, 0, array("q")
        for _, (row, name, problems) in self._lines():
            lines += 1
            tasks += row is not None
            if name is not None:
                names.append(hash(name))
            if problems:
                log.extend(problems)
        if len(set(names)) < len(names):
            log.extend(self._find_repeated(names))
        if not lines:
            log.extend([Problem("the dataset is empty", self.location, hint=ONE_A_LINE)])
        return Inspection(tasks, log.close(self.location))

    def _lines(self) -> Iterator[tuple[int, Line]]:
        path, rules = self.location, self.rules
        for number, raw in self._raw_lines():
            yield number, read_line(raw, number, path, rules)

    def _raw_lines(self) -> Iterator[tuple[int, bytes]]:
        with self.path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                # Files put together of others have a byte order mark in the middle, too.
                line = raw.removeprefix(BOM).rstrip(b"\r\n")
                if line and not line.isspace():
                    yield number, line

    def _find_repeated(self, names: "array[int]") -> Iterator[Problem]:
        hashes = {one for one, other in pairwise(sorted(names)) if one == other}
        first: dict[str, int] = {}
        for number, raw in self._raw_lines():
            _, name, _ = read_line(raw, number, self.location, self.rules)
            if name is None or hash(name) not in hashes:
                continue
            before = first.setdefault(name, number)
            if before != number:
                message = f"name {show(name)} stands on line {before} and on line {number}"
                hint = "names tell tasks apart in the results; rename or remove one"
                fault = Fault(("name",), message, hint)
                (offset,) = find_offsets(raw.decode(), [fault])
                yield place_fault(fault, offset, number, self.location, name)


def write_tasks(tasks: Iterable[Task]) -> str:
    """Write tasks as JSONL, in their order; reading it back gives equal tasks."""
    rows = (json.dumps(task_to_row(task), ensure_ascii=False) for task in tasks)
    return "".join(f"{row}\n" for row in rows)
