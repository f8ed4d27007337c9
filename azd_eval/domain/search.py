"""How a search decides, and what it ends with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.summary import Interval, ScoreWithInterval

StopReason = Literal[
    "nothing_left_to_fix",
    "max_iterations",
    "no_progress",
    "no_usable_proposals",
    "undecided",
    "model_error",
    "strategy_error",
    "stopped",
]


@dataclass(frozen=True, slots=True)
class SearchPolicy:
    """Every number that a search decides by; `benchmarks/optimizer.py` shows what they do.

    A candidate is looked at in blocks of `block` tasks, first those that the incumbent fails, until
    it met each task and had as many trials as `count_trials` wants; each task once is enough while
    no verdict of `quiet_verdicts` or more, seen twice, has changed. It is dropped as soon as it is
    not believed to be worth more than the incumbent by `doubt` standard errors of that one, and
    else accepted, if it was scored on at least `least_shared` of the tasks and lost less than
    `must_looks` looks at criteria marked `must`. `drift` is what one revision changes, as a
    standard deviation.
    """

    block: int = 3
    enough: int = 15
    enough_at_first: int = 2
    drift: float = 0.1
    doubt: float = 0.3
    least_shared: float = 0.7
    must_looks: float = 2.0
    quiet_verdicts: int = 18
    # After so many iterations in vain the search ends.
    stop_after: int = 8
    stop_after_unusable: int = 3
    # From so many tasks on, a share is held out, at least so many.
    hold_out_from: int = 8
    hold_out_share: float = 0.3
    hold_out_least: int = 3
    enough_held_out: int = 20
    # Fresh looks at baseline and best for the last comparison; without noise, fewer.
    confirm_looks: int = 3
    confirm_looks_quiet: int = 2

    def count_trials(self, candidates: int) -> int:
        """Say how many trials of a candidate are enough, when so many are known, it included.

        The more are tried, the more of the best is luck.
        """
        return min(self.enough, self.enough_at_first + candidates)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a search ended: a stable word, and a sentence."""

    reason: StopReason
    message: str


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a candidate was accepted, and why, in words for user and reflector.

    `difference` is the mean paired difference to the incumbent, with its 95 % interval.
    """

    accepted: bool
    reason: str
    difference: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a strategy comes back with: the best candidate it knows, and why it ended.

    `believed` are scores to be expected, by the candidate's id, where the strategy knows better
    than to believe what it chose by: baseline and best at least, or none.
    """

    best: Candidate
    stop: Stop
    believed: Mapping[str, ScoreWithInterval] = field(default_factory=dict)
