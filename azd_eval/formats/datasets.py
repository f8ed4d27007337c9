"""Which format a dataset has: its extension says so."""

from collections.abc import Callable
from pathlib import Path

from azd_eval.domain.inspection import InspectedSource
from azd_eval.formats.csv_tasks import CsvDataset
from azd_eval.formats.documents import DocumentDataset
from azd_eval.formats.jsonl import JsonlDataset
from azd_eval.formats.task_rules import PLAIN_RULES, TaskRules

FORMATS: dict[str, Callable[[Path, TaskRules], InspectedSource]] = {
    ".jsonl": JsonlDataset,
    ".json": DocumentDataset,
    ".csv": CsvDataset,
}


def open_dataset(path: Path, rules: TaskRules = PLAIN_RULES) -> InspectedSource:
    """Give the tasks of a file; one of no known extension is taken for JSONL."""
    return FORMATS.get(path.suffix.lower(), JsonlDataset)(path, rules)
