"""What the judge is asked: criteria, and the rubric of an adaptive evaluator."""

from dataclasses import dataclass
from typing import Literal

Scoring = Literal["binary", "graded"]

CheckKind = Literal[
    "contains",
    "contains_any",
    "contains_all",
    "not_contains",
    "regex",
    "not_regex",
    "equals",
    "min_words",
    "max_words",
    "is_json",
]

LOWEST_GRADE = 1
HIGHEST_GRADE = 5


@dataclass(frozen=True, slots=True)
class Check:
    """A deterministic test of a reply, asked in place of a model.

    `value` is text, a list of texts, a number or a flag, as `kind` wants it.
    """

    kind: CheckKind
    value: str | int | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Criterion:
    """One yes/no question about a reply.

    A dimension of a rubric is a criterion too: `name` is its id, `instruction` its description.
    Only a dimension may leave `always_applicable` off, and then the judge may say "does not apply".
    """

    name: str
    instruction: str
    weight: float = 1.0
    must: bool = False
    check: Check | None = None
    always_applicable: bool = True


@dataclass(frozen=True, slots=True)
class Rubric:
    """The criteria of one adaptive evaluator.

    `pass_threshold` is on the 0..1 score. `lowest_grade_fails` is azd's rule for its bare
    `rubric_dimensions.json`: any dimension graded 1 fails the task, whatever the mean.
    """

    name: str
    dimensions: tuple[Criterion, ...]
    version: str = "1"
    description: str = ""
    scoring: Scoring = "binary"
    pass_threshold: float = 0.5
    lowest_grade_fails: bool = False
