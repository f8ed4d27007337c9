import csv
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.criterion import Check, Criterion
from azd_eval.domain.inspection import Inspection
from azd_eval.domain.task import Task, Turn
from azd_eval.errors import FilesRefused, InputError, Problem
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.formats.csv_tasks import CsvDataset, write_csv
from azd_eval.formats.datasets import open_dataset
from azd_eval.formats.task_rules import TaskRules
from tests.factories import make_criteria, make_task
from tests.formats.strategies import datasets

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT.parent / "shared" / "samples" / "real"
ANY = TaskRules(find_pattern_fault=pattern_fault)
STRICT = TaskRules(strict=True)
HEADER = "name,prompt,criteria\n"
GOOD = HEADER + "good,hi,c: i\n"


def write(content: str | bytes) -> Path:
    path = Path.cwd() / "tasks.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(content: str | bytes) -> list[Task]:
    dataset = CsvDataset(write(content))
    assert dataset.inspect().is_good
    return list(dataset)


def inspect(content: str | bytes, rules: TaskRules = ANY) -> Inspection:
    return CsvDataset(write(content), rules).inspect()


def only_problem(content: str | bytes, rules: TaskRules = ANY) -> Problem:
    (problem,) = inspect(content, rules).problems
    return problem


def criteria_of(cell: str) -> list[tuple[str, str]]:
    quoted = cell.replace('"', '""')
    (task,) = read(f'{HEADER}t,p,"{quoted}"\n')
    return [(each.name, each.instruction) for each in task.turns[0].criteria]


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b""], ids=["mark", "no mark"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"], ids=repr)
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"], ids=repr)
def test_a_file_of_a_spreadsheet_is_read(mark: bytes, delimiter: str, end: str) -> None:
    records = ["name;prompt;criterion", 't1;"Say ""hi"", | ; \t\nin two lines";polite', ""]
    content = end.join(records).replace(";", delimiter)

    (task,) = read(mark + content.encode())

    prompt = 'Say "hi", | ; \t\nin two lines'.replace(";", delimiter)
    assert Task("t1", (Turn(prompt, (Criterion("polite", "polite"),)),)) == task


def test_a_line_break_in_a_cell_is_kept_as_it_is() -> None:
    tasks = read(HEADER + 'a,"1\r\n2",\nb,"1\r2\u20283\x854",\n')

    assert ["1\r\n2", "1\r2\u20283\x854"] == [task.turns[0].prompt for task in tasks]


def test_every_column_says_what_the_field_of_its_name_does() -> None:
    content = (
        "name,prompt,groundTruth,category,context,metadata,criteria\n"
        'a,p,Paris,facts,Be brief.,"{""id"": 7}",c: i\n'
    )

    (task,) = read(content)

    turn = Turn("p", (Criterion("c", "i"),), "Paris")
    assert Task("a", (turn,), "facts", "Be brief.", {"id": 7}) == task


@pytest.mark.parametrize(
    "header",
    ["name,prompt,ground_truth", "Name,PROMPT,Ground Truth", " name , query ,ground-truth"],
)
def test_headers_may_be_written_in_any_case(header: str) -> None:
    assert [Task("a", (Turn("b", (), "c"),))] == read(f"{header}\na,b,c\n")


def test_columns_may_stand_in_any_order() -> None:
    assert read("name,prompt,category\na,b,c\n") == read("category,prompt,name\nc,b,a\n")


@pytest.mark.parametrize(
    ("cell", "criteria"),
    [
        ("", []),
        ("  \n ", []),
        ("polite", [("polite", "polite")]),
        ("tone: Reply is kind", [("tone", "Reply is kind")]),
        ("a: x\n\n  b.1-c:  y  \r\nd: z", [("a", "x"), ("b.1-c", "y"), ("d", "z")]),
        ("Names the city: Paris", [("names_the_city_paris", "Names the city: Paris")]),
        ("https://example.org", [("https_example_org", "https://example.org")]),
        ("Cites 10:30", [("cites_10_30", "Cites 10:30")]),
        ("[sic] is kept", [("sic_is_kept", "[sic] is kept")]),
        ("[]", []),
        ('[{"name": "a", "instruction": "x\\ny"}]', [("a", "x\ny")]),
        ('{"name": "a", "instruction": "x"}', [("a", "x")]),
    ],
)
def test_a_cell_holds_criteria(cell: str, criteria: list[tuple[str, str]]) -> None:
    assert criteria == criteria_of(cell)


def test_the_name_of_a_criterion_is_made_from_its_words_alone() -> None:
    long = "Response must mention the 30-day refund window and name who pays for the parcel back"
    (one, _), (other, _), (mark, _) = criteria_of(f"{long}\n{long}!\n!")

    assert one[:60] == other[:60] == "response_must_mention_the_30_day_refund_window_and_name_who_"
    assert 3 == len({one, other, mark})
    assert [mark, one] == [name for name, _ in criteria_of(f"!\n{long}")]


def test_criteria_may_stand_in_several_columns() -> None:
    content = 'prompt,criterion,Criterion 2,criterion_10,criteria\np,a,,b,"c\nd"\n'

    (task,) = read(content)

    assert ["a", "b", "c", "d"] == [each.name for each in task.turns[0].criteria]


def test_a_criterion_as_json_says_all_that_one_can() -> None:
    row = {"name": "a", "instruction": "i", "weight": 2, "must": True, "check": {"equals": "x"}}
    cell = json.dumps([row]).replace('"', '""')

    (task,) = read(f'prompt,criteria\np,"{cell}"\n')

    assert (Criterion("a", "i", 2.0, True, Check("equals", "x")),) == task.turns[0].criteria


@pytest.mark.parametrize("content", [b"", b"\r\n \n", b"\xef\xbb\xbf", HEADER.encode(), b"sep=;\n"])
def test_an_empty_dataset_is_refused(content: bytes) -> None:
    problem = only_problem(content)

    assert ("error", "the dataset is empty") == (problem.severity, problem.message)


@pytest.mark.parametrize("named", ['"', " ", "a", "\\", ";;", ""])
def test_a_delimiter_that_is_none_is_a_header_like_any_other(named: str) -> None:
    errors = [each for each in inspect(f"sep={named}\nprompt\np\n").problems if each.line == 1]

    assert "missing column `prompt`" in {problem.message for problem in errors}


def test_blank_records_and_the_line_that_names_the_delimiter_are_passed_over() -> None:
    dataset = CsvDataset(write('\nsep=|\nname|prompt|\n||\n  \na|"1,2;3;4"||\n\nb|c\n|||\n'))

    assert [(6, "a"), (8, "b")] == [(line, task.name) for line, task in dataset.numbered()]


def test_problems_stand_on_the_physical_line_where_their_record_begins() -> None:
    content = (
        '"na\nme",prompt,criteria\na,"1\n2\n3",c: i\n\nb,"\n",c: i\nc,"p\n",\nd,p,"c: i\nc: j"\n'
    )

    problems = inspect(content).problems

    assert [
        (7, "b", "prompt", "error"),
        (9, "c", "criteria", "warning"),
        (11, "d", "criteria[1].name", "error"),
    ] == [(each.line, each.item, each.field, each.severity) for each in problems]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('a,"Say "hi"",c', "a cell goes on after its closing quotation mark"),
        ('a,"open', "a cell is not closed"),
        ('a,"open\nb,p,c\n', "a cell is not closed"),
        (f'a,"{"x" * 200_000}"', "a cell is not closed, or longer than 131072 characters"),
    ],
    ids=["quotes that are not doubled", "no end", "no end for lines", "too long"],
)
def test_a_cell_that_is_none_is_told(record: str, message: str) -> None:
    problem = only_problem(GOOD + record)

    assert (3, f"invalid CSV on line 3: {message}") == (problem.line, problem.message)
    assert problem.hint is not None
    assert '`""`' in problem.hint


