"""Every reader of what others write, as a check of bytes; it must withstand any.

A check raises when something is wrong: whatever escapes a reader that is no refusal, a message that
cannot be printed, or a good file that is not read back equal once it is written.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

from azd_eval.domain.criterion import Criterion
from azd_eval.domain.tally import Tally
from azd_eval.domain.task import Task
from azd_eval.errors import InputError, ModelError
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.evaluators.verdict_reader import batch_reader, single_reader
from azd_eval.formats.agent_folder import read_agent_metadata
from azd_eval.formats.azure_project import find_agents
from azd_eval.formats.csv_tasks import write_csv
from azd_eval.formats.datasets import open_dataset
from azd_eval.formats.documents import make_header, write_document
from azd_eval.formats.eval_yaml import load_eval_yaml
from azd_eval.formats.evaluator_files import read_evaluator, read_rubric, write_rubric
from azd_eval.formats.jsonl import write_tasks
from azd_eval.formats.task_rules import TaskRules
from azd_eval.formats.tasks import read_task_row
from azd_eval.providers.adaptations import Adaptation, apply_adaptations, find_adaptation
from azd_eval.providers.endpoint import Endpoint
from azd_eval.providers.meter import Meter
from azd_eval.providers.openai import OpenAIModel
from azd_eval.providers.refusals import Refusal, model_error, read_refusal
from azd_eval.storage.run_folder import is_finished, read_manifest, read_trials
from azd_eval.storage.run_memory import read_memory
from azd_eval.storage.trial_records import read_trial, write_trial
from azd_eval.structured import read_reply
from tests.cli.shell import RUBRIC
from tests.fuzz import seeds

T = TypeVar("T")

_RULES = (
    TaskRules(find_pattern_fault=pattern_fault),
    TaskRules(strict=True, criteria_required=True),
)
_WRITERS = (
    ("copy.jsonl", write_tasks),
    ("copy.csv", write_csv),
    ("copy.json", lambda tasks: write_document(make_header(tasks), tasks)),
)
_CRITERIA = (Criterion("a", "A?"), Criterion("b", "B?", always_applicable=False))
_READERS = (
    *(single_reader(each, graded=graded) for each in _CRITERIA for graded in (False, True)),
    *(batch_reader(_CRITERIA, graded=graded) for graded in (False, True)),
    lambda value: read_task_row(value) if isinstance(value, dict) else None,
    lambda value: read_rubric(value) if isinstance(value, dict) else None,
)
_ENDPOINT = Endpoint("m", "m", "https://h/v1", api_key="key-of-nobody", key_name="A_KEY")
_MODEL = OpenAIModel(_ENDPOINT)
_ASKED = {
    "model": "m",
    "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
    "temperature": 0,
    "max_tokens": 9,
    "response_format": {"type": "json_schema", "json_schema": {}},
}
_WAITS = ("retry-after", "retry-after-ms", "x-ratelimit-reset-tokens")


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
            # The official schema takes names of evaluators that no run knows.
            if not rules.strict:
                _check_copies(tasks)


def _check_copies(tasks: list[Task]) -> None:
    for name, write in _WRITERS:
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


def _check_project(content: bytes) -> None:
    _write("azure.yaml", content)
    path = _write("agent.yaml", content)
    _read(lambda: find_agents(Path.cwd()))
    _read(lambda: read_agent_metadata(path))


def _check_run(content: bytes) -> None:
    run = Path("run")
    run.mkdir(exist_ok=True)
    for name in ("trials.jsonl", "journal.jsonl", "manifest.json", "summary.json"):
        _write(f"run/{name}", content)
    read_manifest(run)
    is_finished(run)
    tally = Tally()
    for trial in read_trials(run):
        tally.add(trial)
        text = json.dumps(write_trial(trial))
        assert text == json.dumps(write_trial(read_trial(json.loads(text))))
    tally.results()
    tally.criteria()
    memory = read_memory(run, "j")
    for key, repeat in memory.places:
        spec = SimpleNamespace(task=SimpleNamespace(key=key), repeat=repeat)
        memory.recall_reply(spec, 0)


def _check_server(content: bytes) -> None:
    head, _, text = content.decode("utf-8", "replace").partition("\n")
    _check_refusal(read_refusal(400, dict.fromkeys(_WAITS, head), text))
    try:
        answer = _MODEL._parse(text.encode())
        if isinstance(answer, Refusal):
            _check_refusal(answer)
            return
        reply = _MODEL._read(answer, _ASKED, wants_json=True)
    except ModelError as error:
        str(error).encode()
        return
    meter = Meter()
    meter.count_reply("judge", "m", reply)
    json.dumps([asdict(reply), asdict(meter.usage({"m": (1.0, 2.0)}))], allow_nan=False)


def _check_refusal(refusal: Refusal) -> None:
    applied: list[Adaptation] = []
    while adaptation := find_adaptation(refusal, apply_adaptations(_ASKED, applied), applied):
        applied.append(adaptation)
    str(model_error(refusal, _ENDPOINT)).encode("utf-8", "replace")


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


TARGETS = {
    "jsonl": Target(
        lambda content: _check_dataset("tasks.jsonl", content),
        (*seeds.EXAMPLE_FILES, seeds.FULL_ROW),
        f"{seeds.ROW_WORDS} {seeds.CHECK_WORDS} {seeds.JSON_WORDS}",
    ),
    "csv": Target(
        lambda content: _check_dataset("tasks.csv", content),
        (seeds.TABLE, "sep=|\nprompt|name\na|b\n"),
        f'{seeds.ROW_WORDS} {seeds.JSON_WORDS} "" ; , \t |',
    ),
    "document": Target(
        lambda content: _check_dataset("tasks.json", content),
        seeds.DOCUMENTS,
        f"{seeds.DOCUMENT_WORDS} {seeds.JSON_WORDS}",
    ),
    "eval_yaml": Target(
        _check_config,
        (seeds.CONFIG,),
        f"{seeds.CONFIG_WORDS} {seeds.YAML_WORDS}",
    ),
    "rubric_yaml": Target(
        lambda content: _check_rubric("rubric.yaml", content),
        (RUBRIC,),
        f"{seeds.RUBRIC_WORDS} {seeds.CHECK_WORDS} {seeds.YAML_WORDS}",
    ),
    "rubric_json": Target(
        lambda content: _check_rubric("rubric.json", content),
        (seeds.AZD_LIST, seeds.JSON_RUBRIC),
        f"{seeds.RUBRIC_WORDS} {seeds.CHECK_WORDS} {seeds.JSON_WORDS}",
    ),
    "project": Target(_check_project, seeds.PROJECT, f"{seeds.PROJECT_WORDS} {seeds.YAML_WORDS}"),
    "run": Target(
        _check_run,
        (
            "".join(f"{json.dumps(line)}\n" for line in seeds.RUN),
            '{"fingerprint": {"subject": {}}}',
        ),
        f"{seeds.RUN_WORDS} {seeds.JSON_WORDS}",
    ),
    "server": Target(_check_server, seeds.ANSWERS, f"{seeds.SERVER_WORDS} {seeds.JSON_WORDS}"),
    "answer": Target(
        _check_answer,
        seeds.VERDICTS,
        f"reason score verdicts number <think> </think> ``` {seeds.ROW_WORDS} {seeds.JSON_WORDS}",
    ),
}
