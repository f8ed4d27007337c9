"""What a run says at the end; the shape of its `summary.json`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from azd_eval.domain.chat import Usage
from azd_eval.domain.score import Status

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """How many tasks ended how; the four parts add up to `total`."""

    total: int = 0
    passed: int = 0
    failed: int = 0
    errored: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One task over its repeats: mean score of the scored ones, status by their majority.

    `error_share` (0..1) is how many of the repeats that were not skipped errored; `index` the place
    in the dataset. `suspicious` and `cut` count replies that speak to the judge, and that the token
    limit cut off.
    """

    name: str
    status: Status
    score: float | None
    category: str | None = None
    met: int = 0
    asked: int = 0
    error_share: float = 0.0
    index: int = 0
    suspicious: int = 0
    cut: int = 0


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """One criterion over all tasks and repeats; `rate` is met / (met + unmet).

    `agreement` is the share of pairs of repeats of a task that say the same, None without repeats.
    """

    evaluator: str
    name: str
    met: int = 0
    unmet: int = 0
    not_applicable: int = 0
    undecided: int = 0
    unusable: int = 0
    rate: float | None = None
    interval: Interval | None = None
    agreement: float | None = None


@dataclass(frozen=True, slots=True)
class CategoryResult:
    """The tasks of one category."""

    name: str
    tasks: TaskCounts
    score: float | None


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether the run is good enough for a build, and every reason why not."""

    passed: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A finished run.

    `score` and `interval` (95 %) are over scored tasks; `score_errors_as_zero` counts errored tasks
    as 0 and is what the gate uses. `suspicious_replies` speak to the judge and `cut_replies` were
    cut off at the token limit; both were judged as they are. `engine` says so when rules, not a
    language model, did the work. `stop_reason` is `completed`, or what ended the run early.
    """

    run_id: str
    name: str
    created_at: str
    agent: str
    config: str | None
    dataset: str
    evaluators: tuple[str, ...]
    models: Mapping[str, str]
    tasks: TaskCounts
    score: float | None
    score_errors_as_zero: float | None
    interval: Interval | None
    criteria: tuple[CriterionResult, ...]
    categories: tuple[CategoryResult, ...]
    usage: Usage
    gate: Gate
    stop_reason: str
    duration_s: float
    repeats: int = 1
    trials: int = 0
    errored_trials: int = 0
    suspicious_replies: int = 0
    cut_replies: int = 0
    engine: str | None = None
    notes: tuple[str, ...] = ()
    run_dir: str | None = None
    results: tuple[TaskResult, ...] = field(default=(), repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Give the plain, JSON-ready form, without the row per task (that is `trials.jsonl`)."""
        plain = asdict(replace(self, results=()))
        del plain["results"]
        return plain


@dataclass(frozen=True, slots=True)
class ScoreWithInterval:
    """A mean score and its 95 % interval over tasks."""

    score: float | None
    interval: Interval | None
