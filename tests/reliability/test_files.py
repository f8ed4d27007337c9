"""Files and folders that are not as they should be, beside those of a run (case 105)."""

import json
import os
import stat

import pytest

from tests.personas import support_world
from tests.reliability.projects import make_row, write_rows

ROUND = {
    "init": "eval init --agent {name} -m m --max-samples 2 --out-file new/eval.yaml -g Refunds.",
    "run": "eval run --run-dir out/new",
    "optimize": "optimize --max-iterations 1 --apply",
    "convert": "dataset convert tasks.jsonl out/new/tasks.csv",
}
NAMES = ["a:b", "what?", "a*b", 'say "hi"', "a|b", "<a>", "a\\b", "../../up", "CON", "nul.", "名前"]


@pytest.mark.parametrize("name", NAMES)
def test_case_105_names_of_files_are_good_on_every_system(project, name):
    row = make_row(name, "How?", name, category=name)
    project.write_suite(tasks=write_rows([row]))
    config = project.read("eval.yaml").replace("my-agent", json.dumps(name))
    project.write("eval.yaml", f"name: {json.dumps(name)}\n{config}")
    server = project.serve(support_world())
    before = {path.name for path in project.folder.parent.iterdir()}

    for command in ROUND.values():
        words = [name if word == "{name}" else word for word in command.split()]
        done = project.run(server, *words)
        assert done.code in (0, 1), done.output

    for path in project.folder.rglob("*"):
        assert not set(path.name) & set(':*?"<>|\\'), path
        assert path.name == path.name.rstrip(". "), path
        assert path.stem.casefold() not in ("con", "nul", "aux", "prn"), path
    assert before == {path.name for path in project.folder.parent.iterdir()}


TAKEN = {
    "init": ("eval init -m m --max-samples 2 --out-file {} -g Refunds.", "new.yaml"),
    "convert": ("dataset convert tasks.jsonl {}", "tasks.csv"),
}


@pytest.mark.parametrize(("command", "name"), TAKEN.values(), ids=TAKEN)
@pytest.mark.parametrize("taken", ["file", "link", "link to nothing", "folder"])
def test_case_105_what_exists_is_not_written_over(project, command, name, taken):
    project.write_suite()
    path = project.folder / name
    match taken:
        case "file":
            path.write_text("mine")
        case "link":
            project.write("mine.txt", "mine")
            path.symlink_to("mine.txt")
        case "link to nothing":
            path.symlink_to("nothing.txt")
        case "folder":
            path.mkdir()
    server = project.serve(support_world())
    before = project.files()

    done = project.run(server, *command.format(name).split())

    assert 2 == done.code, done.output
    assert name in done.stderr
    assert before == project.files()
    assert (taken.startswith("link"), taken == "folder") == (path.is_symlink(), path.is_dir())
    assert [] == server.calls


UNWRITABLE = {
    "init": "eval init -m m --max-samples 2 --out-file taken/eval.yaml -g Refunds.",
    "run": "eval run --run-dir taken/x",
    "convert": "dataset convert tasks.jsonl taken/tasks.csv",
}


@pytest.mark.parametrize("command", UNWRITABLE.values(), ids=UNWRITABLE)
def test_case_105_a_folder_that_cannot_be_is_found_out_before_any_call(project, command):
    project.write_suite()
    project.write("taken", "a file")
    server = project.serve(support_world())

    done = project.run(server, *command.split())

    assert (2, []) == (done.code, server.calls), done.output
    assert "cannot write" in done.stderr
    assert "a file" == project.read("taken")


@pytest.mark.parametrize("mode", [0o600, 0o664])
@pytest.mark.parametrize("is_link", [False, True])
def test_case_105_the_file_with_the_instructions_stays_the_file_it_was(project, mode, is_link):
    project.write_suite()
    text = project.read("instructions.md")
    path = project.folder / "instructions.md"
    if is_link:
        real = project.write("shared/prompts/instructions.md", text)
        path.unlink()
        path.symlink_to(real)
    path.chmod(mode)
    server = project.serve(support_world())

    improved = project.run(server, *"optimize --max-iterations 1 --json".split())
    best = improved.json["best"]["id"]
    applied = project.run(server, "optimize", "apply", best)

    assert (0, 0) == (improved.code, applied.code), improved.output + applied.output
    assert "30 days" in path.read_text(encoding="utf-8")
    assert (is_link, mode) == (path.is_symlink(), stat.S_IMODE(path.stat().st_mode))
    archived = [data for name, data in project.files().items() if "/archive/" in name]
    assert [text.encode()] == archived


def test_case_105_files_have_the_permissions_that_the_user_gives_to_new_ones(project):
    project.write_suite()
    server = project.serve(support_world())
    before = os.umask(0o077)
    try:
        done = project.run(server, *"eval run --run-dir out".split())
    finally:
        os.umask(before)

    assert 1 == done.code, done.output
    written = [path for path in (project.folder / "out").rglob("*") if path.is_file()]
    assert len(written) >= 5
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in written}
