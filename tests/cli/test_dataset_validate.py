"""`dataset validate`: every problem of every file, with its place and its cure."""

import pytest

from tests.cli.shell import EXAMPLES

VAGUE = (
    '{"name": "a", "prompt": "Hi?", "criteria": '
    '[{"name": "good_answer", "instruction": "The response should be good"}]}\n'
)


def test_the_examples_of_the_specification_are_valid(shell):
    files = [str(path) for path in sorted(EXAMPLES.glob("*.jsonl"))]

    strict = shell("dataset", "validate", "--strict", "--json", *files)
    plain = shell("dataset", "validate", *files)

    assert (0, 0) == (strict.code, plain.code)
    assert files == [file["path"] for file in strict.json["files"]]
    assert all(file["ok"] and file["problems"] == [] for file in strict.json["files"])
    assert {"coding_assistant": 2, "customer_support": 3} == {
        name: file["tasks"]
        for file in strict.json["files"]
        for name in ("coding_assistant", "customer_support")
        if name in file["path"]
    }
    assert "customer_support.jsonl: ok, 3 tasks" in plain.stdout


def test_all_problems_of_all_files_are_told_at_once(shell):
    shell.write(
        "bad.jsonl",
        '{"name": "a", "prompt": "Hi", "criteria": [{"name": "x", "instruktion": "y"}]}\n'
        '{"name": "b", "prompt": "Hi",}\n'
        "\n"
        '{"name": "a", "prompt": "", "criteria": []}\n',
    )
    shell.write("good.jsonl", VAGUE)
    files = ["bad.jsonl", "gone.jsonl", "good.jsonl"]

    told = shell("dataset", "validate", *files)
    listed = shell("dataset", "validate", "--json", *files)

    assert (2, 2) == (told.code, listed.code)
    bad, gone, good = listed.json["files"]
    assert {"path", "ok", "tasks", "problems"} == set(bad)
    assert {"severity", "line", "column", "item", "field", "message", "hint"} == set(
        bad["problems"][0]
    )
    assert [False, False, True] == [file["ok"] for file in (bad, gone, good)]
    lines = [problem["line"] for problem in bad["problems"]]
    assert (sorted(lines), {1, 2, 4}) == (lines, set(lines))
    hints = [problem["hint"] for problem in bad["problems"] if problem["hint"]]
    assert any("instruction" in hint for hint in hints)
    assert "invalid JSON on line 2" in told.stdout
    assert "bad.jsonl:1:" in told.stdout
    assert f"dataset_file not found: {shell.folder / 'gone.jsonl'}" in told.stdout
    assert "good.jsonl: ok, 1 task\n" in told.stdout


def test_lint_names_vague_criteria_and_changes_no_verdict(shell):
    shell.write("vague.jsonl", VAGUE)

    plain = shell("dataset", "validate", "--json", "vague.jsonl")
    linted = shell("dataset", "validate", "--lint", "--json", "vague.jsonl")

    assert (0, 0) == (plain.code, linted.code)
    assert [] == plain.json["files"][0]["problems"]
    (problem,) = [one for one in linted.json["files"][0]["problems"] if "vague" in one["message"]]
    assert (1, "a") == (problem["line"], problem["item"])
    assert "good_answer" in problem["message"]
    assert "error" != problem["severity"]
    assert problem["hint"]


@pytest.mark.parametrize("name", ["folder", "empty.jsonl", "binary.jsonl", "x" * 300])
def test_what_is_no_dataset_is_told_plainly(shell, name):
    (shell.folder / "folder").mkdir()
    shell.write("empty.jsonl", "")
    (shell.folder / "binary.jsonl").write_bytes(b"\xff\xfe\x00{\n")

    told = shell("dataset", "validate", name)

    assert (2, "") == (told.code, told.stderr)
    assert told.stdout.startswith("error: ")
    assert name in told.stdout
