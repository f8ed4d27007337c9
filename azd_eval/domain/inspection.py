"""What reading a dataset through, without running it, finds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from azd_eval.domain.ports import TaskSource
from azd_eval.domain.task import Task
from azd_eval.errors import Problem


@dataclass(frozen=True, slots=True)
class Inspection:
    """How many good tasks a file holds, and every problem, in the order of the file."""

    tasks: int
    problems: tuple[Problem, ...] = ()

    @property
    def is_good(self) -> bool:
        """Tell whether the file can be used: warnings do not forbid it."""
        return all(problem.severity != "error" for problem in self.problems)


class InspectedSource(TaskSource, Protocol):
    """A dataset file that can say what is wrong with it."""

    @property
    def location(self) -> str: ...

    def inspect(self) -> Inspection: ...

    def numbered(self) -> Iterator[tuple[int, Task]]: ...
