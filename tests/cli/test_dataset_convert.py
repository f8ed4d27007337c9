"""`dataset convert`, and CSV wherever a dataset may stand."""

import json

import pytest

from tests.cli.shell import EXAMPLES, connect

EXCEL = (
    b"\xef\xbb\xbfname;prompt;criterion\r\n"
    b't1;"Say ""hi""\r\nin two lines";polite\r\n'
    b"t2;Name a city;cites_paris: Names Paris\r\n"
)


def test_a_dataset_goes_to_csv_and_back_unchanged(shell):
    original = EXAMPLES / "customer_support.jsonl"

    there = shell("dataset", "convert", str(original), "tasks.csv")
    back = shell("dataset", "convert", "--json", "tasks.csv", "back/tasks.jsonl")

    assert (0, 0) == (there.code, back.code)
    assert "tasks.csv: 3 tasks\n" == there.stdout
    assert {"path": "back/tasks.jsonl", "tasks": 3, "lost": []} == back.json
    rows = [json.loads(line) for line in original.read_text(encoding="utf-8").splitlines()]
    assert rows == [json.loads(line) for line in shell.read("back/tasks.jsonl").splitlines()]


def test_a_file_from_excel_becomes_jsonl(shell):
    (shell.folder / "excel.csv").write_bytes(EXCEL)

    converted = shell("dataset", "convert", "excel.csv", "tasks.jsonl")

    assert (0, "") == (converted.code, converted.stderr)
    one, other = (json.loads(line) for line in shell.read("tasks.jsonl").splitlines())
    assert 'Say "hi"\r\nin two lines' == one["prompt"]
    assert [{"name": "cites_paris", "instruction": "Names Paris"}] == other["criteria"]


def test_what_exists_is_not_overwritten(shell):
    (shell.folder / "excel.csv").write_bytes(EXCEL)
    shell.write("tasks.jsonl", "mine")

    refused = shell("dataset", "convert", "excel.csv", "tasks.jsonl")
    itself = shell("dataset", "convert", "excel.csv", "excel.csv")

    assert (2, 2) == (refused.code, itself.code)
    assert "'tasks.jsonl' exists and is not overwritten" in refused.stderr
    assert "mine" == shell.read("tasks.jsonl")
    assert EXCEL == (shell.folder / "excel.csv").read_bytes()


@pytest.mark.parametrize(
    ("source", "target"), [("a.csv", "b.yaml"), ("a.xlsx", "b.csv"), ("a.csv", "b"), ("a", "b.csv")]
)
def test_a_pair_that_is_not_supported_is_one_error(shell, source, target):
    (shell.folder / source).write_bytes(EXCEL)

    refused = shell("dataset", "convert", source, target)

    assert 2 == refused.code
    assert refused.stderr == (
        f"error: cannot convert '{source}' to '{target}'\n\n"
        "hint: datasets are `.jsonl`, `.json` and `.csv` files\n"
    )
    assert [source] == list(shell.files())


def test_a_bad_dataset_is_told_and_not_converted(shell):
    shell.write("bad.csv", 'name,prompt\na,\nb,"x"y\n')

    refused = shell("dataset", "convert", "bad.csv", "tasks.jsonl")

    assert (2, "") == (refused.code, refused.stdout)
    assert "bad.csv:2: prompt (a): missing `prompt`" in refused.stderr
    assert "bad.csv:3: invalid CSV on line 3" in refused.stderr
    assert ["bad.csv"] == list(shell.files())


def test_csv_is_validated(shell):
    (shell.folder / "excel.csv").write_bytes(EXCEL)
    shell.write("bad.csv", "name;promt\na;b\n")

    checked = shell("dataset", "validate", "--json", "excel.csv", "bad.csv")

    good, bad = checked.json["files"]
    assert (2, True, 2, []) == (checked.code, good["ok"], good["tasks"], good["problems"])
    assert "did you mean `prompt`?" in {problem["hint"] for problem in bad["problems"]}


@pytest.mark.parametrize("flags", [(), ("--dataset", "excel.csv")], ids=["config", "flag"])
def test_csv_is_run(shell, fake_openai, flags):
    shell.write_suite()
    (shell.folder / "excel.csv").write_bytes(EXCEL)
    if not flags:
        config = shell.read("eval.yaml").replace("./tasks.jsonl", "./excel.csv")
        shell.write("eval.yaml", config)
    server = fake_openai(lambda request: '{"reason": "r", "score": 1}')

    done = shell("eval", "run", "--json", *flags, **connect(server))

    assert (0, 2) == (done.code, done.json["tasks"]["passed"])
    assert any('Say "hi"\r\nin two lines' == call.user for call in server.calls)


