import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from azd_eval.domain.criterion import Check
from azd_eval.domain.inspection import Inspection
from azd_eval.errors import FilesRefused, Problem
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.formats.jsonl import JsonlDataset
from azd_eval.formats.task_rules import TaskRules

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "tests" / "examples" / "valid").glob("*.jsonl"))
SAMPLES = ROOT.parent / "shared" / "samples" / "real"
GOOD = '{"name": "good", "prompt": "hi", "criteria": [{"name": "c", "instruction": "i"}]}'
STRICT = TaskRules(strict=True)


def write(content: str | bytes, name: str = "tasks.jsonl") -> Path:
    path = Path.cwd() / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def inspect(content: str | bytes, rules: TaskRules = TaskRules()) -> Inspection:  # noqa: B008
    return JsonlDataset(write(content), rules).inspect()


def only_problem(content: str | bytes, rules: TaskRules = TaskRules()) -> Problem:  # noqa: B008
    (problem,) = inspect(content, rules).problems
    return problem


def row(**fields: Any) -> str:
    return json.dumps({**json.loads(GOOD), **fields})


def place(problem: Problem) -> tuple[int | None, int | None, str | None]:
    return problem.line, problem.column, problem.field


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_datasets_of_the_specification_are_good(path: Path) -> None:
    dataset = JsonlDataset(path, STRICT)

    inspection = dataset.inspect()

    assert () == inspection.problems
    assert len(path.read_text(encoding="utf-8").splitlines()) == len(list(dataset))


def test_a_task_holds_what_its_row_says() -> None:
    content = row(
        groundTruth="Paris",
        category="facts",
        context="Be brief.",
        metadata={"id": 7, "tags": [None, 1.5]},
        criteria=[
            {"name": "a", "instruction": "A?", "weight": 2, "must": True},
            {"name": "b", "instruction": "B?", "check": {"contains_any": ["x", "y"]}},
        ],
    )

    (task,) = JsonlDataset(write(content))

    assert ("good", "facts", "Be brief.") == (task.name, task.category, task.context)
    assert {"id": 7, "tags": [None, 1.5]} == task.metadata
    (turn,) = task.turns
    assert ("hi", "Paris") == (turn.prompt, turn.expected)
    assert [(2.0, True), (1.0, False)] == [(each.weight, each.must) for each in turn.criteria]
    assert Check("contains_any", ("x", "y")) == turn.criteria[1].check


def test_criteria_beside_turns_belong_to_the_last_turn() -> None:
    content = json.dumps(
        {
            "name": "talk",
            "turns": [
                {"prompt": "one", "criteria": [{"name": "a", "instruction": "A?"}]},
                {"query": "two", "ground_truth": "2"},
            ],
            "criteria": [{"name": "b", "instruction": "B?"}],
        }
    )

    (task,) = JsonlDataset(write(content))

    assert ["one", "two"] == [turn.prompt for turn in task.turns]
    assert [["a"], ["b"]] == [[each.name for each in turn.criteria] for turn in task.turns]
    assert [None, "2"] == [turn.expected for turn in task.turns]


def test_a_dataset_can_be_walked_twice() -> None:
    dataset = JsonlDataset(write(GOOD))

    assert list(dataset) == list(dataset)


@pytest.mark.parametrize(
    "prefix", [b"\xef\xbb\xbf", b"", b"\xef\xbb\xbf\n\n", b"\n \t\n"], ids=repr
)
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n  \n"], ids=repr)
def test_byte_order_marks_blank_lines_and_line_ends_change_nothing(
    prefix: bytes, end: bytes
) -> None:
    dataset = JsonlDataset(write(prefix + GOOD.encode() + end))

    assert Inspection(1) == dataset.inspect()
    assert ["good"] == [task.name for task in dataset]


def test_a_byte_order_mark_in_the_middle_is_none_of_the_content() -> None:
    second = b"\xef\xbb\xbf" + row(name="second").encode()

    dataset = JsonlDataset(write(GOOD.encode() + b"\n" + second))

    assert ["good", "second"] == [task.name for task in dataset]


