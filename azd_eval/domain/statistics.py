"""How sure a score is: 95 % intervals that hold for few tasks and for scores near 0 and 1.

The criteria of one task stand or fall together, so the task is what is counted, not the verdict.
The method was chosen by simulated coverage; `benchmarks/interval_coverage.py` repeats the choice.
"""

from collections import Counter
from collections.abc import Sequence
from math import erfc, fsum, sqrt

from azd_eval.domain.summary import Interval

# Cornish-Fisher series of Student's 97.5 % quantile in 1/degrees (Abramowitz & Stegun 26.7.5).
_STUDENT_SERIES = (1.959964, 2.372271, 2.822502, 2.555850, 1.589536)
# Where the series is poor: one and two degrees.
_STUDENT_FEW = {1: 12.7062, 2: 4.3027}

# One perfect, one empty.
_IMAGINED_TASKS = 2
# Two differences of this size, one up and one down: equal differences never look certain.
_IMAGINED_DIFFERENCE = 0.1

# Beyond that many differences the sum is as good as normal.
_MOST_FLIPPED = 64
_GRID = 1000


def score_interval(task_scores: Sequence[float]) -> Interval | None:
    """Give the 95 % interval of the mean score, for task scores in 0..1; None below two tasks.

    Wilson's interval with Student's quantile and, in place of p(1 - p), the variance between tasks,
    estimated as if two more had been seen that differ as much as tasks can. So equal scores never
    look certain, and tasks that are all or nothing count as one verdict each.
    """
    count = len(task_scores)
    if count <= 1:
        return None
    total = sum(task_scores)
    mean = min(1.0, total / count)
    squares = sum((score - mean) ** 2 for score in task_scores)
    imagined = (total + 1) / (count + _IMAGINED_TASKS)
    variance = squares + _IMAGINED_TASKS * imagined * (1 - imagined)
    largest = mean * (1 - mean) * (count - 1 + _IMAGINED_TASKS)
    return _solve(mean, count, variance / largest if variance < largest else 1.0)


def proportion_interval(successes: float, trials: float) -> Interval | None:
    """Give the 95 % interval of a rate over independent trials; None below two trials.

    Equals `score_interval` of tasks that are all or nothing. Repeats of a task are not independent:
    give the sum of the means over repeats, and the number of tasks.
    """
    return _solve(successes / trials, trials, 1.0) if trials > 1 else None


def difference_interval(groups: Sequence[Sequence[float]]) -> Interval | None:
    """Give the 95 % interval of a mean difference, for paired differences in -1..1 by group.

    One group: its members are what was drawn, such as tasks, and the interval speaks of others like
    them. Several: the groups are what they are, such as tasks that were looked at again and again,
    and the interval speaks of these alone. Student's, with the spread estimated as if two more had
    been seen. None where no group has two.
    """
    count = sum(map(len, groups))
    degrees = count - len(groups)
    if degrees < 1:
        return None
    means = [fsum(group) / len(group) for group in groups]
    squares = fsum(
        (value - mean) ** 2 for group, mean in zip(groups, means, strict=True) for value in group
    )
    centre = fsum(means) / len(means)
    reach = difference_reach(squares, degrees, count)
    return max(-1.0, centre - reach), min(1.0, centre + reach)


def difference_reach(squares: float, degrees: float, count: float) -> float:
    """Give half the width of a difference's interval, by the sum of squared deviations."""
    variance = (squares + 2 * _IMAGINED_DIFFERENCE**2) / degrees
    return student_quantile(degrees) * sqrt(variance / count)


def sign_flip_p(differences: Sequence[float]) -> float:
    """Give the two-sided p of paired differences, were each as likely to be its opposite.

    Exact up to 64 differences, to a thousandth each; normal beyond.
    """
    steps = [step for step in (round(abs(value) * _GRID) for value in differences) if step]
    observed = abs(sum(round(value * _GRID) for value in differences))
    if not steps:
        return 1.0
    if len(steps) > _MOST_FLIPPED:
        return erfc(observed / sqrt(2 * sum(step * step for step in steps)))
    sums = Counter({0: 1})
    for step in steps:
        flipped: Counter[int] = Counter()
        for total, ways in sums.items():
            flipped[total + step] += ways
            flipped[total - step] += ways
        sums = flipped
    return sum(ways for total, ways in sums.items() if abs(total) >= observed) / (1 << len(steps))


def student_quantile(degrees: float) -> float:
    """Give Student's two-sided 95 % quantile, within 0.2 % for whole degrees of freedom."""
    if degrees in _STUDENT_FEW:
        return _STUDENT_FEW[int(degrees)]
    return sum(term / degrees**power for power, term in enumerate(_STUDENT_SERIES))


def _solve(mean: float, count: float, spread: float) -> Interval:
    """Solve (mean - p)² = t² · spread · p(1 - p) / count for both p."""
    doubt = student_quantile(count - 1 + _IMAGINED_TASKS) ** 2 * spread / count
    centre = mean + doubt / 2
    reach = sqrt(doubt * mean * (1 - mean) + doubt**2 / 4)
    low, high = (centre - reach) / (1 + doubt), (centre + reach) / (1 + doubt)
    return max(0.0, min(low, mean)), min(1.0, max(high, mean))
