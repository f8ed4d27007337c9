"""Datasets as spreadsheets, editors and other programs leave them (cases 001 to 018)."""

import json
import re

import pytest

from azd_eval.errors import FilesRefused, InputError
from tests.reliability.projects import WITH_EXPECTED, make_row, write_rows

BOM = "\ufeff"
METADATA = "model: m\ninstruction_file: instructions.md\n"
FILES = {
    "dataset": "tasks.jsonl",
    "config": "eval.yaml",
    "rubric": "quality.yaml",
    "instructions": "instructions.md",
    "metadata": "metadata.yaml",
    "variables": ".env",
}


@pytest.mark.parametrize("kind", FILES)
def test_case_001_a_byte_order_mark_changes_nothing(project, kind):
    project.write_suite(
        agent="{name: a, config: metadata.yaml}",
        evaluators="[builtin.task_adherence, ./quality.yaml]",
        options="{eval_model: m}",
    )
    project.write("metadata.yaml", METADATA)
    server = project.serve()
    project.monkeypatch.delenv("OPENAI_API_KEY")
    project.write(".env", "OPENAI_API_KEY=sk-of-the-file\n")

    def asked():
        server.calls.clear()
        assert 1.0 == project.evaluate(cache=False).score
        return sorted(
            (json.dumps(call.body), call.headers["authorization"]) for call in server.calls
        )

    plain = asked()
    project.write(FILES[kind], BOM + project.read(FILES[kind]))

    assert plain == asked()


@pytest.mark.parametrize("separator", "\u2028 \u2029 \x85 \x0b \x0c \x1c \x1d \x1e".split(" "))
def test_case_003_only_a_line_feed_ends_a_line(project, separator):
    text = f"first{separator}second"
    criterion = {"name": "right", "instruction": text}
    project.write_suite(tasks=write_rows([make_row("t", text, criterion)]))
    project.write("instructions.md", text)
    server = project.serve(
        lambda request: (
            request.system or "" if request.schema_name is None else {"score": 1, "reason": text}
        )
    )

    run = project.evaluate()

    agent, judge = server.calls
    assert (text, text) == (agent.system, agent.user)
    assert text in judge.user
    (trial,) = project.trials(run.run_dir).values()
    turn = trial["turns"][0]
    assert [text, text, text] == [
        turn["prompt"],
        turn["reply"],
        turn["scores"][0]["verdicts"][0]["reason"],
    ]


GOOD = make_row("good")
FAULTY = {
    "005-cut off": [GOOD, "", "   ", '{"name": }'],
    "007-quotes inside": [GOOD, '{"name":"b","prompt":"Say "hi".","criteria":[]}'],
    "007-trailing comma": [GOOD, '{"name":"b","prompt":"p","criteria":[],}'],
    "007-typographic quotes": [GOOD, "{“name”:“b”}"],
    "009-a name twice": [GOOD, make_row("good", "Other?")],
    "011-text": [GOOD, '"hello"'],
    "011-a list": [GOOD, "[1,2]"],
    "011-null": [GOOD, "null"],
    "011-a number": [GOOD, "3"],
    "014-half a character": [GOOD, '{"name":"s","prompt":"smile \\ud83d","criteria":[]}'],
    "016-no criteria": [GOOD, {"name": "b", "prompt": "p"}],
    "018-two spellings": [GOOD, make_row("b", "p") | {"query": "q"}],
    "036-a key twice": [GOOD, '{"name":"b","prompt":"p","criteria":[],"criteria":[]}'],
}


@pytest.mark.parametrize("work", ["evaluate", "optimize"])
@pytest.mark.parametrize("fault", FAULTY)
def test_case_007_nothing_is_sent_while_a_row_is_at_fault(project, fault, work):
    bad = FAULTY[fault]
    project.write_suite(tasks=write_rows([*bad, "{", GOOD | {"name": "last"}]))
    server = project.serve()

    with pytest.raises(FilesRefused) as refused:
        getattr(project, work)()

    lines = {problem.line for problem in refused.value.problems}
    assert {len(bad), len(bad) + 1} <= lines
    assert all(problem.path.endswith("tasks.jsonl") for problem in refused.value.problems)
    assert [] == server.calls