def test_all_faulty_records_are_told_at_once() -> None:
    content = HEADER + 'a,"x"y,c\nb,p,c,d,\nc,,c\nd,p,"[{]"\ne,p,c\n'

    inspection = inspect(content)

    assert [2, 3, 4, 5] == [problem.line for problem in inspection.problems]
    assert 1 == inspection.tasks
    with pytest.raises(FilesRefused) as refused:
        list(CsvDataset(write(content), ANY))
    assert 4 == len(refused.value.problems)


def test_more_cells_than_columns_are_refused_and_fewer_are_empty() -> None:
    problem = only_problem(HEADER + "a,Hello, you,polite\nb,p,c,,\n")

    assert "4 cells, but the header has 3" == problem.message
    assert [Task("b", (Turn("p"),))] == read(HEADER + "b,p\n")


@pytest.mark.parametrize(
    ("cell", "field", "message"),
    [
        ('{"a": 1,}', "metadata", "invalid JSON: trailing comma, near `1,}`"),
        ("blue", "metadata", "invalid JSON: expected a value, near `b`"),
        ("[1]", "metadata", "expected an object, got list"),
        ("{}", "turns", "expected a list, got object"),
        ('[{"prompt": 3}]', "turns[0].prompt", "expected text, got number"),
        ('[{"name": "a"}]', "criteria[0].instruction", "missing `instruction`"),
        (
            '[{"name": "a", "instruction": 1}]',
            "criteria[0].instruction",
            "expected text, got number",
        ),
        ('[{"name": "a" "b"}]', "criteria", "invalid JSON: a comma is missing, or a text ends"),
        ('{"name": "a", "name": "b", "instruction": "i"}', "criteria", 'key "name" stands twice'),
    ],
)
def test_a_cell_of_json_is_read_as_strictly_as_a_row(cell: str, field: str, message: str) -> None:
    column = field.partition("[")[0]
    prompt = "" if column == "turns" else "p"
    quoted = cell.replace('"', '""')

    problems = inspect(f'name,prompt,{column}\na,{prompt},"{quoted}"\n').problems

    (problem,) = [problem for problem in problems if problem.severity == "error"]
    assert (field, 2, "a") == (problem.field, problem.line, problem.item)
    assert problem.message.startswith(message)


