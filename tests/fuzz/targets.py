"""Every reader of what others write, as a check of bytes; it must withstand any.

A check raises when something is wrong: whatever escapes a reader that is no refusal, a message that
cannot be printed, or a good file that is not read back equal once it is written.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from azd_eval.domain.criterion import Criterion
from azd_eval.domain.task import Task
from azd_eval.errors import InputError
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.evaluators.verdict_reader import batch_reader, single_reader
from azd_eval.formats.csv_tasks import write_csv
from azd_eval.formats.datasets import open_dataset
from azd_eval.formats.eval_yaml import load_eval_yaml
from azd_eval.formats.evaluator_files import read_evaluator, read_rubric, write_rubric
from azd_eval.formats.jsonl import write_tasks
from azd_eval.formats.task_rules import TaskRules
from azd_eval.formats.tasks import read_task_row
from azd_eval.structured import read_reply
from tests.cli.shell import EXAMPLES, ROOT, RUBRIC

T = TypeVar("T")

_RULES = (
    TaskRules(find_pattern_fault=pattern_fault),
    TaskRules(strict=True, criteria_required=True),
)
_CRITERIA = (Criterion("a", "A?"), Criterion("b", "B?", always_applicable=False))
_READERS = (
    *(single_reader(each, graded=graded) for each in _CRITERIA for graded in (False, True)),
    *(batch_reader(_CRITERIA, graded=graded) for graded in (False, True)),
    lambda value: read_task_row(value) if isinstance(value, dict) else None,
    lambda value: read_rubric(value) if isinstance(value, dict) else None,
)


@dataclass(frozen=True, slots=True)
class Target:
    """A check, inputs to begin with, and words that lead to its depths."""

    check: Callable[[bytes], None]
    seeds: tuple[str, ...]
    words: str


def _check_dataset(name: str, content: bytes) -> None:
    path = _write(name, content)
    for rules in _RULES:
        source = open_dataset(path, rules)
        inspection = source.inspect()
        for problem in inspection.problems:
            f"{problem} {problem.hint}".encode()
            assert problem.line is None or problem.line > 0
        tasks = _read(lambda source=source: list(source))
        if inspection.is_good:
            assert tasks
            assert inspection.tasks == len(tasks) == len({task.name for task in tasks})
            _check_copies(tasks)


def _check_copies(tasks: list[Task]) -> None:
    for name, write in (("copy.jsonl", write_tasks), ("copy.csv", write_csv)):
        if (text := _read(lambda write=write: write(tasks))) is not None:
            assert tasks == list(open_dataset(_write(name, text.encode())))


def _check_config(content: bytes) -> None:
    path = _write("eval.yaml", content)
    _read(lambda: load_eval_yaml(path))


def _check_rubric(name: str, content: bytes) -> None:
    path = _write(name, content)
    if (rubric := _read(lambda: read_evaluator(path, pattern_fault))) is not None:
        assert rubric == read_evaluator(_write("copy.yaml", write_rubric(rubric).encode()))


def _check_answer(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    for read in _READERS:
        try:
            read_reply(text, read)
        except ValueError as error:
            str(error).encode("utf-8", "replace")


def _read(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except InputError as refusal:
        f"{refusal} {refusal.hint}".encode()
        return None


def _write(name: str, content: bytes) -> Path:
    path = Path(name)
    path.write_bytes(content)
    return path


def _examples() -> Iterator[str]:
    for path in sorted(EXAMPLES.glob("*.jsonl")):
        yield path.read_text(encoding="utf-8")


_FULL_ROW = (
    '{"name": "a", "query": "p", "ground_truth": "g", "category": "c", "context": "x", "metadata": '
    '{"id": [1.5e3, null, true]}, "criteria": [{"name": "n", "instruction": "i", "weight": 2, '
    '"must": true, "check": {"regex": "\\\\bA\\u00e9+$"}}]}\n'
    '{"turns": [{"prompt": "1", "criteria": []}, {"prompt": "2", "groundTruth": "3"}]}\n'
)
_TABLE = (
    "name;Prompt;criterion;criterion_2;Ground Truth;metadata\r\n"
    't1;"Say ""hi""\r\nin two lines";"a: b\nc";"[{""name"": ""x"", ""instruction"": ""y""}]";g;'
    '"{""a"": 1}"\r\n'
)
_AZD_LIST = '[{"dimension_id": "a", "description": "A?", "weight": 9, "always_applicable": true}]'
_JSON_RUBRIC = f'{{"type": "rubric", "name": "r", "scoring": "graded", "dimensions": {_AZD_LIST}}}'
_VERDICTS = (
    '<think>{"score": 0}</think>\n```json\n{"reason": "uses {x}", "score": 1}\n```',
    '{"verdicts": [{"number": 1, "score": "yes"}, {"number": 2, "score": null, "reason": ""}]}',
    _FULL_ROW,
    _JSON_RUBRIC,
)
_ROW_WORDS = "name prompt query criteria criterion groundTruth turns metadata instruction weight"
_CHECK_WORDS = "check must contains contains_any not_contains regex equals max_words is_json"
_JSON_WORDS = '{" ": [" "] }] null true NaN -1e999 \\ud83d \\u0000 {"a": "}'
_RUBRIC_WORDS = "type rubric version scoring graded pass_threshold dimensions id description"
_YAML_WORDS = (
    "no on ~ 1:30 1.10 0x1f &a *a <<: !!python/object | >- --- ... %YAML # 'a' - ? : {a: b}"
)
_CONFIG_WORDS = (
    "agent kind model instructions parameters dataset_file dataset local_uri evaluators models "
    "base_url api_key_env price options eval_model max_errors fail_under max_candidates ${A} 70%"
)

TARGETS = {
    "jsonl": Target(
        lambda content: _check_dataset("tasks.jsonl", content),
        (*_examples(), _FULL_ROW),
        f"{_ROW_WORDS} {_CHECK_WORDS} {_JSON_WORDS}",
    ),
    "csv": Target(
        lambda content: _check_dataset("tasks.csv", content),
        (_TABLE, "sep=|\nprompt|name\na|b\n"),
        f'{_ROW_WORDS} {_JSON_WORDS} "" ; , \t |',
    ),
    "eval_yaml": Target(
        _check_config,
        ((ROOT / "eval.yaml.example").read_text(encoding="utf-8"),),
        f"{_CONFIG_WORDS} {_YAML_WORDS}",
    ),
    "rubric_yaml": Target(
        lambda content: _check_rubric("rubric.yaml", content),
        (RUBRIC,),
        f"{_RUBRIC_WORDS} {_CHECK_WORDS} {_YAML_WORDS}",
    ),
    "rubric_json": Target(
        lambda content: _check_rubric("rubric.json", content),
        (_AZD_LIST, _JSON_RUBRIC),
        f"{_RUBRIC_WORDS} {_CHECK_WORDS} {_JSON_WORDS}",
    ),
    "answer": Target(
        _check_answer,
        _VERDICTS,
        f"reason score verdicts number <think> </think> ``` {_ROW_WORDS} {_JSON_WORDS}",
    ),
}
