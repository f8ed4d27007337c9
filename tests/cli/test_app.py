"""The command tree as it is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from azd_eval import __version__


def test_it_is_installed_under_its_name(shell):
    script = Path(sys.executable).with_name("azd-eval")

    done = subprocess.run(
        [script, "--version"], env=shell.environment({}), capture_output=True, text=True, check=True
    )

    assert f"azd-eval {__version__}\n" == done.stdout


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_ends_in_examples(shell, flag):
    shown = shell("eval", "init", flag)

    assert (0, "") == (shown.code, shown.stderr)
    last = [line.strip() for line in shown.stdout.partition("Examples:")[2].splitlines()]
    assert 3 == len([line for line in last if line.startswith("azd-eval eval init")])
    assert "generate" not in shell("eval", flag).stdout