@pytest.mark.parametrize(
    ("header", "message", "hint"),
    [
        ("promt,name", 'unknown column "promt"', "did you mean `prompt`?"),
        ("name,Question", "missing column `prompt`", "rename `Question` to `prompt`"),
        ("user input,x", "missing column `prompt`", "rename `user input` to `prompt`"),
        ("name,criteria", "missing column `prompt`", "`prompt` is the one that the agent is asked"),
        ("prompt,Prompt", "column `prompt` stands twice", "keep one of them"),
        (
            "prompt,groundTruth,ground_truth",
            "column `groundTruth` stands twice",
            "keep one of them",
        ),
        ('"prompt"x,name', "invalid CSV on line 1: a cell goes on", "write a quotation mark"),
    ],
)
def test_a_wrong_header_is_refused(header: str, message: str, hint: str) -> None:
    errors = [each for each in inspect(f"{header}\na,b,c\n").problems if each.severity == "error"]

    assert all(1 == problem.line for problem in errors)
    assert errors[0].message.startswith(message)
    assert hint in (errors[0].hint or "")


def test_an_unknown_column_is_a_warning_on_the_header() -> None:
    content = "name,prompt,prompt_id,,criteria\n" + "".join(f"{n},p,7,x,c\n" for n in range(9))

    warnings = inspect(content).problems

    assert {('unknown column "prompt_id"', 1, "warning"), ('unknown column ""', 1, "warning")} == {
        (problem.message, problem.line, problem.severity) for problem in warnings
    }
    assert not inspect(content, STRICT).is_good


def test_strict_allows_only_what_the_specification_names() -> None:
    assert inspect("name,prompt,criteria,groundTruth\na,b,c,d\n", STRICT).is_good
    assert not inspect("name,prompt,criteria,category\na,b,c,d\n", STRICT).is_good


@pytest.mark.parametrize(
    ("content", "line"),
    [(HEADER.encode("utf-8") + b"a,caf\xe9,c\n", 2), (b"name,pr\xfcfung\n", 1), (b"\xe9", 1)],
)
def test_an_encoding_of_one_country_is_told_with_its_cure(content: bytes, line: int) -> None:
    problem = only_problem(content)

    assert ("not UTF-8: byte 0x", line) == (problem.message[:18], problem.line)
    assert "`CSV UTF-8 (Comma delimited)`" in (problem.hint or "")


def test_two_tasks_of_one_name_are_refused_with_both_lines() -> None:
    problem = only_problem(HEADER + 'a,"1\n2",c\nb,p,c\na,q,c\n')

    assert 'name "a" stands on line 2 and on line 5' == problem.message


def test_a_missing_file_is_named_with_its_absolute_path() -> None:
    (problem,) = CsvDataset(Path("none.csv")).inspect().problems

    assert f"dataset_file not found: {Path.cwd() / 'none.csv'}" == problem.message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_the_unicode_text_of_a_spreadsheet_is_one_problem(encoding: str) -> None:
    assert "zero bytes, as UTF-16 does" in only_problem(GOOD.encode(encoding)).message


