"""How much memory `eval run` takes, and how many tasks it does a second.

    python benchmarks/memory.py [--tasks N] [--model MODEL] [--json]

Agent and judge are the offline engine, and every tenth task fails. With `--model`, both are that
model of the environment: for a server without latency, such as `python -m tests.fake_openai`. The
second run takes the first one up again: it reads all that is there and asks nothing.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from children import Spent, measure

CONFIG = """\
agent: {{name: benchmark, model: {model}, instructions: Say that refunds take 30 days.}}
dataset_file: tasks.jsonl
evaluators: [builtin.task_adherence]
options: {{eval_model: {model}}}
"""


def write_project(folder: Path, tasks: int, model: str) -> None:
    """Write a suite of tasks that all have criteria of the same two names."""
    (folder / "eval.yaml").write_text(CONFIG.format(model=model), encoding="utf-8")
    with (folder / "tasks.jsonl").open("w", encoding="utf-8") as file:
        for number in range(tasks):
            word = "30 days" if number % 10 else "31 days"
            criteria = [
                {"name": "days", "instruction": f"Says {word}", "check": {"contains": word}},
                {"name": "polite", "instruction": "Is polite"},
            ]
            row = {
                "name": f"task_{number}",
                "prompt": f"How long does a refund take for order {number}?",
                "category": f"category_{number % 7}",
                "criteria": criteria,
            }
            file.write(json.dumps(row) + "\n")


def measure_runs(tasks: int, model: str) -> dict[str, Spent]:
    """Measure a run, and the session that takes it up again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, tasks, model)
        command = [sys.executable, "-m", "azd_eval", "eval", "run", "--no-gate", "--max-errors"]
        command += ["100%", "--quiet"]
        first = measure(command, folder)
        (run,) = (folder / ".azure/.foundry/runs").iterdir()
        return {"run": first, "resume": measure([*command, "--resume-run", run.name], folder)}


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--model", default="offline")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    figures = measure_runs(options.tasks, options.model)
    if options.json:
        print(json.dumps({name: asdict(spent) for name, spent in figures.items()}))
        return
    for name, spent in figures.items():
        rate = options.tasks / spent.wall_s
        print(
            f"{name:7} {options.tasks:,} tasks in {spent.wall_s:.1f} s ({spent.cpu_s:.1f} s CPU), "
            f"{rate:,.0f} tasks/s, peak {spent.peak_mib:.0f} MiB"
        )


if __name__ == "__main__":
    main()
