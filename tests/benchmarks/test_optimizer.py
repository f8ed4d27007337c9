import json
import subprocess
import sys
from pathlib import Path
from typing import Any

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "optimizer.py"


def compare(*arguments: str) -> list[dict[str, Any]]:
    command = [sys.executable, BENCHMARK, "--json", "--jobs", "1", *arguments]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def test_compares_the_real_strategies_the_same_way_each_time() -> None:
    arguments = "--worlds 0:3 --family E --evaluations 20,40".split()

    first, second = compare(*arguments), compare(*arguments)

    assert first == second
    assert [
        ("E 5 tasks", name, evaluations, 3)
        for evaluations in (20, 40)
        for name in ("keep-best", "reflect", "gepa", "oracle")
    ] == [(row["family"], row["strategy"], row["evaluations"], row["worlds"]) for row in first]
    assert all(row["difference_to_keep_best"] == 0 for row in first[::4])
    assert all(0 <= row["true_score"] <= 1 for row in first)


def test_an_oracle_is_above_keep_best_and_never_below_the_baseline() -> None:
    arguments = "--worlds 0:8 --family A --evaluations 200 --strategies oracle".split()

    _, oracle = compare(*arguments)

    assert oracle["difference_to_keep_best"] > 0
    assert 0 == oracle["below_baseline"]


def test_numbers_of_the_policy_can_be_tried() -> None:
    arguments = "--worlds 0:2 --family E --evaluations 60 --strategies reflect".split()

    plain, other = compare(*arguments), compare(*arguments, "--policy", "block=5,hold_out_from=3")

    assert plain[0] == other[0]
    assert plain[1] != other[1]