@pytest.mark.parametrize("name", ["tasks.xlsx", "tasks.csv", "tasks.jsonl"])
@pytest.mark.parametrize("start", [b"PK\x03\x04\x14\0", b"\xd0\xcf\x11\xe0\xa1", b"\x1f\x8b\x08\0"])
def test_a_workbook_or_archive_is_told_as_what_it_is(
    tmp_path: Path, name: str, start: bytes
) -> None:
    (tmp_path / name).write_bytes(start + b"more")

    (problem,) = open_dataset(tmp_path / name).inspect().problems

    assert "a workbook of a spreadsheet, or an archive" in problem.message
    assert "CSV UTF-8" in (problem.hint or "")


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="public samples are not beside the repository")
def test_tests_of_promptfoo_are_refused_with_what_to_rename() -> None:
    path = SAMPLES / "promptfoo" / "customer-support-rubric-tests.csv"

    problems = CsvDataset(path).inspect().problems
    renamed = path.read_text("utf-8").replace("customer_message", "prompt", 1)

    assert ["missing column `prompt`"] == [
        problem.message for problem in problems if problem.severity == "error"
    ]
    assert inspect(renamed).tasks > 0


@given(datasets.filter(lambda tasks: "\\x00" not in repr(tasks)))
def test_what_is_written_is_read_back_equal(written: list[Task]) -> None:
    assert written == read(write_csv(written))


def test_a_spreadsheet_gets_a_header_a_byte_order_mark_and_only_the_columns_needed() -> None:
    tasks = [
        make_task("a", ["x"], make_criteria("one", "two")),
        make_task("b", ["y"], category="c"),
    ]

    written = write_csv(tasks)

    assert written.startswith("\ufeffname,prompt,criteria,category\r\n")
    rows = list(csv.DictReader(written[1:].splitlines(keepends=True)))
    assert ["a", "b"] == [row["name"] for row in rows]
    assert "\n" in rows[0]["criteria"]
    assert not rows[0]["criteria"].startswith("[")


@pytest.mark.parametrize(
    "criterion",
    [
        Criterion("a", "i", weight=2),
        Criterion("a", "i", must=True),
        Criterion("a", "i", check=Check("equals", "x")),
        Criterion("a", "one\ntwo"),
        Criterion("a", " i "),
        Criterion("two words", "i"),
        Criterion("[{", "i"),
    ],
    ids=repr,
)
def test_criteria_that_lines_cannot_say_are_written_as_json(criterion: Criterion) -> None:
    task = make_task(criteria=(criterion,))

    written = write_csv([task])

    assert '"[{""name""' in written
    assert [task] == read(written)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (make_task("a", ["x" * 131_073]), "`prompt` of task 'a' is longer than a cell"),
        (make_task("a", ["x"], context="\0"), "`context` of task 'a' holds a zero character"),
    ],
    ids=["long", "zero"],
)
def test_what_no_cell_can_hold_is_refused(task: Task, message: str) -> None:
    with pytest.raises(InputError) as refused:
        write_csv([task])

    assert message in refused.value.message
    assert "keep it in a JSONL dataset" == refused.value.hint


def test_memory_stays_flat() -> None:
    path = write(HEADER)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f't{number},"{"p" * 3_000}",c: i\n' for number in range(3_000))

    tracemalloc.start()
    inspection = CsvDataset(path).inspect()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert Inspection(3_000) == inspection
    assert peak < path.stat().st_size / 10


parts = st.sampled_from([*',;\t|"\r\n{}[]:', '""', "name", "prompt", "criteria", "é", " ", "\0"])


@given(
    st.binary()
    | st.lists(parts, max_size=30).map(lambda parts: "".join(parts).encode())
    | st.lists(parts, max_size=30).map(lambda parts: (GOOD + "".join(parts)).encode())
)
def test_any_bytes_give_problems_and_never_an_exception(content: bytes) -> None:
    dataset = CsvDataset(write(content), ANY)
    inspection = dataset.inspect()

    for problem in inspection.problems:
        str(problem).encode()
    if inspection.is_good:
        assert inspection.tasks == len(list(dataset)) > 0


def test_the_dataset_of_the_manual_is_good() -> None:
    manual = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    ((table, *_),) = [block.split("```", 1) for block in manual.split("```csv\n")[1:]]

    (task,) = read(table)

    assert ["mentions_30_days", "polite_tone"] == [each.name for each in task.turns[0].criteria]
