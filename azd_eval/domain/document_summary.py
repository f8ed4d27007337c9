"""What the run of an evaluation document says at the end: per item, evaluator and category."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from azd_eval.domain.chat import Usage
from azd_eval.domain.summary import Gate, Interval


@dataclass(frozen=True, slots=True)
class ItemCounts:
    """How many items ended how; the parts add up to `total`. `not_run` were not reached."""

    total: int = 0
    passed: int = 0
    failed: int = 0
    partial: int = 0
    errored: int = 0
    not_run: int = 0

    @property
    def unmeasured(self) -> int:
        """How many were tried without a full result."""
        return self.partial + self.errored


@dataclass(frozen=True, slots=True)
class EvaluatorResult:
    """One evaluator over all turns that it was to score.

    `mean` is on its own scale, such as 1..5, and `pass_rate` is passed / (passed + failed); both
    are None when it decided nothing.
    """

    name: str
    count: int
    passed: int
    failed: int
    errored: int
    mean: float | None
    pass_rate: float | None


@dataclass(frozen=True, slots=True)
class ItemGroup:
    """Items taken together: those of a category. `score` is 0..1, over scored items."""

    name: str
    items: ItemCounts
    score: float | None
    evaluators: tuple[EvaluatorResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSummary:
    """A finished run of one document; the shape of `<result>.summary.json`.

    `score` and `interval` (95 %) are over scored items, 0..1; `score_errors_as_zero` counts items
    without a full result as 0 and is what `--fail-under` looks at. `result` is where the document
    with its results is.
    """

    document: str
    result: str | None
    run_id: str
    run_dir: str | None
    created_at: str
    agent: str
    models: Mapping[str, str]
    items: ItemCounts
    score: float | None
    score_errors_as_zero: float | None
    interval: Interval | None
    evaluators: tuple[EvaluatorResult, ...]
    categories: tuple[ItemGroup, ...]
    gate: Gate
    usage: Usage
    stop_reason: str
    duration_s: float
    engine: str | None = None
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Give the plain, JSON-ready form."""
        return asdict(self)