DOCUMENT = {
    "schemaVersion": "1.6.0",
    "metadata": {"name": "n"},
    "default_evaluators": {"Relevance": {"threshold": 4}},
    "items": [
        {"prompt": "p", "expected_response": "e", "testId": "T-1", "notes": "n"},
        {
            "name": "flow",
            "turns": [{"prompt": "a"}, {"prompt": "b", "evaluators_mode": "replace"}],
        },
    ],
}


def test_a_document_becomes_jsonl_and_what_is_left_behind_is_listed(shell):
    shell.write("evals.json", json.dumps(DOCUMENT))

    told = shell("dataset", "convert", "evals.json", "tasks.jsonl")
    listed = shell("dataset", "convert", "--json", "evals.json", "tasks.csv").json

    one, other = (json.loads(line) for line in shell.read("tasks.jsonl").splitlines())
    assert one == {
        "name": "T-1",
        "prompt": "p",
        "groundTruth": "e",
        "evaluators": {"Relevance": {"threshold": 4}},
        "testId": "T-1",
        "carried": {"notes": "n"},
    }
    assert other["turns"] == [
        {"prompt": "a", "evaluators": {"Relevance": {"threshold": 4}}},
        {"prompt": "b", "evaluators_mode": "replace"},
    ]
    assert "left behind: metadata is said of the document as a whole" in told.stdout
    assert ["metadata"] == [each["field"] for each in listed["lost"]]


def test_strict_writes_nothing_that_the_official_schema_refuses(shell):
    turns = [{"prompt": "p", "expected_response": "e"}] * 21
    shell.write("evals.json", json.dumps({"schemaVersion": "1.6.0", "items": [{"turns": turns}]}))

    refused = shell("dataset", "convert", "--strict", "evals.json", "strict.json")

    assert 2 == refused.code
    assert "evals.json: items[0].turns: expected at most 20 entries, got 21" in refused.stderr
    assert ["evals.json"] == list(shell.files())


def test_a_thread_of_one_turn_stays_a_thread(shell):
    thread = {
        "name": "flow",
        "evaluators": {"Similarity": {}},
        "turns": [{"prompt": "p", "expected_response": "e"}],
    }
    shell.write("evals.json", json.dumps({"schemaVersion": "1.6.0", "items": [thread]}))

    there = shell("dataset", "convert", "evals.json", "tasks.jsonl")
    back = shell("dataset", "convert", "tasks.jsonl", "back.json")

    assert (0, 0) == (there.code, back.code)
    (item,) = json.loads(shell.read("back.json"))["items"]
    assert ["p"] == [turn["prompt"] for turn in item["turns"]]


@pytest.mark.parametrize("target", ["out.jsonl", "out.csv", "out.json"])
@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("tasks.jsonl", '{"name": "a", "prompt": "p", "priority": 1}\n'),
        ("tasks.csv", "name,prompt,priority\na,p,1\n"),
    ],
)
def test_what_is_no_field_of_a_task_is_listed_as_left_behind(shell, source, text, target):
    shell.write(source, text)

    done = shell("dataset", "convert", "--json", source, target)

    assert [{"field": "priority", "message": "is no field of a task"}] == done.json["lost"]


def test_a_document_of_no_version_is_converted_to_one_that_states_it(shell):
    shell.write("old.json", '[{"prompt": "p", "expected_response": "e", "category": "k"}]')

    done = shell("dataset", "convert", "old.json", "new.json")
    strict = shell("dataset", "convert", "--strict", "old.json", "strict.json")

    item = {"prompt": "p", "expected_response": "e"}
    assert (0, 0) == (done.code, strict.code)
    assert json.loads(shell.read("new.json")) == {
        "schemaVersion": "1.0.0",
        "items": [{**item, "category": "k"}],
    }
    assert json.loads(shell.read("strict.json"))["items"] == [
        {**item, "extensions": {"category": "k"}}
    ]
    assert 0 == shell("dataset", "validate", "--strict", "strict.json").code
    assert 2 == shell("dataset", "validate", "--strict", "new.json").code


def test_a_blank_prompt_stays_in_its_document(shell):
    shell.write("evals.json", '{"schemaVersion": "1.6.0", "items": [{"prompt": " "}]}')

    refused = shell("dataset", "convert", "evals.json", "tasks.jsonl")

    assert 2 == refused.code
    assert "has a blank prompt" in refused.stderr
    assert ["evals.json"] == list(shell.files())
