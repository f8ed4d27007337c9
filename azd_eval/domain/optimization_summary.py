"""What an optimization says at the end; the shape of its `summary.json`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from azd_eval.domain.chat import Usage
from azd_eval.domain.comparison import Comparison
from azd_eval.domain.summary import Interval, ScoreWithInterval


@dataclass(frozen=True, slots=True)
class CandidateResult:
    """One candidate of an optimization. `reason` says why it was or was not accepted.

    `score` is over the tasks to learn from, None when it was dropped before all were tried. The
    paired `difference` is to the incumbent of that time, on the tasks that were tried.
    """

    id: str
    parent: str | None
    score: float | None
    accepted: bool
    reason: str
    length: int
    rationale: str = ""
    path: str | None = None
    interval: Interval | None = None
    difference: float | None = None
    difference_interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class OptimizationSummary:
    """A finished optimization. `best` is the baseline when nothing was really better.

    `held_out` compares baseline and best on looks that chose neither: at the tasks held out
    (`is_unseen`), or at those it was revised for. `baseline` and `best` are scores of such looks
    at all tasks, or else those of the search. `noise` says by what two looks at the same differed.
    """

    optimization_id: str
    created_at: str
    agent: str
    config: str | None
    dataset: str
    models: Mapping[str, str]
    strategy: str
    tasks: Mapping[str, int]
    baseline: ScoreWithInterval
    best_id: str
    best: ScoreWithInterval
    held_out: Comparison | None
    candidates: tuple[CandidateResult, ...]
    iterations: int
    evaluations: int
    stop_reason: str
    stop_message: str
    usage: Usage
    duration_s: float
    noise: str | None = None
    diff: str = ""
    applied_to: str | None = None
    engine: str | None = None
    notes: tuple[str, ...] = ()
    run_dir: str | None = None

    @property
    def improved(self) -> bool:
        """Tell whether the best candidate is another text than the baseline."""
        return self.best_id != self.candidates[0].id

    @property
    def is_trusted(self) -> bool:
        """Tell whether the best is better by more than chance: only then is it applied unasked."""
        return self.improved and self.held_out is not None and self.held_out.is_better

    def as_dict(self) -> dict[str, Any]:
        """Give the plain, JSON-ready form: `best` as `{id, score, interval}`."""
        plain = asdict(self)
        plain["best"] = {"id": plain.pop("best_id"), **plain["best"]}
        return plain
