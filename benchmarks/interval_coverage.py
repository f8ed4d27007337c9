"""How often, and how tightly, each kind of 95 % interval holds the true score of a few tasks.

    python benchmarks/interval_coverage.py [--worlds N] [--seed N] [--json]

A world is one dataset: tasks of 1 to 6 criteria whose verdicts share the luck of their task
(beta-binomial, intra-task correlation 0 to 0.6). A row gives, for one true score, one number of
tasks and one method, the coverage over all worlds, the coverage in the worst cell (one number of
criteria, one correlation; with few worlds partly bad luck) and the mean width.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from random import Random
from statistics import NormalDist, fmean, stdev
from typing import Any

from azd_eval.domain.statistics import score_interval, student_quantile
from azd_eval.domain.summary import Interval

TRUE_SCORES = (0.5, 0.8, 0.95)
TASK_COUNTS = (5, 10, 20)
CRITERIA_COUNTS = (1, 2, 4, 6)
CORRELATIONS = (0.0, 0.3, 0.6)
RESAMPLES = 200
NORMAL = NormalDist().inv_cdf(0.975)

Method = Callable[[Sequence[float], int], Interval]


def draw_scores(
    random: Random, true_score: float, tasks: int, criteria: int, correlation: float
) -> list[float]:
    """Draw the scores of one world's tasks: met criteria / criteria."""
    chances = [true_score] * tasks
    if correlation:
        size = 1 / correlation - 1
        alpha, beta = true_score * size, (1 - true_score) * size
        chances = [random.betavariate(alpha, beta) for _ in chances]
    return [sum(random.random() < chance for _ in range(criteria)) / criteria for chance in chances]


def interval_of_student(scores: Sequence[float], _: int) -> Interval:
    """Use plain t over tasks."""
    reach = student_quantile(len(scores) - 1) * stdev(scores) / len(scores) ** 0.5
    return fmean(scores) - reach, fmean(scores) + reach


def interval_of_bootstrap(scores: Sequence[float], _: int) -> Interval:
    """Take the percentiles of resampled tasks."""
    random = Random(repr(scores))
    means = sorted(sum(random.choices(scores, k=len(scores))) for _ in range(RESAMPLES))
    cut = RESAMPLES // 40
    return means[cut - 1] / len(scores), means[-cut] / len(scores)


def interval_of_verdicts(scores: Sequence[float], criteria: int) -> Interval:
    """Use Wilson over verdicts, as if tasks did not matter."""
    return _wilson(fmean(scores), len(scores) * criteria)


def interval_of_effective_size(scores: Sequence[float], criteria: int) -> Interval:
    """Use Wilson with as many verdicts as the variance between tasks is worth."""
    mean = fmean(scores)
    largest = mean * (1 - mean)
    spread = stdev(scores) ** 2 / largest if largest else 1.0
    return _wilson(mean, len(scores) / min(1.0, max(1 / criteria, spread)))


def interval_of_tasks(scores: Sequence[float], _: int) -> Interval:
    """Use Wilson with one verdict per task."""
    return _wilson(fmean(scores), len(scores))


def interval_of_ours(scores: Sequence[float], _: int) -> Interval:
    """Report what azd-eval reports."""
    interval = score_interval(scores)
    if interval is None:
        raise ValueError("an interval needs two tasks")
    return interval


METHODS: dict[str, Method] = {
    "t over tasks": interval_of_student,
    "bootstrap of tasks": interval_of_bootstrap,
    "Wilson, verdicts": interval_of_verdicts,
    "Wilson, n effective": interval_of_effective_size,
    "Wilson, tasks": interval_of_tasks,
    "azd-eval": interval_of_ours,
}


def _wilson(mean: float, count: float) -> Interval:
    doubt = NORMAL**2 / count
    centre, reach = mean + doubt / 2, (doubt * mean * (1 - mean) + doubt**2 / 4) ** 0.5
    return (centre - reach) / (1 + doubt), (centre + reach) / (1 + doubt)


def measure(
    method: Method, worlds: Sequence[tuple[list[float], int]], true_score: float
) -> tuple[float, float]:
    """Give coverage and mean width over worlds; intervals are clipped to 0..1."""
    intervals = [method(scores, criteria) for scores, criteria in worlds]
    clipped = [(max(0.0, low), min(1.0, high)) for low, high in intervals]
    # Rounding must not decide whether an interval that ends at the truth covers it.
    covered = fmean(low - 1e-9 <= true_score <= high + 1e-9 for low, high in clipped)
    return covered, fmean(high - low for low, high in clipped)


def compare(worlds: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a row per true score, number of tasks and method."""
    random = Random(seed)
    for true_score, tasks in product(TRUE_SCORES, TASK_COUNTS):
        cells = [
            [
                (draw_scores(random, true_score, tasks, criteria, correlation), criteria)
                for _ in range(worlds)
            ]
            for criteria, correlation in product(CRITERIA_COUNTS, CORRELATIONS)
        ]
        for name, method in METHODS.items():
            measured = [measure(method, cell, true_score) for cell in cells]
            yield {
                "true_score": true_score,
                "tasks": tasks,
                "method": name,
                "coverage": round(fmean(coverage for coverage, _ in measured), 4),
                "worst_cell": round(min(coverage for coverage, _ in measured), 4),
                "width": round(fmean(width for _, width in measured), 4),
            }


def main() -> None:
    """Print the comparison as a table, or as one JSON list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=400, help="datasets per cell")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    rows = compare(options.worlds, options.seed)
    if options.json:
        print(json.dumps(list(rows), indent=2))
        return
    print(f"{'truth':>5} {'tasks':>5}  {'method':20} {'coverage':>8} {'worst':>6} {'width':>6}")
    for row in rows:
        print(
            f"{row['true_score']:5} {row['tasks']:5}  {row['method']:20} "
            f"{row['coverage']:8.3f} {row['worst_cell']:6.3f} {row['width']:6.3f}"
        )


if __name__ == "__main__":
    main()
