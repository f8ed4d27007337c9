"""Compare strategies of `optimize` in simulated worlds, at equal numbers of agent runs.

    python benchmarks/optimizer.py [--worlds 1000:1200] [--family all] [--strategies keep-best,gepa]
                                   [--evaluations 50,100,200,400] [--policy block=5] [--json]

A world (`optimizer_worlds/`) is an agent whose answers depend on rules in its instructions, tasks
with criteria, a noisy judge and a reflector that is often wrong: the same for all strategies. An
evaluation is one run of the agent on one task, judged on all its criteria. A row gives, for one
family of worlds, one strategy and one number of evaluations, the mean over worlds of the true score
on 60 unseen tasks, its difference to keep-best paired by world with the half-width of its 95 %
interval, by how much the reported score was above the true one, and how often the result was
truly below the baseline. Tune on worlds 0:100 only.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import sqrt
from multiprocessing import Pool
from statistics import fmean, stdev
from typing import Any

from optimizer_worlds.families import FAMILIES, Family
from optimizer_worlds.strategies import STRATEGIES
from optimizer_worlds.world import draw_world

from azd_eval.domain.search import SearchPolicy
from azd_eval.domain.statistics import student_quantile

REFERENCE = "keep-best"
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Job:
    """One world, to be searched by some strategies with so many evaluations each."""

    family: Family
    number: int
    evaluations: int
    strategies: tuple[str, ...]
    policy: SearchPolicy


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one search."""

    true_score: float
    overstatement: float
    is_below_baseline: bool


def search(job: Job) -> list[Result]:
    """Search one world with each strategy; the same job gives the same results."""
    world = draw_world(job.family, job.number)
    start = world.true_score(world.baseline)
    results = []
    for name in job.strategies:
        found = STRATEGIES[name](world, job.evaluations, job.policy)
        truth = world.true_score(found.instructions)
        results.append(Result(truth, found.reported - truth, truth < start - ROUNDING))
    return results


def compare(jobs: Sequence[Job], processes: int) -> Iterator[dict[str, Any]]:
    """Yield a row per family, number of evaluations and strategy, as soon as it is known."""
    known: list[list[Result]] = []
    with Pool(processes) as pool:
        for job, results in zip(jobs, pool.imap(search, jobs, chunksize=4), strict=True):
            known.append(results)
            if len(known) == sum(_group(each) == _group(job) for each in jobs):
                for name, row in zip(job.strategies, _summarise(job, known), strict=True):
                    yield {
                        "family": job.family.name,
                        "strategy": name,
                        "evaluations": job.evaluations,
                        "worlds": len(known),
                        **row,
                    }
                known = []


def _group(job: Job) -> tuple[str, int]:
    return job.family.name, job.evaluations


def _summarise(job: Job, known: Sequence[Sequence[Result]]) -> Iterator[dict[str, float]]:
    reference = job.strategies.index(REFERENCE)
    for index in range(len(job.strategies)):
        results = [results[index] for results in known]
        differences = [each[index].true_score - each[reference].true_score for each in known]
        spread = stdev(differences) / sqrt(len(differences))
        yield {
            "true_score": round(fmean(each.true_score for each in results), 4),
            "difference_to_keep_best": round(fmean(differences), 4),
            "half_width": round(student_quantile(len(differences) - 1) * spread, 4),
            "overstatement": round(fmean(each.overstatement for each in results), 4),
            "below_baseline": round(fmean(each.is_below_baseline for each in results), 4),
        }


def main() -> None:
    """Print the comparison as a table, or as one JSON list."""
    options = _read_arguments()
    jobs = [
        Job(family, number, evaluations, options.strategies, options.policy)
        for family, evaluations in product(options.family, options.evaluations)
        for number in options.worlds
    ]
    rows = compare(jobs, options.jobs)
    if options.json:
        print(json.dumps(list(rows), indent=2))
        return
    print(
        f"{'family':18} {'runs':>4}  {'strategy':10} {'true':>5}  {'to keep-best':16} over  below"
    )
    for row in rows:
        print(
            f"{row['family']:18} {row['evaluations']:4}  {row['strategy']:10} "
            f"{row['true_score']:5.3f}  "
            f"{row['difference_to_keep_best']:+.3f} +- {row['half_width']:.3f}  "
            f"{row['overstatement']:+.3f}  {row['below_baseline']:.2f}",
            flush=True,
        )


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=_read_range, default="1000:1200", help="FIRST:END")
    parser.add_argument("--family", type=_read_families, default="all", help="`all`, or names: A,C")
    parser.add_argument("--evaluations", type=_read_numbers, default="50,100,200,400")
    parser.add_argument("--strategies", type=_read_strategies, default=",".join(STRATEGIES))
    parser.add_argument("--policy", type=_read_policy, default="", help="fields: block=5,drift=0.1")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    return parser.parse_args()


def _read_range(text: str) -> range:
    first, _, end = text.partition(":")
    return range(int(first), int(end))


def _read_families(text: str) -> list[Family]:
    wanted = text.split(",")
    return [
        family
        for family in FAMILIES
        if text == "all" or family.name in wanted or family.name.split()[0] in wanted
    ]


def _read_numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _read_strategies(text: str) -> tuple[str, ...]:
    """Keep-best is always among them: all others are compared with it."""
    return tuple(dict.fromkeys((REFERENCE, *text.split(","))))


def _read_policy(text: str) -> SearchPolicy:
    pairs = (part.partition("=") for part in text.split(",") if part)
    return replace(SearchPolicy(), **{name: json.loads(value) for name, _, value in pairs})


if __name__ == "__main__":
    main()
