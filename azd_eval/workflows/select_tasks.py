"""Choose tasks of a dataset by name, category and number."""

import difflib
import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from azd_eval.domain.ports import TaskSource
from azd_eval.domain.task import Task
from azd_eval.errors import InputError


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks to take: names by shell pattern, one category, the first `limit` of those."""

    name: str | None = None
    category: str | None = None
    limit: int | None = None

    def takes(self, task: Task) -> bool:
        """Tell whether a task fits name and category."""
        # A name with brackets fits itself, whatever it means as a pattern.
        if self.name not in (None, task.name) and not fnmatch.fnmatchcase(task.name, self.name):
            return False
        return self.category is None or task.category == self.category


@dataclass(frozen=True, slots=True)
class SelectedTasks:
    """The tasks of a source that a filter takes; a `TaskSource` itself."""

    source: TaskSource
    wanted: TaskFilter

    def __iter__(self) -> Iterator[Task]:
        return islice(filter(self.wanted.takes, self.source), self.wanted.limit)


def select_tasks(source: TaskSource, wanted: TaskFilter) -> SelectedTasks:
    """Select tasks; raises `InputError` when none is left, with the closest name there is."""
    selected = SelectedTasks(source, wanted)
    if next(iter(selected), None) is None:
        raise InputError(f"no task matches {_word_filter(wanted)}", hint=_suggest(source, wanted))
    return selected


def _word_filter(wanted: TaskFilter) -> str:
    parts = []
    if wanted.name is not None:
        parts.append(f"`--task {wanted.name}`")
    if wanted.category is not None:
        parts.append(f"`--category {wanted.category}`")
    return " and ".join(parts) or "an empty selection"


def _suggest(source: TaskSource, wanted: TaskFilter) -> str | None:
    names = list(dict.fromkeys(task.name for task in source))
    categories = list(dict.fromkeys(task.category for task in source if task.category))
    for word, known in ((wanted.name, names), (wanted.category, categories)):
        if word is None or word in known:
            continue
        if close := difflib.get_close_matches(word, known, 1):
            return f"did you mean {close[0]!r}?"
    if wanted.category is not None and categories:
        return f"the categories are {', '.join(map(repr, categories[:10]))}"
    return f"the first tasks are {', '.join(map(repr, names[:5]))}"
