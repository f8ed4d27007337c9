"""Any input gives a result or a refusal; a megabyte of any kind does so in time and memory."""

import json
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from azd_eval.domain.criterion import Criterion
from azd_eval.errors import InputError
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.evaluators.verdict_reader import single_reader
from azd_eval.formats.datasets import open_dataset
from azd_eval.formats.eval_yaml import load_eval_yaml
from azd_eval.formats.evaluator_files import read_evaluator
from azd_eval.formats.task_rules import TaskRules
from azd_eval.structured import read_reply
from tests.fuzz.targets import TARGETS

SECONDS = 2.0
"""Twice what is promised: machines differ."""
LISTED_BYTES = 5_000_000
"""What a small file may take: ten thousand problems listed, a thousand criteria in a cell."""
YAML_BYTES = 20_000_000
"""PyYAML takes a thousand times its text, up to the most values that are read."""


@pytest.mark.parametrize("name", TARGETS)
def test_what_a_target_begins_with_is_withstood(name: str) -> None:
    for seed in TARGETS[name].seeds:
        TARGETS[name].check(seed.encode())


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=60)
@given(data=st.data())
def test_any_input_is_withstood(name: str, data: st.DataObject) -> None:
    target = TARGETS[name]
    seed = data.draw(st.sampled_from(target.seeds)).encode()
    words = st.sampled_from([word.encode() for word in target.words.split(" ")])
    pieces = data.draw(st.lists(words | st.binary(max_size=4), max_size=12))
    joint = data.draw(st.sampled_from([b"", b" ", b"\n", b", "]))
    start, end = sorted(data.draw(st.tuples(*2 * [st.integers(0, len(seed))])))

    target.check(seed[:start] + joint.join(pieces) + seed[end:])


def read_dataset(path: Path) -> None:
    open_dataset(path, TaskRules(find_pattern_fault=pattern_fault)).inspect()


def read_rubric_file(path: Path) -> None:
    read_evaluator(path, pattern_fault)


def read_answer(path: Path) -> None:
    read_reply(path.read_text("utf-8"), single_reader(Criterion("a", "A?"), graded=False))


READERS: dict[str, Callable[[Path], object]] = {
    "tasks.jsonl": read_dataset,
    "tasks.csv": read_dataset,
    "eval.yaml": load_eval_yaml,
    "rubric.yaml": read_rubric_file,
    "rubric.json": read_rubric_file,
    "answer.txt": read_answer,
    "trials.jsonl": lambda path: TARGETS["run"].check(path.read_bytes()),
    "server.txt": lambda path: TARGETS["server"].check(b"1\n" + path.read_bytes()),
}


