"""What an optimizer sees and proposes."""

from collections.abc import Sequence
from dataclasses import dataclass

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.criterion import Criterion
from azd_eval.domain.score import Trial
from azd_eval.domain.summary import Interval
from azd_eval.domain.task import Task


@dataclass(frozen=True, slots=True)
class Measurement:
    """All trials of one candidate, in dataset order, and the score that they add up to."""

    candidate: Candidate
    trials: tuple[Trial, ...]
    score: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class FailedVerdict:
    """One criterion that a candidate missed, with all that a reflector may see of it."""

    task: str
    prompt: str
    reply: str
    criterion: Criterion
    reason: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """A proposal that was tried and not kept, so that it is not proposed again.

    `failures` is what it missed, where it was measured.
    """

    instructions: str
    reason: str
    failures: tuple[FailedVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What `Optimizer.propose` gets: the incumbent, what it fails, what was tried in vain.

    `iteration` counts from 1 and tells equal requests apart.
    """

    incumbent: Measurement
    failures: tuple[FailedVerdict, ...]
    rejected: tuple[Rejected, ...]
    tasks: Sequence[Task]
    iteration: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A revised text, or the reason why there is none (`instructions` is None)."""

    instructions: str | None
    rationale: str = ""
    fault: str | None = None