PLACES = {
    "005": (["", "   ", "\t", make_row("b"), '{"name": }'], 6, r"6:10: .*invalid JSON on line 6"),
    "005-at the end": ([*[""] * 9, '{"name": "b"'], 11, "invalid JSON on line 11"),
    "007": (['{"name":"b","prompt":"Say "hi".","criteria":[]}'], 2, r"2:28: .*invalid JSON"),
    "009": (["", make_row("good", "Other?")], 3, "good.* line 1"),
    "011-text": (['"hello"'], 2, "expected an object, got (text|string)"),
    "011-list": (["[1,2]"], 2, "expected an object, got list"),
    "011-null": (["null"], 2, "expected an object, got null"),
    "011-number": (["3"], 2, "expected an object, got (a )?number"),
    "014": (['{"name":"s","prompt":"smile \\ud83d","criteria":[]}'], 2, "prompt .*half"),
    "018-a near miss": ([{"name": "b", "promt": "p"}], 2, 'unknown key "promt"'),
    "018-both": ([make_row("b", "p") | {"query": "q"}], 2, "prompt.*query|query.*prompt"),
    "036": (['{"name":"b","prompt":"p","prompt":"q","criteria":[]}'], 2, "twice"),
}


@pytest.mark.parametrize(("rows", "line", "said"), PLACES.values(), ids=PLACES)
def test_case_005_a_fault_has_its_physical_line_and_says_what_it_is(project, rows, line, said):
    project.write("tasks.jsonl", write_rows([GOOD, *rows]).removesuffix("\n"))

    told = project("dataset", "validate", "tasks.jsonl")

    assert 2 == told.code, told.output
    found = [one for one in told.output.splitlines() if f"tasks.jsonl:{line}:" in one]
    assert re.search(said, " ".join(found), re.IGNORECASE), told.output
    assert "Traceback" not in told.output


EXCEL = {
    "as reported": 'name;prompt;criterion\r\nt1;"Say ""hi""\r\nin two lines";polite\r\n',
    "commas": 'name,prompt,criterion\r\nt1,"Say ""hi""\r\nin two lines",polite\r\n',
    "tabs": 'name\tprompt\tcriterion\r\nt1\t"Say ""hi""\r\nin two lines"\tpolite\r\n',
    "a line that says it": (
        'sep=;\r\nname;prompt;criterion\r\nt1;"Say ""hi""\r\nin two lines";polite'
    ),
    "empty columns": (
        'Name;Prompt;Criterion;;\r\nt1;"Say ""hi""\r\nin two lines";polite;;\r\n;;;;\r\n'
    ),
}


@pytest.mark.parametrize("mark", ["", BOM])
@pytest.mark.parametrize("text", EXCEL.values(), ids=EXCEL)
def test_case_020_a_table_of_excel_is_a_dataset(project, text, mark):
    project.write_suite()
    (project.folder / "tasks.csv").write_bytes((mark + text).encode())
    project.write("eval.yaml", project.read("eval.yaml").replace("tasks.jsonl", "tasks.csv"))
    server = project.serve()

    run = project.evaluate()

    agent, judge = server.calls
    assert 1 == run.tasks.passed
    assert agent.user in ('Say "hi"\nin two lines', 'Say "hi"\r\nin two lines')
    assert ":\npolite\n" in judge.user


@pytest.mark.parametrize("name", ["tasks.jsonl", "tasks.txt"])
def test_case_020_a_table_that_is_named_otherwise_is_told_in_one_sentence(project, name):
    project.write_suite()
    project.write(name, EXCEL["as reported"])
    project.write("eval.yaml", project.read("eval.yaml").replace("tasks.jsonl", name))
    server = project.serve()

    done = project.run(server, "eval", "run")

    assert (2, []) == (done.code, server.calls)
    assert (
        f"error: {project.folder / name}:1:1: invalid JSON on line 1: it begins a table\n\n"
        "hint: name CSV files `.csv`\n"
    ) == done.stderr