def make_inputs(size: int) -> dict[tuple[str, str], str]:
    """Make a text of about `size` characters of each kind, by file and kind."""

    def fill(part: str, begin: str = "", end: str = "") -> str:
        return begin + (size - len(begin) - len(end)) // len(part) * part + end

    def count(part: str) -> list[str]:
        return [part.format(number) for number in range(size // len(part) - 1)]

    doubled = [f"a{n}: &a{n} [*a{n - 1},*a{n - 1}]\n" for n in range(1, 99)]
    return {
        ("tasks.jsonl", "unknown keys"): "{" + ",".join(count('"key_{}":1')) + "}",
        ("tasks.jsonl", "one key many times"): fill('"a":1,', "{", '"a":1}'),
        ("tasks.jsonl", "no numbers"): fill("NaN,", '{"metadata":[', "1]}"),
        ("tasks.jsonl", "empty criteria"): fill("{},", '{"criteria":[', "{}]}"),
        ("tasks.jsonl", "bad turns"): fill('{"x":1},', '{"turns":[', "{}]}"),
        ("tasks.jsonl", "deep and wide"): fill("[],", '{"a":' + 900 * "[", "1" + 900 * "]" + "}"),
        ("tasks.jsonl", "no end of lists"): fill("["),
        ("tasks.jsonl", "no end of objects"): fill('{"a":'),
        ("tasks.jsonl", "an open text"): fill("x", '{"prompt":"'),
        ("tasks.jsonl", "half pairs"): fill("\\ud83d", '{"prompt":"', '"}'),
        ("tasks.jsonl", "a long number"): fill("9", '{"prompt":', "}"),
        ("tasks.jsonl", "a long pattern"): fill("(a|", '{"criteria":[{"check":{"regex":"', '"}}]}'),
        ("tasks.jsonl", "a list"): fill("1,", "[", "1]"),
        ("tasks.csv", "delimiters"): fill(",", "name,prompt\n"),
        ("tasks.csv", "columns"): ",".join(count("column {}")),
        ("tasks.csv", "an open cell"): fill("x\n", 'prompt\n"'),
        ("tasks.csv", "quotes"): fill('"', "prompt\n"),
        ("tasks.csv", "bad records"): fill('"a"b,c,d\n', "prompt\n"),
        ("tasks.csv", "criteria"): fill("c\n", 'prompt,criteria\np,"', '"'),
        ("tasks.csv", "line ends"): fill("\r\n"),
        ("eval.yaml", "brackets"): fill("["),
        ("eval.yaml", "values"): fill("a,", "[", "]"),
        ("eval.yaml", "keys"): "".join(count("key_{}: v\n")),
        ("eval.yaml", "aliases"): "a0: &a0 [x,x]\n" + "".join(doubled),
        ("eval.yaml", "text"): fill("word ", "agent: "),
        ("eval.yaml", "dashes"): fill("- "),
        ("eval.yaml", "variables"): fill("'${A}',", "evaluators: [", "x]"),
        ("rubric.yaml", "dimensions"): fill("- {}\n", "name: r\ndimensions:\n"),
        ("rubric.json", "dimensions"): fill("{},", '{"dimensions":[', "{}]}"),
        ("rubric.json", "lines"): fill("\n", "[", '{"id":1}]'),
        ("answer.txt", "brackets"): fill("[x"),
        ("answer.txt", "nested brackets"): fill(900 * "[" + "x"),
        ("answer.txt", "lists without end"): fill("[1,"),
        ("answer.txt", "thoughts"): fill("<think>"),
        ("answer.txt", "ends of thoughts"): fill("</think>"),
        ("answer.txt", "empty objects"): fill("{}"),
        ("answer.txt", "verdicts"): fill('{"number":1,"score":1},', '{"verdicts":[', "{}]}"),
        ("answer.txt", "space"): fill(" ", "{", "}"),
        ("trials.jsonl", "no end of lists"): fill("["),
        ("trials.jsonl", "turns"): fill("{},", '{"turns":[', "{}]}"),
        ("server.txt", "tags"): fill("<"),
        ("server.txt", "an open text"): fill("x", '{"error":"'),
        ("server.txt", "parts"): fill("{},", '{"choices":[{"message":{"content":[', "{}]}}]}"),
    }


LARGE = make_inputs(1_000_000)
SMALLER = make_inputs(100_000)


@pytest.mark.parametrize(("name", "kind"), LARGE)
def test_a_megabyte_of_one_kind_takes_little_time(name: str, kind: str) -> None:
    # A file of YAML that large is refused at once: the largest that is read takes longest.
    size = 499_000 if name.endswith("yaml") else None
    path = write(name, LARGE[name, kind][:size])

    start = time.process_time()
    with suppress(InputError, ValueError):
        READERS[name](path)

    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(("name", "kind"), [key for key in SMALLER if key[0][-4:] != "yaml"])
def test_reading_takes_ten_times_the_input_beside_what_the_parser_takes(
    name: str, kind: str
) -> None:
    path = write(name, text := SMALLER[name, kind])
    parsed = measure_peak(lambda: json.loads(text, object_pairs_hook=dict))
    listed = LISTED_BYTES if name == "tasks.csv" else 0

    assert measure_peak(lambda: READERS[name](path)) < parsed + 10 * len(text) + listed


def test_aliases_of_aliases_take_little_memory() -> None:
    path = write("eval.yaml", SMALLER["eval.yaml", "aliases"])

    assert measure_peak(lambda: load_eval_yaml(path)) < YAML_BYTES


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def measure_peak(read: Callable[[], object]) -> int:
    tracemalloc.start()
    with suppress(InputError, ValueError, RecursionError):
        read()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak
