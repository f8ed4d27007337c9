"""Names of run folders."""

import re
import subprocess
import sys

import pytest

from azd_eval.errors import InputError
from azd_eval.storage.run_ids import hold_run_folder, keep_out_of_git, make_run_folder

MAKER = """
import sys
from pathlib import Path
from azd_eval.storage.run_ids import make_run_folder

for _ in range(200):
    print(make_run_folder(Path(sys.argv[1]), "support").name)
"""


def test_a_name_is_sortable_and_holds_no_sign_that_some_system_forbids(tmp_path):
    folder = make_run_folder(tmp_path / "new" / "runs", "support")

    assert re.fullmatch(r"support-\d{8}-\d{6}-[0-9a-f]{4}", folder.name)
    assert folder.is_dir()


def test_names_sort_by_time_within_one_second(tmp_path):
    names = [make_run_folder(tmp_path, "run").name for _ in range(50)]

    assert sorted(names) == names


def test_processes_that_start_together_never_share_a_folder(tmp_path):
    command = [sys.executable, "-c", MAKER, str(tmp_path)]
    makers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]

    names = [name for maker in makers for name in maker.communicate()[0].split()]

    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())
    assert 600 == len(set(names))


@pytest.mark.parametrize("make", [lambda path: make_run_folder(path, "x"), keep_out_of_git])
def test_a_place_that_cannot_be_written_is_an_error_of_the_user(tmp_path, make):
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(InputError, match="cannot write") as refusal:
        make(tmp_path / "file" / "runs")

    assert refusal.value.hint


def test_results_are_kept_out_of_git_and_the_users_own_rules_stay(tmp_path):
    keep_out_of_git(tmp_path / "new")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / ".gitignore").write_text("mine\n")
    keep_out_of_git(tmp_path / "own")

    assert (
        "runs/\nresults/\noptimizations/\ncache/\n" == (tmp_path / "new" / ".gitignore").read_text()
    )
    assert "mine\n" == (tmp_path / "own" / ".gitignore").read_text()


HOLDER = """
import sys
from pathlib import Path
from azd_eval.storage.run_ids import hold_run_folder

with hold_run_folder(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("end", ["by itself", "by SIGKILL"])
def test_a_run_is_held_by_one_process_until_it_ends(tmp_path, end):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert "held\n" == holder.stdout.readline()

        with (
            pytest.raises(InputError, match="under way in another process"),
            hold_run_folder(tmp_path),
        ):
            pass
        if end == "by SIGKILL":
            holder.kill()

    with hold_run_folder(tmp_path):
        pass


def test_what_is_no_lock_keeps_nobody_from_working(tmp_path):
    (tmp_path / ".lock").write_text("not ours: " + "x" * 1000)

    with hold_run_folder(tmp_path):
        pass
