"""How sure a score is: 95 % intervals that hold for few tasks and for scores near 0 and 1.

The criteria of one task stand or fall together, so the task is what is counted, not the verdict.
The method was chosen by simulated coverage; `benchmarks/interval_coverage.py` repeats the choice.
"""

from collections.abc import Sequence
from math import sqrt

from azd_eval.domain.summary import Interval

# Cornish-Fisher series of Student's 97.5 % quantile in 1/degrees (Abramowitz & Stegun 26.7.5).
_STUDENT_SERIES = (1.959964, 2.372271, 2.822502, 2.555850, 1.589536)

# One perfect, one empty.
_IMAGINED_TASKS = 2


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


def student_quantile(degrees: float) -> float:
    """Give Student's two-sided 95 % quantile, within 0.2 % from 3 degrees of freedom on."""
    return sum(term / degrees**power for power, term in enumerate(_STUDENT_SERIES))


def _solve(mean: float, count: float, spread: float) -> Interval:
    """Solve (mean - p)² = t² · spread · p(1 - p) / count for both p."""
    doubt = student_quantile(count - 1 + _IMAGINED_TASKS) ** 2 * spread / count
    centre = mean + doubt / 2
    reach = sqrt(doubt * mean * (1 - mean) + doubt**2 / 4)
    low, high = (centre - reach) / (1 + doubt), (centre + reach) / (1 + doubt)
    return max(0.0, min(low, mean)), min(1.0, max(high, mean))
