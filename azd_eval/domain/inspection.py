"""What reading a dataset through, without running it, finds."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

from azd_eval.domain.ports import TaskSource
from azd_eval.domain.task import Task
from azd_eval.errors import Problem

_MOST_LISTED = 10_000


@dataclass(frozen=True, slots=True)
class Inspection:
    """How many good tasks a file holds, and its problems in the order of the file."""

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


@dataclass(slots=True)
class ProblemLog:
    """Keeps problems within bounds; an equal warning on many lines is told once, with a count."""

    _problems: list[Problem] = field(default_factory=list)
    _warnings: Counter[str] = field(default_factory=Counter)
    _left_out: int = 0

    def extend(self, problems: Iterable[Problem]) -> None:
        """Keep some more."""
        for problem in problems:
            is_warning = problem.severity != "error"
            if is_warning and problem.message in self._warnings:
                self._warnings[problem.message] += 1
            elif len(self._problems) == _MOST_LISTED:
                self._left_out += 1
            else:
                self._problems.append(problem)
                if is_warning:
                    self._warnings[problem.message] = 1

    def close(self, path: str) -> tuple[Problem, ...]:
        """Give them in the order of the file; what is about all of it comes last."""
        told = [self._count(problem) for problem in self._problems]
        told.sort(key=lambda each: (each.line is None, each.line or 0, each.column or 0))
        if self._left_out:
            told.append(Problem(f"{self._left_out} more problems are not listed", path))
        return tuple(told)

    def _count(self, problem: Problem) -> Problem:
        others = self._warnings[problem.message] - 1
        if problem.severity == "error" or others < 1:
            return problem
        return replace(problem, message=f"{problem.message} (and {others} more like this)")
