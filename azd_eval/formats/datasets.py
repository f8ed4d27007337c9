"""Which format a dataset has: its extension says so."""

from collections.abc import Callable, Iterable
from pathlib import Path

from azd_eval.domain.inspection import InspectedSource
from azd_eval.domain.task import Task
from azd_eval.errors import InputError
from azd_eval.formats.csv_tasks import CsvDataset, write_csv
from azd_eval.formats.jsonl import JsonlDataset, write_tasks
from azd_eval.formats.task_rules import PLAIN_RULES, TaskRules

WriteTasks = Callable[[Iterable[Task]], str]

_WRITERS: dict[str, WriteTasks] = {".jsonl": write_tasks, ".csv": write_csv}


def open_dataset(path: Path, rules: TaskRules = PLAIN_RULES) -> InspectedSource:
    """Give the tasks of a file; one that is no CSV is taken for JSONL."""
    return CsvDataset(path, rules) if path.suffix.lower() == ".csv" else JsonlDataset(path, rules)


def choose_writer(source: Path, target: Path) -> WriteTasks:
    """Give what writes `target`; raises `InputError` when that or `source` is no known format."""
    if not {source.suffix.lower(), target.suffix.lower()} <= _WRITERS.keys():
        raise InputError(
            f"cannot convert {source.name!r} to {target.name!r}",
            hint=f"datasets are {' and '.join(f'`{suffix}`' for suffix in _WRITERS)} files",
        )
    return _WRITERS[target.suffix.lower()]
