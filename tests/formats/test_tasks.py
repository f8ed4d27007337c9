import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given

from azd_eval.domain.criterion import CheckKind, Criterion
from azd_eval.domain.task import Task, Turn
from azd_eval.formats.jsonl import JsonlDataset, write_tasks
from azd_eval.formats.task_rows import CheckRow
from azd_eval.formats.task_rules import TaskRules
from azd_eval.formats.tasks import read_task_row
from tests.formats.strategies import datasets, tasks

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "tests" / "examples" / "valid").glob("*.jsonl"))


@given(datasets)
def test_what_is_written_is_read_back_equal(written: list[Task]) -> None:
    path = Path("tasks.jsonl")
    path.write_text(write_tasks(written), encoding="utf-8", newline="")
    dataset = JsonlDataset(path)

    assert dataset.inspect().is_good
    assert written == list(dataset)


@given(tasks)
def test_a_model_that_writes_a_row_is_read_like_a_file(task: Task) -> None:
    assert task == read_task_row(json.loads(write_tasks([task])))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_specification_is_written_as_it_stands(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == write_tasks(JsonlDataset(path))


def test_only_what_is_set_is_written_in_the_order_of_the_specification() -> None:
    task = Task(
        "a",
        (Turn("p", (Criterion("c", "i", weight=2.0, must=True),), "e"),),
        category="k",
        context="x",
        metadata={"m": 1},
    )

    assert [
        "name",
        "prompt",
        "groundTruth",
        "criteria",
        "category",
        "context",
        "metadata",
    ] == list(json.loads(write_tasks([task])))
    assert '{"name": "a", "prompt": "p"}\n' == write_tasks([Task("a", (Turn("p"),))])


def test_a_row_tells_all_its_faults_in_one_sentence() -> None:
    row: dict[str, Any] = {
        "name": "a",
        "promt": "p",
        "criteria": [{"name": "c", "instruction": ""}, {"name": "c", "instruction": "i"}],
    }

    with pytest.raises(ValueError, match="missing `prompt`") as refused:
        read_task_row(row)

    assert (
        "criteria[0].instruction: must not be empty; "
        'promt: unknown key "promt" (did you mean `prompt`?); '
        "prompt: missing `prompt`; "
        'criteria[1].name: criterion "c" stands twice in the task '
        "(rename it; the first is `criteria[0]`)"
    ) == str(refused.value)


def test_a_row_is_held_to_the_rules_it_is_given() -> None:
    row = {"name": "a", "prompt": "p"}

    assert "a" == read_task_row(row).name
    with pytest.raises(ValueError, match="missing `criteria`"):
        read_task_row(row, TaskRules(criteria_required=True))


def test_reading_a_row_leaves_it_as_it_is() -> None:
    row = {"name": "a", "prompt": "p", "note": 1, "metadata": {"k": []}}
    before = json.dumps(row)

    read_task_row(row)

    assert before == json.dumps(row)


def test_every_kind_of_check_can_be_written_in_a_file() -> None:
    assert set(get_args(CheckKind)) == set(CheckRow.__annotations__)