@pytest.mark.parametrize(
    "separator", ["\u2028", "\u2029", "\u0085", "\v", "\f", "\x1c", "\r"], ids=ascii
)
def test_only_a_line_feed_ends_a_line(separator: str) -> None:
    raw = separator if separator >= "\x7f" else json.dumps(separator)[1:-1]
    content = GOOD.replace("hi", f"first{raw}second")

    (task,) = JsonlDataset(write(content))

    assert f"first{separator}second" == task.turns[0].prompt


def test_text_reaches_the_task_as_it_is() -> None:
    prompt = "Is 3 < 5 && \"a\" > 'b'? {x | x > 0} {{y}} ${HOME} \u00e9 e\u0301 \U0001f600 \\n"

    (task,) = JsonlDataset(write(row(prompt=prompt)))

    assert prompt == task.turns[0].prompt


def test_lines_are_counted_as_an_editor_counts_them() -> None:
    problem = only_problem(f'{GOOD}\n\n   \n{row(name="other")}\n{{"name": }}')

    assert (5, 10, None) == place(problem)
    assert "invalid JSON on line 5: expected a value, near `: }`" == problem.message


def test_a_row_is_not_echoed_whole() -> None:
    secret = '{"name": "x", "prompt": "my password is 12345" "criteria": []}'

    problem = only_problem(secret)

    assert "password" not in str(problem)


@pytest.mark.parametrize(
    ("content", "kind"),
    [('"hello"', "text"), ("[1, 2]", "list"), ("null", "null"), ("3", "number"), ("true", "true")],
)
def test_a_row_that_is_no_object_is_refused(content: str, kind: str) -> None:
    problem = only_problem(f"{GOOD}\n{content}")

    assert (2, 1, None) == place(problem)
    assert f"expected an object, got {kind}" == problem.message


@pytest.mark.parametrize(
    ("content", "column", "field"),
    [
        (r'{"name": "a", "prompt": "smile \ud83d"}', 25, "prompt"),
        (r'{"name": "a", "prompt": "\ude00 end"}', 25, "prompt"),
        (r'{"name": "a", "prompt": "p", "groundTruth": "\ud83d"}', 45, "groundTruth"),
        (r'{"name": "a", "prompt": "p", "context": "\ud83dx"}', 41, "context"),
        (r'{"name": "a", "prompt": "p", "metadata": {"x": ["\ud83d"]}}', 42, "metadata"),
        (r'{"name": "\ud83d", "prompt": "p"}', 10, "name"),
    ],
)
def test_half_of_a_surrogate_pair_is_found(content: str, column: int, field: str) -> None:
    errors = [each for each in inspect(content).problems if each.severity == "error"]

    assert [(1, column, field)] == [place(problem) for problem in errors]
    assert "surrogate" in errors[0].message


def test_a_whole_surrogate_pair_is_a_character() -> None:
    (task,) = JsonlDataset(write(GOOD.replace("hi", r"\ud83d\ude00")))

    assert "\U0001f600" == task.turns[0].prompt


def test_bytes_that_are_not_utf8_are_found() -> None:
    problem = only_problem(f"{GOOD}\n".encode() + b'{"name": "caf\xe9"}')

    assert (2, 14, None) == place(problem)
    assert "not UTF-8: byte 0xe9" == problem.message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_another_encoding_is_one_problem(encoding: str) -> None:
    problem = only_problem(f"{GOOD}\n{GOOD}\n".encode(encoding))

    assert "UTF-8" in problem.message


def test_keys_that_stand_twice_are_found_at_any_depth_with_all_else_that_is_wrong() -> None:
    content = (
        '{"name":"a","prompt":"p","prompt":"q",'
        '"criteria":[{"name":"a","name":"b","instruction":3}],"metadata":{"k":{"z":1,"z":2}}}'
    )

    problems = inspect(content).problems

    assert [
        (26, "prompt"),
        (63, "criteria[0].name"),
        (88, "criteria[0].instruction"),
        (115, "metadata.k.z"),
    ] == [(problem.column, problem.field) for problem in problems]
    assert 'key "prompt" stands twice in one object' == problems[0].message


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000])
@pytest.mark.parametrize("field", ["metadata", "weight"])
def test_numbers_that_are_none_are_refused(number: str, field: str) -> None:
    inner = {"metadata": f'"metadata": {{"x": {number}}}', "weight": f'"weight": {number}'}[field]
    content = GOOD.replace('"instruction"', f'{inner}, "instruction"')
    if field == "metadata":
        content = GOOD[:-1] + f", {inner}}}"

    problem = only_problem(content)

    assert "error" == problem.severity
    assert content.index(number) + 1 == problem.column


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_endless_nesting_is_refused(bracket: str) -> None:
    problem = only_problem(bracket * 100_000)

    assert "nested" in problem.message


