"""`optimize --strategy gepa`: the real package, over real HTTP."""

import os

from tests.cli.shell import ROOT, connect, count_roles
from tests.personas import RULE


def test_it_finds_the_rule_and_says_who_searched(shell, world):
    shell.write_suite()

    done = shell("optimize", "--strategy", "gepa", "--json", **connect(world))

    assert 0 == done.code, done.stderr
    assert ("candidate_1", "nothing_left_to_fix") == (
        done.json["best"]["id"],
        done.json["stop_reason"],
    )
    assert 1 == count_roles(world)["optimizer"]
    folder = f"{done.json['run_dir']}/candidates"
    assert RULE in shell.read(f"{folder}/candidate_1/instructions.md")


def test_without_the_package_it_says_what_to_install(shell, world):
    shell.write_suite()
    shell.write("missing/gepa.py", "raise ModuleNotFoundError\n")
    path = os.pathsep.join((str(shell.folder / "missing"), str(ROOT)))

    done = shell("optimize", "--strategy", "gepa", PYTHONPATH=path, **connect(world))

    assert 2 == done.code
    assert "the strategy `gepa` needs its package" in done.stderr
    assert "pip install 'azd-eval[gepa]'" in done.stderr
    assert [] == world.calls
    assert "no optimizations yet" in shell("optimize", "list").stdout


def test_several_proposals_at_once_are_refused_before_any_call(shell, world):
    shell.write_suite()

    done = shell("optimize", "--strategy", "gepa", "--proposals", "2", **connect(world))

    assert 2 == done.code
    assert "the strategy `gepa` takes one proposal at a time" in done.stderr
    assert [] == world.calls
