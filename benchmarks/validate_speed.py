"""How fast `dataset validate` is, and how much memory it takes, beside a bare `json.loads` loop.

    python benchmarks/validate_speed.py [--rows N] [--json]

Rows are those of the specification's support dataset. Both read the same file, each in a process of
its own; rates are by CPU time, so that other processes do not count.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from children import Spent, measure

ROW = (
    '{{"name": "refund_policy_{0}", "prompt": "What is your refund policy?", "criteria": '
    '[{{"name": "mentions_30_days", "instruction": "Response must mention the 30-day refund '
    'window"}}, {{"name": "polite_tone", "instruction": "Response must be professional and '
    'empathetic"}}]}}\n'
)
LOOP = "import json\nfor line in open('tasks.jsonl', encoding='utf-8'): json.loads(line)"


def measure_reading(rows: int) -> dict[str, Spent]:
    """Measure the loop and the command on the same file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "tasks.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(ROW.format(number) for number in range(rows))
        validate = [sys.executable, "-m", "azd_eval", "dataset", "validate", "tasks.jsonl"]
        return {
            "json.loads": measure([sys.executable, "-c", LOOP], folder),
            "validate": measure(validate, folder),
        }


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    figures = measure_reading(options.rows)
    if options.json:
        print(json.dumps({name: asdict(spent) for name, spent in figures.items()}))
        return
    for name, spent in figures.items():
        rate = options.rows / spent.cpu_s
        print(f"{name:10} {rate:9,.0f} rows/s, peak {spent.peak_mib:.0f} MiB")
    ratio = figures["validate"].cpu_s / figures["json.loads"].cpu_s
    print(f"validate takes {ratio:.1f} x json.loads")


if __name__ == "__main__":
    main()