def test_deep_metadata_is_refused_before_it_harms() -> None:
    content = row(metadata=0).replace(": 0}", ': {"a": ' + "[" * 200 + "]" * 200 + "}}")

    assert "nested" in only_problem(content).message


def test_two_tasks_of_one_name_are_refused_with_both_lines() -> None:
    content = "\n".join([GOOD, row(name="other"), "", row(prompt="else"), row(prompt="again")])

    problems = inspect(content).problems

    assert [
        'name "good" stands on line 1 and on line 4',
        'name "good" stands on line 1 and on line 5',
    ] == [problem.message for problem in problems]
    assert [(4, 10, "name"), (5, 10, "name")] == [place(problem) for problem in problems]


def test_a_missing_name_is_made_from_the_content() -> None:
    nameless = '{"prompt": "What is your refund policy?", "groundTruth": "30 days"}'
    reworded = nameless.replace("30", "31")
    dataset = JsonlDataset(write(f"{nameless}\n{reworded}"))

    warning = dataset.inspect().problems[0]
    one, other = (task.name for task in dataset)

    assert ("warning", "missing `name` (and 1 more like this)") == (
        warning.severity,
        warning.message,
    )
    assert one.startswith("what_is_your_refund_")
    assert one != other
    assert [one, other] == [task.name for task in dataset]


def test_equal_rows_without_a_name_are_told_apart_by_nothing() -> None:
    nameless = '{"prompt": "p"}'

    problems = inspect(f"{nameless}\n{nameless}").problems

    assert "stands on line 1 and on line 2" in problems[-1].message


@pytest.mark.parametrize(
    ("content", "field", "message"),
    [
        ('{"name": "a"}', "prompt", "missing `prompt`"),
        ('{"name": "a", "prompt": null}', "prompt", "missing `prompt`"),
        ('{"name": "a", "prompt": ""}', "prompt", "must not be empty"),
        ('{"name": "a", "prompt": " \\t\\n"}', "prompt", "must not be empty"),
        ('{"name": "a", "prompt": 3}', "prompt", "expected text, got number"),
        ('{"name": "a", "prompt": ["p"]}', "prompt", "expected text, got list"),
        ('{"name": 1, "prompt": "p"}', "name", "expected text, got number"),
        ('{"name": "", "prompt": "p"}', "name", "must not be empty"),
        ('{"name": true, "prompt": "p"}', "name", "expected text, got true"),
        (row(groundTruth=42), "groundTruth", "expected text, got number"),
        (row(category=""), "category", "must not be empty"),
        (row(context=[]), "context", "expected text, got list"),
        (row(metadata=[]), "metadata", "expected an object, got list"),
        (row(criteria={}), "criteria", "expected a list, got object"),
        (row(criteria=["c"]), "criteria[0]", "expected an object, got text"),
        (row(turns={}, prompt=None), "turns", "expected a list, got object"),
        (row(turns=[], prompt=None), "turns", "must not be empty"),
        (row(turns=["t"], prompt=None), "turns[0]", "expected an object, got text"),
        (row(turns=[{}], prompt=None), "turns[0].prompt", "missing `prompt`"),
        (row(turns=[{"prompt": "t"}]), "prompt", "`prompt` and `turns` in one task"),
        (
            row(turns=[{"prompt": "t"}], prompt=None, query="q"),
            "query",
            "`query` and `turns` in one task",
        ),
        (
            row(turns=[{"prompt": "t", "groundTruth": "x"}], prompt=None, ground_truth="x"),
            "ground_truth",
            "`ground_truth` is given in the last turn too",
        ),
        (row(query="other"), "query", "`prompt` and `query` are the same field and differ"),
        (
            row(groundTruth="a", ground_truth="b"),
            "ground_truth",
            "`groundTruth` and `ground_truth` are the same field and differ",
        ),
    ],
)
def test_a_wrong_task_is_refused(content: str, field: str, message: str) -> None:
    problems = [each for each in inspect(content).problems if each.severity == "error"]

    assert [(1, field, message)] == [(each.line, each.field, each.message) for each in problems]
    assert all(problem.column for problem in problems)


