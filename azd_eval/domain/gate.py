"""Whether a run is good enough for a build, and whether it was measured at all."""

import re
from dataclasses import dataclass

from azd_eval.domain.summary import Gate, TaskCounts


@dataclass(frozen=True, slots=True)
class ErrorLimit:
    """How many errored trials are tolerated: a number, or a share (0..1) of all trials."""

    count: int | None = None
    share: float | None = None

    def is_exceeded(self, errored: int, total: int) -> bool:
        """Tell whether there are more errors than tolerated."""
        if self.share is not None:
            # 333 of 1000 must not exceed 33.3 % by the last bit.
            return errored > self.share * total + 1e-9
        return errored > (self.count or 0)


def read_error_limit(text: str | int) -> ErrorLimit:
    """Read `N` or `N%`; raises `ValueError` with a sentence."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(%?)\s*", str(text))
    if match is None:
        raise ValueError(f"expected a number such as 3, or a share such as 5%, got {text!r}")
    number, percent = match.groups()
    if percent:
        share = float(number) / 100
        if share > 1:
            raise ValueError(f"a share is at most 100%, got {text!r}")
        return ErrorLimit(share=share)
    if "." in number:
        raise ValueError(f"expected a whole number or a share such as 5%, got {text!r}")
    return ErrorLimit(count=int(number))


def read_share(text: str | float) -> float:
    """Read a score limit, `0.7` or `70%`; raises `ValueError` with a sentence and a hint."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(%?)\s*", str(text))
    if match is None:
        raise ValueError(f"expected a score from 0 to 1 or a percentage such as 70%, got {text!r}")
    number, percent = float(match.group(1)), match.group(2)
    if percent:
        number /= 100
    if number > 1:
        hint = "" if percent or number / 100 > 1 else f"; did you mean {match.group(1)}%?"
        raise ValueError(f"a score limit is at most 1 (or 100%), got {text!r}{hint}")
    return number


def decide_gate(
    tasks: TaskCounts,
    score: float | None,
    fail_under: float | None,
    *,
    unreached: int = 0,
    noun: str = "tasks",
) -> Gate:
    """Apply the gate: every task passes, unless `fail_under` sets a lower bar for the score.

    `score` is the one that counts errored tasks as 0. Tasks that were not reached miss any gate.
    `noun` is what users call tasks.
    """
    reasons = []
    if unreached:
        reasons.append(f"{unreached} of {tasks.total} {noun} were not run")
    missed = tasks.total - tasks.passed - tasks.skipped
    if score is None:
        reasons.append("nothing was scored")
    elif fail_under is None and missed:
        reasons.append(f"{missed} of {tasks.total} {noun} did not pass")
    # A score of 0.7 made of thirds and tenths must not miss 0.7 by the last bit.
    elif fail_under is not None and score < fail_under - 1e-9:
        reasons.append(f"score {score:.4g} is under {fail_under:.4g}")
    return Gate(not reasons, tuple(reasons))
