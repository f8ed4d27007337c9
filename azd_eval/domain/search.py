"""How a search decides, and what it ends with."""

from dataclasses import dataclass
from typing import Literal

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.summary import Interval

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

    A candidate is looked at in blocks of `block` tasks, the first block of those that the incumbent
    fails, and is dropped once its paired difference is not above `drop_at`, or in the end not above
    `accept_above`. What gets through is looked at afresh, `looks` times in all, `looks_few` below
    `few_tasks` tasks; each of these looks must reach `later_look_from` by itself. It is accepted
    when the mean over all looks is more than `accept_above` higher (`accepts_ties`: or equal and
    shorter), on at least `least_shared` of the tasks. A criterion marked `must` may lose less than
    `must_looks` looks. One look is enough while no verdict of `quiet_verdicts` or more, seen twice,
    has changed.
    """

    block: int = 3
    drop_at: float = 0.0
    looks: int = 2
    looks_few: int = 3
    few_tasks: int = 6
    later_look_from: float = -0.03
    accept_above: float = 0.0
    accepts_ties: bool = False
    least_shared: float = 0.7
    must_looks: float = 2.0
    quiet_verdicts: int = 18
    # After so many iterations in vain, look at the incumbent again and try another parent; stop.
    unstick_after: int = 4
    stop_after: int = 8
    stop_after_unusable: int = 3
    # Candidates within so many standard errors of the best are equal: the shortest is taken.
    equal_within: float = 1.0
    # From so many tasks on, a share is held out, at least so many.
    hold_out_from: int = 8
    hold_out_share: float = 0.3
    hold_out_least: int = 3
    enough_held_out: int = 20
    # Fresh looks at baseline and best for the last comparison; without noise, fewer.
    confirm_looks: int = 3
    confirm_looks_quiet: int = 2


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
    """What a strategy comes back with: the best candidate it knows, and why it ended."""

    best: Candidate
    stop: Stop