@pytest.mark.parametrize(
    ("criterion", "field", "message"),
    [
        ({"name": "c"}, ".instruction", "missing `instruction`"),
        ({"instruction": "i"}, ".name", "missing `name`"),
        ({"name": "c", "instruction": ""}, ".instruction", "must not be empty"),
        ({"name": "c", "instruction": ["i"]}, ".instruction", "expected text, got list"),
        ({"name": "", "instruction": "i"}, ".name", "must not be empty"),
        ({"weight": 0}, ".weight", "expected a number above 0, got 0"),
        ({"weight": -1.5}, ".weight", "expected a number above 0, got -1.5"),
        ({"weight": "2"}, ".weight", 'expected a number, got "2"'),
        ({"weight": True}, ".weight", "expected a number, got true"),
        ({"must": "yes"}, ".must", 'expected `true` or `false`, got "yes"'),
        ({"must": 1}, ".must", "expected `true` or `false`, got number"),
        ({"check": "x"}, ".check", "expected an object, got text"),
        ({"check": {}}, ".check", "expected exactly one kind of check, got 0"),
        (
            {"check": {"equals": "x", "regex": "y"}},
            ".check",
            "expected exactly one kind of check, got 2",
        ),
        ({"check": {"contain": "x"}}, ".check.contain", 'unknown key "contain"'),
        ({"check": {"zebra": "x"}}, ".check.zebra", 'unknown key "zebra"'),
        ({"check": {"contains": ["x"]}}, ".check.contains", "expected text, got list"),
        ({"check": {"contains": ""}}, ".check.contains", "must not be empty"),
        ({"check": {"contains_any": "x"}}, ".check.contains_any", "expected a list, got text"),
        ({"check": {"contains_all": []}}, ".check.contains_all", "must not be empty"),
        ({"check": {"contains_all": [3]}}, ".check.contains_all[0]", "expected text, got number"),
        ({"check": {"max_words": "9"}}, ".check.max_words", 'expected a whole number, got "9"'),
        ({"check": {"max_words": 9.5}}, ".check.max_words", "expected a whole number, got 9.5"),
        ({"check": {"max_words": True}}, ".check.max_words", "expected a whole number, got true"),
        (
            {"check": {"min_words": 0}},
            ".check.min_words",
            "expected a number of at least 1, got 0",
        ),
        ({"check": {"is_json": 1}}, ".check.is_json", "expected `true` or `false`, got number"),
        ({"check": {"regex": "("}}, ".check.regex", "invalid pattern: missing ) at position 1"),
        (
            {"check": {"not_regex": "[a"}},
            ".check.not_regex",
            "invalid pattern: unterminated character set at position 2",
        ),
    ],
)
def test_a_wrong_criterion_is_refused(criterion: dict[str, Any], field: str, message: str) -> None:
    whole = criterion if "name" in criterion or "instruction" in criterion else None
    content = row(criteria=[whole or {"name": "c", "instruction": "i", **criterion}])

    problem = only_problem(content, TaskRules(find_pattern_fault=pattern_fault))

    assert (f"criteria[0]{field}", message, "good") == (
        problem.field,
        problem.message,
        problem.item,
    )


def test_a_check_may_stand_as_one_text_or_several_where_both_make_sense() -> None:
    checks = [{"not_contains": "a"}, {"not_contains": ["a", "b"]}]
    criteria = [
        {"name": f"c{number}", "instruction": "i", "check": check}
        for number, check in enumerate(checks)
    ]

    (task,) = JsonlDataset(write(row(criteria=criteria)))

    assert ["a", ("a", "b")] == [
        each.check.value for each in task.turns[0].criteria if each.check is not None
    ]


