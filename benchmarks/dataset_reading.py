"""How fast a dataset is checked, beside a bare `json.loads` loop over the same file.

    python benchmarks/dataset_reading.py [--rows N] [--json]

Rows are those of the specification's support dataset. `peak_mib` is the peak of the whole process.
Every figure is CPU time: other processes do not count.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from azd_eval.formats.jsonl import JsonlDataset

ROW = (
    '{{"name": "refund_policy_{0}", "prompt": "What is your refund policy?", "criteria": '
    '[{{"name": "mentions_30_days", "instruction": "Response must mention the 30-day refund '
    'window"}}, {{"name": "polite_tone", "instruction": "Response must be professional and '
    'empathetic"}}]}}\n'
)


def measure(rows: int) -> dict[str, float]:
    """Give rows per second of each way to read, and the peak memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tasks.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(ROW.format(number) for number in range(rows))
        dataset = JsonlDataset(path)
        rates = {
            "json_loads": _rate(rows, lambda: _load(path)),
            "check": _rate(rows, lambda: dataset.inspect().tasks),
            "tasks": _rate(rows, lambda: sum(1 for _ in dataset)),
        }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return rates | {"ratio": rates["json_loads"] / rates["check"], "peak_mib": peak}


def _load(path: Path) -> int:
    with path.open(encoding="utf-8") as file:
        return sum(isinstance(json.loads(line), dict) for line in file)


def _rate(rows: int, read: Callable[[], int]) -> float:
    start = time.process_time()
    found = read()
    seconds = time.process_time() - start
    if found != rows:
        raise RuntimeError(f"read {found} of {rows} rows")
    return rows / seconds


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    figures = measure(options.rows)
    if options.json:
        print(json.dumps(figures))
        return
    for name in ("json_loads", "check", "tasks"):
        print(f"{name:10} {figures[name]:10,.0f} rows/s")
    print(f"check takes {figures['ratio']:.1f} x json.loads; peak {figures['peak_mib']:.0f} MiB")


if __name__ == "__main__":
    main()
