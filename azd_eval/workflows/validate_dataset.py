"""Find every problem of a dataset and, on request, what is merely unwise in it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from azd_eval.domain.inspection import InspectedSource, ProblemLog
from azd_eval.domain.task import Task
from azd_eval.errors import Problem
from azd_eval.workflows.lint_tasks import lint_tasks


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """One file: how many good tasks it holds, and all there is to say of it."""

    path: str
    tasks: int
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Tell whether the file can be used."""
        return all(problem.severity != "error" for problem in self.problems)


def validate_dataset(source: InspectedSource, *, lint: bool = False) -> CheckedFile:
    """Read a dataset through; lint only what has no errors."""
    inspection = source.inspect()
    advice = _lint(source) if lint and inspection.is_good else ()
    return CheckedFile(source.location, inspection.tasks, (*inspection.problems, *advice))


def _lint(source: InspectedSource) -> tuple[Problem, ...]:
    log, line = ProblemLog(), 0

    def walk() -> Iterator[Task]:
        nonlocal line
        for number, task in source.numbered():
            line = number
            yield task

    # The lint says a task's problems before it takes the next one, so the line is the task's.
    for problem in lint_tasks(walk()):
        place = line if problem.item is not None else None
        log.extend([replace(problem, path=source.location, line=place)])
    return log.close(source.location)