@pytest.mark.parametrize(
    "turns",
    [
        {"criteria": [{"name": "c", "instruction": "i"}, {"name": "c", "instruction": "j"}]},
        {
            "prompt": None,
            "criteria": [{"name": "c", "instruction": "i"}],
            "turns": [{"prompt": "t", "criteria": [{"name": "c", "instruction": "j"}]}],
        },
    ],
    ids=["in one list", "in the last turn and beside it"],
)
def test_criteria_of_one_turn_have_different_names(turns: dict[str, Any]) -> None:
    problem = only_problem(row(**turns))

    assert 'criterion "c" stands twice in the task' == problem.message


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("promt", "did you mean `prompt`?"),
        ("Prompt", "did you mean `prompt`?"),
        ("ground-truth", "did you mean `groundTruth`?"),
        ("criterias", "did you mean `criteria`?"),
        ("catagory", "did you mean `category`?"),
    ],
)
def test_a_key_that_resembles_a_known_one_is_an_error(key: str, hint: str) -> None:
    content = row(**{key: "x"})

    problem = only_problem(content)

    assert ("error", hint) == (problem.severity, problem.hint)
    assert content.index(f'"{key}"') + 1 == problem.column


def test_another_unknown_key_is_a_warning_told_once() -> None:
    content = "\n".join(row(name=str(number), difficulty=3) for number in range(50))

    inspection = inspect(content)

    assert 50 == inspection.tasks
    (warning,) = inspection.problems
    assert ("warning", 1) == (warning.severity, warning.line)
    assert 'unknown key "difficulty" (and 49 more like this)' == warning.message


def test_an_unknown_key_in_a_criterion_leaves_the_task_usable() -> None:
    criterion = {"name": "c", "instruction": "i", "author": "me"}

    (task,) = JsonlDataset(write(row(criteria=[criterion])))

    assert "c" == task.turns[0].criteria[0].name


def test_other_names_for_the_prompt_are_pointed_at() -> None:
    problems = inspect('{"name": "a", "question": "why?"}').problems

    assert "rename `question` to `prompt`" in {problem.hint for problem in problems}


def test_the_other_spellings_mean_the_same() -> None:
    azd = '{"name": "t1", "query": "What is your refund window?", "ground_truth": "30 days"}'
    ours = azd.replace("query", "prompt").replace("ground_truth", "groundTruth")

    (one,) = JsonlDataset(write(azd, "a.jsonl"))
    (other,) = JsonlDataset(write(ours, "b.jsonl"))

    assert one == other


@pytest.mark.parametrize("criteria", [{}, {"criteria": []}, {"criteria": None}], ids=repr)
@pytest.mark.parametrize(
    ("rules", "severity"),
    [
        (TaskRules(), "warning"),
        (TaskRules(criteria_required=True), "error"),
        (STRICT, "error"),
    ],
)
def test_a_task_that_nothing_scores_is_an_error(
    criteria: dict[str, Any], rules: TaskRules, severity: str
) -> None:
    problem = only_problem(json.dumps({"name": "a", "prompt": "p", **criteria}), rules)

    assert (severity, "missing `criteria`") == (problem.severity, problem.message)


@pytest.mark.parametrize(
    "extra",
    [
        {"category": "x"},
        {"context": "x"},
        {"metadata": {}},
        {"ground_truth": "x"},
        {"query": "hi"},
        {"difficulty": 3},
        {"criteria": [{"name": "c", "instruction": "i", "weight": 2}]},
        {"criteria": [{"name": "c", "instruction": "i", "must": True}]},
        {"criteria": [{"name": "c", "instruction": "i", "check": {"equals": "x"}}]},
        {"name": None},
    ],
    ids=repr,
)
def test_strict_allows_only_what_the_specification_names(extra: dict[str, Any]) -> None:
    content = row(**extra)

    assert inspect(content).is_good
    assert ["error"] == [problem.severity for problem in inspect(content, STRICT).problems]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b"  \r\n\t"], ids=repr)
def test_an_empty_dataset_is_refused(content: bytes) -> None:
    problem = only_problem(content)

    assert ("error", "the dataset is empty") == (problem.severity, problem.message)
    assert problem.path.endswith("tasks.jsonl")


def test_a_missing_file_is_named_with_its_absolute_path() -> None:
    dataset = JsonlDataset(Path("data/none.jsonl"))
    expected = f"dataset_file not found: {Path.cwd() / 'data/none.jsonl'}"

    (problem,) = dataset.inspect().problems

    assert expected == str(problem)
    with pytest.raises(FilesRefused, match="dataset_file not found"):
        list(dataset)