def test_case_014_half_a_character_from_models_and_agents_stops_nothing(project):
    half = "smile \ud83d"
    project.write_suite()

    def respond(request):
        if request.schema_name is None:
            return half if "car" in request.user else "Good day."
        return {"reason": half, "score": 1}

    project.serve(respond)

    run = project.evaluate()

    assert (3, 0) == (run.tasks.passed, run.tasks.errored)
    assert "smile" in project.trials(run.run_dir)["out_of_scope"]["turns"][0]["reply"]
    written = [data for name, data in project.files().items() if "/runs/" in name]
    assert all(isinstance(data.decode("utf-8"), str) for data in written)


@pytest.mark.parametrize("half", ["\ud83d", "\ude00 x", "x\udcffy"])
def test_case_014_half_a_character_from_a_python_agent_stops_nothing(project, half):
    project.write_suite(agent="{name: a, callable: agent.py:respond}")
    project.write("agent.py", f"def respond(prompt):\n    return {half!a}\n")
    server = project.serve()

    run = project.evaluate()

    assert (3, 6) == (run.tasks.passed, len(server.calls))


EMPTY = {"no bytes": "", "a mark": BOM, "blank lines": "\n  \r\n\t\n"}


@pytest.mark.parametrize("text", EMPTY.values(), ids=EMPTY)
@pytest.mark.parametrize(
    "command",
    [
        "eval run",
        "eval run --dry-run --no-gate",
        "optimize",
        "eval init --dataset tasks.jsonl --force -m m",
    ],
)
def test_case_016_an_empty_dataset_is_no_pass(project, text, command):
    project.write_suite(tasks=text)
    server = project.serve()

    result = project.run(server, *command.split())

    assert 2 == result.code, result.output
    assert f"{project.folder / 'tasks.jsonl'}: the dataset is empty" in result.stderr
    assert [] == server.calls


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"task": "refund-policy"}, "--task refund-policy"),
        ({"task": "Refund*"}, "--task Refund*"),
        ({"category": "returns"}, "--category returns"),
        ({"task": "refund_policy", "category": "x"}, "--category x"),
        ({"task": ""}, "--task"),
    ],
)
def test_case_016_a_filter_that_takes_nothing_is_no_pass(project, wanted, said):
    project.write_suite()
    server = project.serve()

    with pytest.raises(InputError) as refused:
        project.evaluate(**wanted)

    assert said in refused.value.message
    assert refused.value.hint
    assert [] == server.calls


def test_case_016_a_run_that_decides_nothing_is_no_pass(project):
    rubric = "type: rubric\nname: quality\ndimensions: [{id: d, description: Is it so}]\n"
    project.write_suite(evaluators="[./quality.yaml]")
    project.write("quality.yaml", rubric)
    server = project.serve(lambda request: {"reason": "does not apply", "score": None})

    result = project.run(server, "eval", "run", "--json")

    assert 3 == result.code, result.output
    assert ["nothing was scored"] == result.json["gate"]["reasons"]
    assert 3 == result.json["tasks"]["skipped"]


@pytest.mark.parametrize("spelling", ["query", "prompt"])
@pytest.mark.parametrize("expected", ["ground_truth", "groundTruth"])
def test_case_018_both_spellings_reach_agent_and_judge(project, spelling, expected):
    row = make_row() | {expected: "30 days"}
    row[spelling] = row.pop("prompt")
    project.write_suite(
        tasks=write_rows([row]),
        evaluators=WITH_EXPECTED,
    )
    server = project.serve()

    project.evaluate()

    agent, judge = server.calls
    assert "How?" == agent.user
    assert '"expected_answer": "30 days"' in judge.user
