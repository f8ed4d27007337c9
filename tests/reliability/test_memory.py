"""Memory stays flat: what a small run and a larger one take tells what a huge one would."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"
MOST_MIB = 200


def measure(script, flag, size):
    command = [sys.executable, str(BENCHMARKS / script), flag, str(size), "--json"]
    done = subprocess.run(command, check=True, capture_output=True, timeout=600)
    return {name: spent["peak_mib"] for name, spent in json.loads(done.stdout).items()}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("script", "flag", "sizes", "huge"),
    [
        ("memory.py", "--tasks", (5_000, 20_000), 100_000),
        ("validate_speed.py", "--rows", (50_000, 250_000), 1_000_000),
    ],
)
def test_a_huge_file_fits_into_200_mib(script, flag, sizes, huge):
    small, large = (measure(script, flag, size) for size in sizes)

    for name, peak in small.items():
        growth = (large[name] - peak) / (sizes[1] - sizes[0])
        assert peak + growth * (huge - sizes[0]) < MOST_MIB, (name, small, large)
