"""Tasks chosen by name, category, id and number."""

import pytest

from azd_eval.errors import InputError
from azd_eval.workflows.select_tasks import TaskFilter, select_tasks
from tests.factories import make_task

TASKS = [
    make_task("direct-answer", category="facts", test_id="REG-001"),
    make_task("refund-long", category="tone", test_id="REG-002"),
    make_task("refund-short", category="facts"),
    make_task("odd[1]"),
]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (TaskFilter(), ["direct-answer", "refund-long", "refund-short", "odd[1]"]),
        (TaskFilter(("refund-*",)), ["refund-long", "refund-short"]),
        (TaskFilter(("*-[ls]*",)), ["refund-long", "refund-short"]),
        (TaskFilter(("direct-answer",)), ["direct-answer"]),
        (TaskFilter(("odd[1]",)), ["odd[1]"]),
        (TaskFilter(("*short", "odd*", "*-short")), ["refund-short", "odd[1]"]),
        (TaskFilter(categories=("facts",)), ["direct-answer", "refund-short"]),
        (
            TaskFilter(categories=("tone", "facts")),
            ["direct-answer", "refund-long", "refund-short"],
        ),
        (TaskFilter(("refund-*",), ("facts",)), ["refund-short"]),
        (TaskFilter(categories=("t*",)), ["refund-long"]),
        (TaskFilter(test_ids=("REG-*",)), ["direct-answer", "refund-long"]),
        (TaskFilter(test_ids=("REG-002",), categories=("tone",)), ["refund-long"]),
        (TaskFilter(limit=2), ["direct-answer", "refund-long"]),
        (TaskFilter(("refund-*",), limit=1), ["refund-long"]),
        (TaskFilter(limit=99), ["direct-answer", "refund-long", "refund-short", "odd[1]"]),
    ],
)
def test_tasks_are_taken_in_dataset_order_more_than_once(wanted, names):
    selected = select_tasks(TASKS, wanted)

    assert [names, names] == [[task.name for task in selected] for _ in range(2)]


@pytest.mark.parametrize(
    ("wanted", "message", "hint"),
    [
        (
            TaskFilter(("direct-anwser",)),
            "no task matches `--task direct-anwser`",
            "did you mean 'direct-answer'?",
        ),
        (
            TaskFilter(categories=("fact",)),
            "no task matches `--category fact`",
            "did you mean 'facts'?",
        ),
        (
            TaskFilter(("refund-long",), ("facs",)),
            "no task matches `--category facs`",
            "did you mean 'facts'?",
        ),
        (
            TaskFilter(("direct-answer", "direkt-answer")),
            "no task matches `--task direkt-answer`",
            "did you mean 'direct-answer'?",
        ),
        (
            TaskFilter(categories=("facts", "tune")),
            "no task matches `--category tune`",
            "did you mean 'tone'?",
        ),
        (
            TaskFilter(("direct-answer", "odd*"), ("tone",)),
            "no task matches `--task direct-answer` or `--task odd*` and `--category tone`",
            "the categories are 'facts', 'tone'",
        ),
        (
            TaskFilter(("refund-long",), ("facts",)),
            "no task matches `--task refund-long` and `--category facts`",
            "the categories are 'facts', 'tone'",
        ),
        (
            TaskFilter(("REFUND",)),
            "no task matches `--task REFUND`",
            "the first tasks are 'direct-answer', 'refund-long', 'refund-short', 'odd[1]'",
        ),
        (
            TaskFilter(test_ids=("REG-01",)),
            "no task matches `--test-id REG-01`",
            "did you mean 'REG-001'?",
        ),
        (
            TaskFilter(test_ids=("7",)),
            "no task matches `--test-id 7`",
            "the ids are 'REG-001', 'REG-002'",
        ),
        (
            TaskFilter(categories=("zzz",)),
            "no task matches `--category zzz`",
            "the categories are 'facts', 'tone'",
        ),
    ],
)
def test_an_empty_selection_is_an_error_with_the_closest_word(wanted, message, hint):
    with pytest.raises(InputError) as refusal:
        select_tasks(TASKS, wanted)

    assert (message, hint) == (refusal.value.message, refusal.value.hint)
