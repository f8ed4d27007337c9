"""What an optimization is asked to do, what it works with, and what it tells on the way."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.criterion import Rubric
from azd_eval.domain.optimization_summary import CandidateResult
from azd_eval.domain.ports import Journal, Optimizer, Strategy
from azd_eval.domain.score import Trial
from azd_eval.domain.search import SearchPolicy
from azd_eval.domain.stop import StopSign
from azd_eval.domain.task import Task

# The trials of one look at some tasks: candidate, tasks, number of the look. Never raises.
Measure = Callable[[Candidate, Sequence[Task], int], Awaitable[tuple[Trial, ...]]]
Step = Literal["calibrated", "measuring", "proposing", "decided"]


@dataclass(frozen=True, slots=True)
class OptimizationJob:
    """What to improve, and how long to try. `rubrics` describe the dimensions of verdicts.

    Held out are the tasks of `validation`, or else the share `hold_out` of `tasks`, None for the
    policy's. Each iteration asks for `proposals` at once. The search ends with the best so far once
    the stop sign is up.
    """

    baseline: Candidate
    tasks: Sequence[Task]
    max_iterations: int
    rubrics: tuple[Rubric, ...] = ()
    validation: Sequence[Task] = ()
    hold_out: float | None = None
    proposals: int = 1
    seed: int = 0
    policy: SearchPolicy = field(default_factory=SearchPolicy)
    stop: StopSign = field(default_factory=StopSign)


@dataclass(frozen=True, slots=True)
class OptimizationProgress:
    """What happens now; `iteration` 0 is the baseline. `trials` are about to run, where measured.

    `result` is given once decided, `words` once calibrated.
    """

    step: Step
    iteration: int
    max_iterations: int
    candidate_id: str
    trials: int = 0
    result: CandidateResult | None = None
    words: str = ""


class OptimizationRecorder(Journal, Protocol):
    """Keeps decisions, and the text of each candidate, on disk before it returns."""

    def keep_candidate(self, candidate: Candidate) -> str:
        """Save a candidate's instructions; returns where they are."""
        ...


@dataclass(frozen=True, slots=True)
class OptimizationParts:
    """What does the work: who searches, who proposes, what measures, who keeps and who is told."""

    strategy: Strategy
    optimizer: Optimizer
    measure: Measure
    recorder: OptimizationRecorder
    on_progress: Callable[[OptimizationProgress], None] = lambda _: None
