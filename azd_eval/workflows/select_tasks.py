"""Choose tasks of a dataset by name, category, the user's own id, and number."""

import difflib
import fnmatch
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from azd_eval.domain.ports import TaskSource
from azd_eval.domain.task import Task
from azd_eval.errors import InputError

# What may be asked for, by the flag that does.
_READ: Mapping[str, Callable[[Task], str | None]] = {
    "--task": lambda task: task.name,
    "--category": lambda task: task.category,
    "--test-id": lambda task: task.test_id,
}


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks to take: any of these names, categories and ids, the first `limit` of those.

    All three are shell patterns. None at all is no filter.
    """

    names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    limit: int | None = None
    test_ids: tuple[str, ...] = ()

    @property
    def patterns(self) -> Mapping[str, tuple[str, ...]]:
        """Give the patterns by the flag that asks for them."""
        return dict(zip(_READ, (self.names, self.categories, self.test_ids), strict=True))

    def takes(self, task: Task) -> bool:
        """Tell whether a task fits all that is asked for."""
        return all(
            not patterns or _fits(_READ[flag](task), patterns)
            for flag, patterns in self.patterns.items()
        )

    def split(self) -> Iterator["TaskFilter"]:
        """Yield each pattern as a filter of its own."""
        yield from (TaskFilter(names=(name,)) for name in self.names)
        yield from (TaskFilter(categories=(category,)) for category in self.categories)
        yield from (TaskFilter(test_ids=(test_id,)) for test_id in self.test_ids)


@dataclass(frozen=True, slots=True)
class SelectedTasks:
    """The tasks of a source that a filter takes; a `TaskSource` itself."""

    source: TaskSource
    wanted: TaskFilter

    def __iter__(self) -> Iterator[Task]:
        return islice(filter(self.wanted.takes, self.source), self.wanted.limit)


def select_tasks(source: TaskSource, wanted: TaskFilter) -> SelectedTasks:
    """Select tasks; raises `InputError` when none is left, with the closest name there is.

    So it does for a pattern that fits nothing, though others fit: it is a slip.
    """
    for each in (*wanted.split(), wanted):
        if next(iter(SelectedTasks(source, each)), None) is None:
            raise InputError(f"no task matches {_word_filter(each)}", hint=_suggest(source, each))
    return SelectedTasks(source, wanted)


def _fits(word: str | None, patterns: tuple[str, ...]) -> bool:
    # A name with brackets fits itself, whatever it means as a pattern.
    return word is not None and (
        word in patterns or any(fnmatch.fnmatchcase(word, pattern) for pattern in patterns)
    )


def _word_filter(wanted: TaskFilter) -> str:
    parts = [
        " or ".join(f"`{flag} {pattern}`" for pattern in patterns)
        for flag, patterns in wanted.patterns.items()
        if patterns
    ]
    return " and ".join(parts) or "an empty selection"


def _suggest(source: TaskSource, wanted: TaskFilter) -> str | None:
    known = {
        flag: list(dict.fromkeys(word for task in source if (word := read(task))))
        for flag, read in _READ.items()
    }
    for flag, patterns in wanted.patterns.items():
        for pattern in patterns:
            if not any(_fits(word, (pattern,)) for word in known[flag]) and (
                close := difflib.get_close_matches(pattern, known[flag], 1)
            ):
                return f"did you mean {close[0]!r}?"
    for flag, kind in (("--category", "categories"), ("--test-id", "ids")):
        if wanted.patterns[flag] and known[flag]:
            return f"the {kind} are {', '.join(map(repr, known[flag][:10]))}"
    return f"the first tasks are {', '.join(map(repr, known['--task'][:5]))}"
