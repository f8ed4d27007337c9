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
    """Which tasks to take: of any of these names and categories, the first `limit` of those.

    Names are shell patterns. None at all is no filter.
    """

    names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    limit: int | None = None

    def takes(self, task: Task) -> bool:
        """Tell whether a task fits names and categories."""
        if self.categories and task.category not in self.categories:
            return False
        # A name with brackets fits itself, whatever it means as a pattern.
        return (
            not self.names
            or task.name in self.names
            or any(fnmatch.fnmatchcase(task.name, name) for name in self.names)
        )

    def split(self) -> Iterator["TaskFilter"]:
        """Yield each name and each category as a filter of its own."""
        yield from (TaskFilter(names=(name,)) for name in self.names)
        yield from (TaskFilter(categories=(category,)) for category in self.categories)


@dataclass(frozen=True, slots=True)
class SelectedTasks:
    """The tasks of a source that a filter takes; a `TaskSource` itself."""

    source: TaskSource
    wanted: TaskFilter

    def __iter__(self) -> Iterator[Task]:
        return islice(filter(self.wanted.takes, self.source), self.wanted.limit)


def select_tasks(source: TaskSource, wanted: TaskFilter) -> SelectedTasks:
    """Select tasks; raises `InputError` when none is left, with the closest name there is.

    So it does for a name or category that fits nothing, though others fit: it is a slip.
    """
    for each in (*wanted.split(), wanted):
        if next(iter(SelectedTasks(source, each)), None) is None:
            raise InputError(f"no task matches {_word_filter(each)}", hint=_suggest(source, each))
    return SelectedTasks(source, wanted)


def _word_filter(wanted: TaskFilter) -> str:
    flags = (("--task", wanted.names), ("--category", wanted.categories))
    parts = [" or ".join(f"`{flag} {word}`" for word in words) for flag, words in flags if words]
    return " and ".join(parts) or "an empty selection"


def _suggest(source: TaskSource, wanted: TaskFilter) -> str | None:
    names = list(dict.fromkeys(task.name for task in source))
    categories = list(dict.fromkeys(task.category for task in source if task.category))
    for words, known in ((wanted.names, names), (wanted.categories, categories)):
        for word in words:
            if word in known or fnmatch.filter(known, word):
                continue
            if close := difflib.get_close_matches(word, known, 1):
                return f"did you mean {close[0]!r}?"
    if wanted.categories and categories:
        return f"the categories are {', '.join(map(repr, categories[:10]))}"
    return f"the first tasks are {', '.join(map(repr, names[:5]))}"
