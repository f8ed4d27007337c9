"""What an optimizer sees and proposes."""

from dataclasses import dataclass

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.criterion import Criterion


@dataclass(frozen=True, slots=True)
class FailedVerdict:
    """One criterion that a candidate missed, with all that a reflector may see of it.

    `missed` of `looks` verdicts were short of full marks; `reply` and `reason` are of the last one.
    """

    task: str
    prompt: str
    reply: str
    criterion: Criterion
    reason: str
    missed: int = 1
    looks: int = 1

    @property
    def is_unstable(self) -> bool:
        """Tell whether the same instructions met it at another look."""
        return self.missed < self.looks


@dataclass(frozen=True, slots=True)
class MetCriterion:
    """A criterion that a candidate never missed, on so many tasks."""

    criterion: Criterion
    tasks: int


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
    """What `Optimizer.propose` gets: the parent, what it fails and meets, what was tried in vain.

    `attempt` counts all proposals from 1 and tells equal requests apart; `number` counts from 0
    those that are asked for at once, with the same evidence.
    """

    parent: Candidate
    failures: tuple[FailedVerdict, ...]
    met: tuple[MetCriterion, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    attempt: int = 1
    number: int = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """A revised text, or the reason why there is none (`instructions` is None)."""

    instructions: str | None
    rationale: str = ""
    fault: str | None = None
