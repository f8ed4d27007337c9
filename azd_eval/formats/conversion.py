"""Convert datasets between JSONL, evaluation documents and CSV, and tell what was left behind."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from azd_eval.errors import FilesRefused, InputError, Problem
from azd_eval.formats.csv_tasks import write_csv
from azd_eval.formats.datasets import FORMATS, open_dataset
from azd_eval.formats.document_schema import find_schema_faults
from azd_eval.formats.documents import make_header, read_document, write_document
from azd_eval.formats.faults import name_field
from azd_eval.formats.jsonl import write_tasks
from azd_eval.formats.task_rules import TaskRules

_DOCUMENT = ".json"


@dataclass(frozen=True, slots=True)
class Conversion:
    """The text of the new file, how many tasks it holds, and what there is to say.

    `problems` are those of the source; `lost` is what the new format has no place for.
    """

    text: str
    tasks: int
    problems: tuple[Problem, ...]
    lost: tuple[Problem, ...]


def convert(source: Path, target: Path, rules: TaskRules, *, official: bool = False) -> Conversion:
    """Convert a good dataset; `official` keeps a document to its official schema.

    Raises `InputError` for a pair of formats that is not known and for what cannot be written.
    """
    kinds = source.suffix.lower(), target.suffix.lower()
    if not {*kinds} <= FORMATS.keys():
        *others, last = (f"`{suffix}`" for suffix in FORMATS)
        raise InputError(
            f"cannot convert {source.name!r} to {target.name!r}",
            hint=f"datasets are {', '.join(others)} and {last} files",
        )
    dataset = open_dataset(source, rules)
    inspection = dataset.inspect()
    if not inspection.is_good:
        raise FilesRefused(inspection.problems)
    lost = tuple(_find_unknown(inspection.problems)) if kinds[0] != _DOCUMENT else ()
    if kinds == (_DOCUMENT, _DOCUMENT):
        document = read_document(source, rules)
        text = write_document(document.header, document.tasks, official=official)
    elif kinds[1] == _DOCUMENT:
        tasks = tuple(dataset)
        text = write_document(make_header(tasks), tasks, official=official)
    else:
        write = write_csv if kinds[1] == ".csv" else write_tasks
        text = write(dataset)
        if kinds[0] == _DOCUMENT:
            lost = tuple(_find_lost(source, target, rules))
    if official and kinds[1] == _DOCUMENT:
        _require_official(text, source)
    return Conversion(text, inspection.tasks, inspection.problems, lost)


def _require_official(text: str, source: Path) -> None:
    """Refuse what even `extensions` cannot save, such as too many turns."""
    faults = find_schema_faults(json.loads(text))
    if faults:
        raise FilesRefused(
            [
                Problem(each.message, str(source), field=name_field(each.loc), hint=each.hint)
                for each in faults
            ]
        )


def _find_unknown(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Tell what is no field of a task; a document keeps even that."""
    for problem in problems:
        if problem.message.startswith(("unknown key", "unknown column")):
            yield replace(problem, message="is no field of a task", severity="note")


def _find_lost(source: Path, target: Path, rules: TaskRules) -> Iterator[Problem]:
    """Tell the fields of the document as a whole; what scores its items went into each of them."""
    for field in read_document(source, rules).header.carried:
        message = f"is said of the document as a whole; {target.suffix} has no place for it"
        yield Problem(message, str(source), field=field, severity="note")
