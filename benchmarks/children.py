"""Run a command as a process of its own and tell what it took."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Linux counts in KiB, macOS in bytes.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Spent:
    """`peak_mib` is the most memory that the process had at any time."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def measure(command: Sequence[str], folder: Path) -> Spent:
    """Run a command to its end; raises `RuntimeError` when it fails."""
    started = time.monotonic()
    process = subprocess.Popen(  # noqa: S603 - the commands are ours
        command, cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}: {' '.join(command)}")
    return Spent(
        wall_s=time.monotonic() - started,
        cpu_s=usage.ru_utime + usage.ru_stime,
        peak_mib=usage.ru_maxrss * _RSS_UNIT / 2**20,
    )
