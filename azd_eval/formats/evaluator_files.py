"""Adaptive evaluators on disk: YAML, azd's bare JSON list, and versions in file names."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from azd_eval.domain.criterion import Rubric
from azd_eval.errors import FilesRefused, InputError, Problem
from azd_eval.formats.faults import Fault, cut_faults, in_one_sentence, suggest
from azd_eval.formats.json_files import read_json
from azd_eval.formats.rubric_rows import (
    RubricRow,
    build_rubric,
    check_rubric,
    find_id,
    rubric_to_row,
)
from azd_eval.formats.task_rules import FindPatternFault
from azd_eval.formats.yaml_files import dump_yaml, read_yaml
from azd_eval.formats.yaml_scalars import fit

_AZD_FILE = "rubric_dimensions.json"
_FILE = re.compile(r"(.+)\.v(\d{1,9})\.yaml")
_LABEL = re.compile(r"(.+)/v(\d{1,9})")
_VERSION = re.compile(r"v?(\d{1,9})(?:\.0)?")
_FOREIGN = re.compile(r"[^A-Za-z0-9_.~-]+")

Items = Sequence[str | None]
Place = Callable[[Sequence[Fault], Items], list[Problem]]


def read_rubric(row: Mapping[str, Any], find_pattern_fault: FindPatternFault = None) -> Rubric:
    """Read a rubric that a program or a model wrote, as strictly as a file.

    Raises `ValueError` with one sentence that tells all faults.
    """
    tree = dict(row)
    if faults := check_rubric(tree, find_pattern_fault):
        raise ValueError(in_one_sentence(faults))
    return build_rubric(cast(RubricRow, tree))


def read_evaluator(path: Path, find_pattern_fault: FindPatternFault = None) -> Rubric:
    """Read an evaluator file; raises `FilesRefused` with all its problems.

    YAML holds a rubric. JSON does too, or azd's bare list of dimensions: that is graded, and any
    dimension graded 1 fails the task.
    """
    read = _read_json if path.suffix.lower() == ".json" else _read_yaml
    try:
        tree, place = read(path)
    except FilesRefused:
        raise
    except InputError as error:
        raise FilesRefused([Problem(error.message, hint=error.hint)]) from error
    if faults := check_rubric(tree, find_pattern_fault):
        faults = cut_faults(faults)
        problems = place(faults, [_name_item(tree, fault) for fault in faults])
        raise FilesRefused(sorted(problems, key=lambda problem: problem.line or 0))
    return build_rubric(tree)


def write_rubric(rubric: Rubric) -> str:
    """Write a rubric as YAML; reading it back gives an equal one."""
    return dump_yaml(rubric_to_row(rubric))


def find_evaluator(folder: Path, name: str, version: str | None = None) -> Path:
    """Find the file of a generated evaluator: the version asked for, else the newest.

    `NAME/v3` is a name with its version, too. Raises `FilesRefused` that names what is there.
    """
    if version is None and (label := _LABEL.fullmatch(name)):
        name, version = label.groups()
    found = _list_versions(folder)
    versions = found.get(name, {})
    if version is None:
        if versions:
            return versions[max(versions)]
        if (azd_file := folder / name / _AZD_FILE).is_file():
            return azd_file
    elif (wanted := _VERSION.fullmatch(version)) and int(wanted[1]) in versions:
        return versions[int(wanted[1])]
    raise FilesRefused([_word_not_found(folder, name, version, found)])


def _list_versions(folder: Path) -> dict[str, dict[int, Path]]:
    found: dict[str, dict[int, Path]] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if match := _FILE.fullmatch(path.name):
            found.setdefault(match[1], {})[int(match[2])] = path
    return found


def _word_not_found(
    folder: Path, name: str, version: str | None, found: Mapping[str, Mapping[int, Path]]
) -> Problem:
    if name in found:
        message = f"evaluator {name!r} has no version {version!r} in {folder.absolute()}"
        numbers = ", ".join(str(number) for number in sorted(found[name]))
        return Problem(message, field="evaluators", hint=f"its versions are {numbers}")
    if close := suggest(name, found):
        hint = f"did you mean {close!r}?"
    elif found:
        hint = f"the evaluators there are {', '.join(map(repr, sorted(found)))}"
    else:
        hint = "`azd-eval eval init` makes one; `local_uri` names a file of your own"
    message = f"evaluator {name!r} not found in {folder.absolute()}"
    return Problem(message, field="evaluators", hint=hint)


def _read_yaml(path: Path) -> tuple[Any, Place]:
    file = read_yaml(path, "evaluator file")

    def place(faults: Sequence[Fault], items: Items) -> list[Problem]:
        return [file.place(*each) for each in zip(faults, items, strict=True)]

    return fit(file.tree, RubricRow), place


def _read_json(path: Path) -> tuple[Any, Place]:
    file = read_json(path, "evaluator file")
    if not isinstance(file.tree, list):
        return file.tree, file.place
    name = path.parent.name if path.name == _AZD_FILE else path.stem
    tree = {
        "name": _FOREIGN.sub("-", name) or "rubric",
        "scoring": "graded",
        "lowest_grade_fails": True,
        "dimensions": file.tree,
    }

    def place(faults: Sequence[Fault], items: Items) -> list[Problem]:
        return file.place([replace(fault, loc=fault.loc[1:]) for fault in faults], items)

    return tree, place


def _name_item(tree: Any, fault: Fault) -> str | None:
    match fault.loc:
        case ("dimensions", int(index), *_) if isinstance(tree["dimensions"][index], dict):
            return find_id(tree["dimensions"][index])
    return None
