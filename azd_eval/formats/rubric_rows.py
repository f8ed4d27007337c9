"""The rubric of an adaptive evaluator as files and models write it."""

import re
from typing import Annotated, Any, Literal, Required

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from azd_eval.domain.criterion import Criterion, Rubric
from azd_eval.formats.faults import Fault, Loc, name_kind, show
from azd_eval.formats.schema import Schema
from azd_eval.formats.task_rows import CheckRow, FreeText, Metadata, Text
from azd_eval.formats.task_rules import FindPatternFault, find_check_faults
from azd_eval.formats.tasks import build_check, check_to_row

_IDS = ("id", "dimension_id", "rubric_id")
_NAME = re.compile(r"[A-Za-z0-9_.~-]{1,256}")
_MOST_DIMENSIONS = 100
_EXACT = ConfigDict(extra="forbid", strict=True)
_EXAMPLE = """\
the smallest evaluator is
  type: rubric
  name: my-agent-quality
  dimensions:
    - id: answers_the_question
      description: The reply answers what was asked"""


@with_config(_EXACT)
class DimensionRow(TypedDict, total=False):
    """One question of a rubric; unless `always_applicable`, it may not apply to a task."""

    id: Text
    dimension_id: Annotated[Text, Field(description="azd's older spelling of `id`")]
    rubric_id: Annotated[Text, Field(description="azd's older spelling of `id`")]
    description: Required[Annotated[Text, Field(description="what the judge looks for")]]
    weight: Annotated[int, Field(ge=1, le=10)]
    always_applicable: bool
    check: Annotated[CheckRow, Field(description="a test in place of a model")]


Dimensions = Annotated[list[DimensionRow], Field(min_length=1, max_length=_MOST_DIMENSIONS)]


@with_config(_EXACT)
class RubricRow(TypedDict, total=False):
    """An adaptive evaluator."""

    type: Literal["rubric"]
    name: Required[Annotated[Text, Field(description="letters, digits and `_.~-`")]]
    version: Text
    description: FreeText
    scoring: Annotated[Literal["binary", "graded"], Field(description="0 or 1, or 1 to 5")]
    pass_threshold: Annotated[float, Field(ge=0, le=1, description="on the score from 0 to 1")]
    lowest_grade_fails: Annotated[bool, Field(description="a grade of 1 fails a task")]
    dimensions: Required[Dimensions]
    metadata: Annotated[Metadata, Field(description="your own; not used")]


_SCHEMA = Schema(RubricRow)


def check_rubric(tree: Any, find_pattern_fault: FindPatternFault) -> list[Fault]:
    """Find every fault of a tree; with none, it is a `RubricRow`."""
    if not isinstance(tree, dict):
        given = "an empty file" if tree is None else name_kind(tree)
        return [Fault((), f"expected an evaluator, got {given}", _EXAMPLE)]
    _, faults = _SCHEMA.read(tree)
    name = tree.get("name")
    if isinstance(name, str) and name.strip() and not _NAME.fullmatch(name):
        faults.append(Fault(("name",), "expected letters, digits, `_`, `.`, `~` and `-` only"))
    first: dict[str, Loc] = {}
    listed = tree.get("dimensions")
    for index, row in enumerate(listed[:_MOST_DIMENSIONS] if isinstance(listed, list) else ()):
        where: Loc = ("dimensions", index)
        if not isinstance(row, dict):
            continue
        if (name := find_id(row)) is None:
            faults.append(Fault((*where, "id"), "missing `id`"))
        elif first.setdefault(name, where) is not where:
            faults.append(Fault((*where, "id"), f"dimension {show(name)} stands twice"))
        if isinstance(row.get("check"), dict):
            faults += find_check_faults((*where, "check"), row["check"], find_pattern_fault)
    return faults


def find_id(row: dict[str, Any]) -> str | None:
    """Give the id of a dimension, in whichever spelling."""
    return next((row[key] for key in _IDS if isinstance(row.get(key), str)), None)


def build_rubric(row: RubricRow) -> Rubric:
    """Build the rubric that a good row describes."""
    return Rubric(
        name=row["name"],
        dimensions=tuple([_build_dimension(each) for each in row["dimensions"]]),
        version=row.get("version", "1"),
        description=row.get("description", ""),
        scoring=row.get("scoring", "binary"),
        pass_threshold=row.get("pass_threshold", 0.5),
        lowest_grade_fails=row.get("lowest_grade_fails", False),
    )


def rubric_to_row(rubric: Rubric) -> dict[str, Any]:
    """Give the row of a rubric."""
    row: dict[str, Any] = {"type": "rubric", "name": rubric.name, "version": rubric.version}
    if rubric.description:
        row["description"] = rubric.description
    row |= {"scoring": rubric.scoring, "pass_threshold": rubric.pass_threshold}
    if rubric.lowest_grade_fails:
        row["lowest_grade_fails"] = True
    return row | {"dimensions": [_dimension_to_row(each) for each in rubric.dimensions]}


def _build_dimension(row: DimensionRow) -> Criterion:
    check = row.get("check")
    return Criterion(
        find_id(dict(row)) or "",
        row["description"],
        float(row.get("weight", 1)),
        check=build_check(check) if check else None,
        always_applicable=row.get("always_applicable", False),
    )


def _dimension_to_row(dimension: Criterion) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": dimension.name,
        "description": dimension.instruction,
        "weight": int(dimension.weight),
        "always_applicable": dimension.always_applicable,
    }
    return row | ({"check": check_to_row(dimension.check)} if dimension.check else {})
