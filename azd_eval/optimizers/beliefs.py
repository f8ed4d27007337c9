"""What each candidate is worth, told by its own trials and by those of its relatives.

A high score is partly luck, and the highest of many is mostly luck. But a revision changes little,
so a candidate is worth about what its parent is, and what is seen of one tells something of all. A
score far above those of its family is believed in part only, and an incumbent that was lucky is
found out by its children, at no further call.

The model: a trial scores the worth of its candidate, plus the ease of its task, plus noise; the
worth of a child is that of its parent, plus a normal deviate. What is then to be believed follows
from two passes over the family tree, a Kalman filter up and a smoother down.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.ledger import Ledger
from azd_eval.domain.summary import ScoreWithInterval

Scores = Mapping[str, Sequence[float]]

_FITS = 2
# What the noise is thought to be beforehand, and after how many trials that counts no more than
# what was seen of it.
_VARIANCE = 0.08
_VARIANCE_TRIALS = 10
_REACH = 1.96


@dataclass(frozen=True, slots=True)
class Belief:
    """The mean score over all tasks to be expected, and its standard error."""

    worth: float
    error: float

    @property
    def score(self) -> ScoreWithInterval:
        """Give it as a score with its 95 % interval; no score is outside of 0..1."""
        bounds = (self.worth - _REACH * self.error, self.worth, self.worth + _REACH * self.error)
        low, worth, high = (min(1.0, max(0.0, each)) for each in bounds)
        return ScoreWithInterval(worth, (low, high))


@dataclass(slots=True)
class _Estimate:
    """A normal distribution by its precision and its mean times that: they add up."""

    precision: float = 0.0
    weighted: float = 0.0

    def add(self, other: "_Estimate", sign: int = 1) -> "_Estimate":
        return _Estimate(
            self.precision + sign * other.precision, self.weighted + sign * other.weighted
        )

    def drift(self, variance: float) -> "_Estimate":
        """Give what this tells of somebody who differs by a deviate of that variance."""
        keeps = 1 / (1 + variance * self.precision)
        return _Estimate(self.precision * keeps, self.weighted * keeps)


def form_beliefs(
    ledger: Ledger, candidates: Sequence[Candidate], drift: float
) -> dict[str, Belief]:
    """Give what to believe of each candidate, by its id.

    `candidates` begin with the baseline, which has been scored, and hold each parent before its
    children. `drift` is the standard deviation of what one revision changes.
    """
    places = {candidate.id: place for place, candidate in enumerate(candidates)}
    parents = [places.get(candidate.parent or "", 0) for candidate in candidates]
    own = _estimate_each([ledger.scores(candidate) for candidate in candidates])
    known = _share(own, parents, drift**2)
    return {
        candidate.id: Belief(each.weighted / each.precision, each.precision**-0.5)
        for candidate, each in zip(candidates, known, strict=True)
    }


def _share(own: Sequence[_Estimate], parents: Sequence[int], variance: float) -> list[_Estimate]:
    """Tell everybody what is known of the others, each thing once; the root comes first."""
    below, up = list(own), [_Estimate()] * len(own)
    for place in range(len(own) - 1, 0, -1):
        up[place] = below[place].drift(variance)
        below[parents[place]] = below[parents[place]].add(up[place])
    known = below[:1]
    for place in range(1, len(own)):
        above = known[parents[place]].add(up[place], -1)
        known.append(below[place].add(above.drift(variance)))
    return known


def _estimate_each(scores: Sequence[Scores]) -> list[_Estimate]:
    """Estimate candidates by their own trials, as if all had met all tasks equally often."""
    worths, ease = [0.0] * len(scores), dict[str, float]()
    for _ in range(_FITS):
        ease = _fit_ease(scores, worths)
        worths = [_fit_worth(each, ease) for each in scores]
    counts = [sum(map(len, each.values())) for each in scores]
    squares = sum(
        (value - worth - ease[task]) ** 2
        for each, worth in zip(scores, worths, strict=True)
        for task, values in each.items()
        for value in values
    )
    fitted = sum(map(bool, counts)) + len(ease) - 1
    seen = max(1, sum(counts) - fitted)
    variance = (squares + _VARIANCE * _VARIANCE_TRIALS) / (seen + _VARIANCE_TRIALS)
    average = sum(ease.values()) / len(ease)
    return [
        _Estimate(count / variance, count / variance * (worth + average))
        for count, worth in zip(counts, worths, strict=True)
    ]


def _fit_ease(scores: Sequence[Scores], worths: Sequence[float]) -> dict[str, float]:
    left: dict[str, list[float]] = defaultdict(list)
    for each, worth in zip(scores, worths, strict=True):
        for task, values in each.items():
            left[task] += [value - worth for value in values]
    return {task: sum(values) / len(values) for task, values in left.items()}


def _fit_worth(scores: Scores, ease: Mapping[str, float]) -> float:
    left = [value - ease[task] for task, values in scores.items() for value in values]
    return sum(left) / len(left) if left else 0.0
