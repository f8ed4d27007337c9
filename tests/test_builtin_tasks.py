"""The dataset of `optimize` without a dataset: 3 coding tasks, 25 criteria."""

import json

import pytest

from azd_eval.domain.task import Task
from azd_eval.evaluators.checks import pattern_fault, run_check
from azd_eval.formats.task_rules import TaskRules
from azd_eval.formats.tasks import read_task_row
from azd_eval.prompts import template

PLAIN = """\
You can do it like this:

```python
import pandas as pd

def total(path):
    frame = pd.read_csv(path)
    print(frame.groupby("customer")["amount"].sum().sort_values(ascending=False))

total("orders.csv")
```

Let me know which assumptions do not hold, and whether there are limitations.
"""
THOROUGH = """\
## Assumptions

- Amounts are in one currency.

```python
import csv

def test_total():
    assert total([]) == {}

def test_order():
    assert list(total([("b", 2), ("a", 1)])) == ["b", "a"]

def main():
    with open("orders.csv", encoding="utf-8", newline="") as file:
        ...

if __name__ == "__main__":
    main()
```

It takes O(n log n) time.

**Limitations:** the sorted totals must fit into memory.
"""


def builtin_tasks() -> list[Task]:
    rules = TaskRules(criteria_required=True, find_pattern_fault=pattern_fault)
    lines = template("builtin_coding_tasks.jsonl").splitlines()
    return [read_task_row(json.loads(line), rules) for line in lines]


def test_three_tasks_and_exactly_25_criteria() -> None:
    counts = [len(task.turns[0].criteria) for task in builtin_tasks()]

    assert (3, 25) == (len(counts), sum(counts))
    assert 8 == min(counts)


def test_most_criteria_are_for_the_judge_and_every_task_has_one_that_is_not() -> None:
    checks = [[c.check for c in task.turns[0].criteria] for task in builtin_tasks()]

    assert all(any(row) for row in checks)
    assert sum(check is None for row in checks for check in row) > 25 // 2


@pytest.mark.parametrize(("reply", "expected"), [(PLAIN, False), (THOROUGH, True)])
def test_checks_tell_a_plain_answer_from_a_thorough_one(reply: str, expected: bool) -> None:
    checks = [c.check for task in builtin_tasks() for c in task.turns[0].criteria if c.check]

    assert [expected] * len(checks) == [run_check(check, reply).passed for check in checks]


def test_the_starting_instructions_are_plain() -> None:
    assert template("builtin_coding_instructions.md").count(".") <= 2
