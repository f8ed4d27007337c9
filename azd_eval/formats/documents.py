"""Evaluation documents: JSON with items, of any shape and version 1.x, as tasks and back."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from azd_eval.domain.inspection import Inspection, ProblemLog
from azd_eval.domain.task import Task
from azd_eval.errors import FilesRefused, InputError, Problem
from azd_eval.evaluator_options import SYSTEM_DEFAULTS
from azd_eval.formats.document_items import EvaluatorMap, apply_defaults, build_item, build_tasks
from azd_eval.formats.document_rows import OUR_KEY
from azd_eval.formats.document_rules import find_document_faults
from azd_eval.formats.document_schema import find_schema_faults
from azd_eval.formats.document_shapes import Shape, read_shape
from azd_eval.formats.document_versions import find_lowest_version
from azd_eval.formats.faults import Fault, Loc, show
from azd_eval.formats.json_files import JsonFile, read_json
from azd_eval.formats.row_dataset import read_head
from azd_eval.formats.task_rules import PLAIN_RULES, TaskRules

_OF_ROOT = ("schemaVersion", "default_evaluators", "items")


@dataclass(frozen=True, slots=True)
class DocumentHeader:
    """What a document says of all its items.

    `default_evaluators` is None where it says nothing of them. `carried` holds all other fields:
    they are written back and never used. `is_legacy`: the file states no version.
    """

    schema_version: str
    default_evaluators: EvaluatorMap | None = None
    carried: Mapping[str, Any] = field(default_factory=dict)
    is_legacy: bool = False

    @property
    def evaluators(self) -> EvaluatorMap:
        """The evaluators of a run of the document, with their options."""
        return SYSTEM_DEFAULTS if self.default_evaluators is None else self.default_evaluators


@dataclass(frozen=True, slots=True)
class Document:
    """A good document, in the order of the file; `notes` are what there is to say of it."""

    header: DocumentHeader
    tasks: tuple[Task, ...]
    notes: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentDataset:
    """A document as a dataset: each turn of its tasks names all evaluators that score it.

    Walking raises `FilesRefused` with all problems.
    """

    path: Path
    rules: TaskRules = PLAIN_RULES

    @property
    def location(self) -> str:
        """The path as it was given."""
        return str(self.path)

    def __iter__(self) -> Iterator[Task]:
        inspection, document = _read(self.path, self.rules)
        if document is None:
            raise FilesRefused(inspection.problems)
        return (apply_defaults(task, document.header.evaluators) for task in document.tasks)

    def numbered(self) -> Iterator[tuple[int, Task]]:
        """Walk the tasks with the lines on which their items begin."""
        tasks = tuple(self)
        file = read_json(self.path, "dataset_file")
        shape, _ = read_shape(file.tree)
        items = shape.items if shape else ()
        lines = file.find_line_numbers([(*items, index) for index in range(len(tasks))])
        yield from zip(lines, tasks, strict=True)

    def inspect(self) -> Inspection:
        """Read the whole file and tell every problem."""
        return _read(self.path, self.rules)[0]


def read_document(path: Path, rules: TaskRules = PLAIN_RULES) -> Document:
    """Read a document that is to be run; raises `FilesRefused` with all its problems.

    What the official schema takes and no run can, such as an unknown evaluator, is a problem with
    strict rules too.
    """
    inspection, document = _read(path, rules, is_to_run=True)
    if document is None:
        raise FilesRefused(inspection.problems)
    return document


def write_document(header: DocumentHeader, tasks: Iterable[Task], *, official: bool = False) -> str:
    """Write a document; reading it back gives an equal one.

    With `official`, items hold only what the official schema takes; the rest is in `extensions`.
    """
    items = [build_item(task, official=official) for task in tasks]
    return dump_document(build_root(header, items))


def build_root(header: DocumentHeader, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Put a document together from its header and the rows of its items."""
    root: dict[str, Any] = {"schemaVersion": header.schema_version, **header.carried}
    if header.default_evaluators is not None:
        root["default_evaluators"] = header.default_evaluators
    return root | {"items": items}


def dump_document(root: Mapping[str, Any]) -> str:
    """Give the text of a document."""
    return json.dumps(root, ensure_ascii=False, indent=2) + "\n"


def make_header(tasks: Iterable[Task]) -> DocumentHeader:
    """Make the header of a document of tasks that name all their evaluators themselves."""
    header = DocumentHeader("1.0.0", default_evaluators={})
    root = build_root(header, [build_item(task) for task in tasks])
    return replace(header, schema_version=find_lowest_version(root))


def _read(
    path: Path, rules: TaskRules, *, is_to_run: bool = False
) -> tuple[Inspection, Document | None]:
    head = read_head(path)
    if isinstance(head, Problem):
        return Inspection(0, (head,)), None
    try:
        file = read_json(path, "dataset_file")
    except FilesRefused as error:
        return Inspection(0, error.problems), None
    except InputError as error:
        return Inspection(0, (Problem(error.message, hint=error.hint),)), None
    return _review(file, rules, is_to_run=is_to_run)


def _review(
    file: JsonFile, rules: TaskRules, *, is_to_run: bool
) -> tuple[Inspection, Document | None]:
    shape, faults = read_shape(file.tree)
    if rules.strict:
        faults = find_schema_faults(file.tree)
    # The official schema takes anything under our key.
    is_enough = rules.strict and (faults or not (is_to_run or OUR_KEY in file.text))
    if shape is not None and not is_enough:
        faults = find_document_faults(shape, replace(rules, strict=False))
    is_good = all(fault.severity != "error" for fault in faults)
    document = _build(shape) if is_good and shape is not None else None
    if document is not None and shape is not None:
        faults = [*faults, *_find_repeated(shape)]
    log = ProblemLog()
    log.extend(file.place(faults, [_name_item(shape, fault.loc) for fault in faults]))
    problems = log.close(file.path)
    if document is None:
        return Inspection(_count_good(shape, faults), problems), None
    return Inspection(len(document.tasks), problems), replace(document, notes=problems)


def _build(shape: Shape) -> Document:
    root = shape.root
    carried = {key: value for key, value in root.items() if key not in _OF_ROOT}
    header = DocumentHeader(
        root["schemaVersion"], root.get("default_evaluators"), carried, shape.is_legacy
    )
    return Document(header, build_tasks(shape.rows))


def _find_repeated(shape: Shape) -> Iterator[Fault]:
    """Warn of what was meant to tell items apart and does not."""
    first: dict[tuple[str, str], int] = {}
    for index, item in enumerate(shape.rows):
        for key in ("name", "testId"):
            value = item.get(key)
            if not value or first.setdefault((key, value), index) == index:
                continue
            message = f"{key} {show(value)} stands in item {first[key, value]} too"
            hint = "results are told apart and compared by it; rename one"
            yield Fault((*shape.items, index, key), message, hint, "warning")


def _name_item(shape: Shape | None, loc: Loc) -> str | None:
    """Name the item that holds a fault, as its results will be."""
    index = shape.find_index(loc) if shape else None
    item = shape.rows[index] if shape and index is not None else None
    names = [item.get(key) for key in ("name", "testId")] if isinstance(item, dict) else []
    return next((name for name in names if isinstance(name, str) and name.strip()), None)


def _count_good(shape: Shape | None, faults: Iterable[Fault]) -> int:
    if shape is None:
        return 0
    bad = {shape.find_index(fault.loc) for fault in faults if fault.severity == "error"}
    return len(shape.rows) - len(bad - {None})