@pytest.mark.parametrize("name", [".", "a\0b"], ids=repr)
def test_a_file_that_cannot_be_read_is_a_problem(name: str) -> None:
    (problem,) = JsonlDataset(Path(name)).inspect().problems

    assert problem.message.startswith("cannot read dataset_file: /")


@pytest.mark.parametrize("document", [[json.loads(GOOD)], json.loads(GOOD)], ids=["list", "object"])
def test_a_document_over_several_lines_is_one_problem(document: object) -> None:
    problem = only_problem(json.dumps(document, indent=2))

    assert problem.message.startswith("invalid JSON on line 1")


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="public samples are not beside the repository")
@pytest.mark.parametrize(
    ("sample", "message", "cure"),
    [
        ("foundry-samples/questions.jsonl", "missing `prompt`", "rename `question` to `prompt`"),
        ("mt-bench/question.jsonl", "expected an object, got text", "its keys are `prompt`"),
        ("ai-agent-evals/dataset.json", "spread over several lines", "one JSON object a line"),
    ],
)
def test_public_datasets_of_other_shapes_are_refused_with_a_cure(
    sample: str, message: str, cure: str
) -> None:
    errors = [
        problem
        for problem in JsonlDataset(SAMPLES / sample).inspect().problems
        if problem.severity == "error"
    ]

    assert all(message in problem.message for problem in errors)
    assert cure in (errors[0].hint or "")


def test_walking_a_bad_file_raises_all_problems() -> None:
    dataset = JsonlDataset(write('{"name": }\n[1]\n' + GOOD))

    with pytest.raises(FilesRefused) as refused:
        list(dataset)

    assert [1, 2] == [problem.line for problem in refused.value.problems]


def test_problems_are_bounded() -> None:
    inspection = inspect("1\n" * 20_000)

    assert 10_001 == len(inspection.problems)
    assert "10000 more problems are not listed" == inspection.problems[-1].message


def test_a_wide_faulty_row_is_told_in_time() -> None:
    criteria = [{"name": f"c{number}", "instruction": 3} for number in range(1000)]

    problems = inspect(row(criteria=criteria)).problems

    assert 101 == len(problems)
    assert "900 more faults are not listed" in {problem.message for problem in problems}
    assert ["expected at most 1000 entries, got 1001"] == [
        problem.message for problem in inspect(row(criteria=[*criteria, {}])).problems
    ]


def test_memory_stays_flat() -> None:
    path = Path.cwd() / "large.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(5_000):
            file.write(row(name=f"task-{number}", prompt="p" * 3_000) + "\n")

    tracemalloc.start()
    inspection = JsonlDataset(path).inspect()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert Inspection(5_000) == inspection
    assert peak < path.stat().st_size / 10


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)
keys = st.sampled_from(
    "name prompt query criteria groundTruth turns instruction weight must check regex x".split()
)
rowlike = st.dictionaries(
    keys,
    json_values | st.lists(st.dictionaries(keys, json_values | st.dictionaries(keys, json_values))),
)


@given(st.binary() | st.lists(st.binary(), max_size=4).map(b"\n".join))
def test_any_bytes_give_problems_and_never_an_exception(content: bytes) -> None:
    assert_told(content)


@settings(max_examples=50)
@given(st.lists(rowlike | json_values, max_size=2))
def test_any_json_gives_problems_and_never_an_exception(rows: list[object]) -> None:
    assert_told("\n".join(map(json.dumps, rows)).encode())


@given(
    st.lists(
        st.sampled_from([*'{}[],:"\\', "\\u", "d83d", "null", "1e9", '"prompt"', "\n", "é", " "]),
        max_size=30,
    )
)
def test_any_near_json_gives_problems_and_never_an_exception(parts: list[str]) -> None:
    assert_told("".join(parts).encode())


def assert_told(content: bytes) -> None:
    dataset = JsonlDataset(write(content), TaskRules(find_pattern_fault=pattern_fault))
    inspection = dataset.inspect()

    for problem in inspection.problems:
        str(problem).encode()
        assert problem.line is None or 1 <= problem.line <= content.count(b"\n") + 1
    if inspection.is_good:
        assert inspection.tasks == len(list(dataset)) > 0
