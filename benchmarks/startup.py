"""How long `azd-eval --help` takes, beside a Python that does nothing.

    python benchmarks/startup.py [--rounds N] [--json]

Both take turns, and the median of each counts.
"""

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from children import Spent, measure

COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "azd-eval --help": ("-m", "azd_eval", "--help"),
}


def measure_starts(rounds: int) -> dict[str, Spent]:
    """Measure both commands; gives the median of each figure."""
    starts: dict[str, list[Spent]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for name, arguments in COMMANDS.items():
                starts[name].append(measure([sys.executable, *arguments], Path(folder)))
    return {name: take_median(spent) for name, spent in starts.items()}


def take_median(starts: list[Spent]) -> Spent:
    """Give the median of each figure."""
    return Spent(
        wall_s=statistics.median(spent.wall_s for spent in starts),
        cpu_s=statistics.median(spent.cpu_s for spent in starts),
        peak_mib=statistics.median(spent.peak_mib for spent in starts),
    )


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    figures = measure_starts(options.rounds)
    if options.json:
        print(json.dumps({name: asdict(spent) for name, spent in figures.items()}))
        return
    (_, nothing), (_, ours) = figures.items()
    for name, spent in figures.items():
        print(
            f"{name:15} {spent.wall_s * 1000:5.0f} ms, {spent.cpu_s * 1000:5.0f} ms CPU, "
            f"peak {spent.peak_mib:.0f} MiB"
        )
    print(f"azd-eval --help takes {ours.wall_s / nothing.wall_s:.1f} x python -c pass")


if __name__ == "__main__":
    main()
