"""`dataset stats`, on every format."""

import json

from tests.cli.shell import EXAMPLES

TASKS = [
    {
        "name": "a",
        "prompt": "four",
        "category": "k",
        "criteria": [
            {"name": "x", "instruction": "X?"},
            {"name": "y", "instruction": "Y?", "check": {"contains": "y"}},
        ],
        "groundTruth": "g",
    },
    {
        "name": "b",
        "category": "k",
        "turns": [
            {"prompt": "12", "evaluators": {"Coherence": {}}},
            {"prompt": "123456", "evaluators": {"Coherence": {}, "Citations": {}}},
        ],
    },
]


def test_all_that_a_dataset_holds_is_counted(shell):
    shell.write("tasks.jsonl", "".join(f"{json.dumps(task)}\n" for task in TASKS))
    shell("dataset", "convert", "tasks.jsonl", "evals.json")
    shell("dataset", "convert", "tasks.jsonl", "tasks.csv")

    described = [
        shell("dataset", "stats", "--json", name).json
        for name in ("tasks.jsonl", "evals.json", "tasks.csv")
    ]

    assert described[0] == {
        "path": "tasks.jsonl",
        "tasks": 2,
        "turns": 3,
        "conversations": 1,
        "categories": [{"name": "k", "tasks": 2}],
        "criteria": 2,
        "checks": 1,
        "judged": 1,
        "criteria_per_task": {"min": 0, "median": 1.0, "max": 2},
        "prompt_length": {"min": 2, "median": 4, "max": 6},
        "evaluators": {"Coherence": 2, "Citations": 1},
        "expected_answers": 1,
        "groundings": 0,
        "recorded_replies": 0,
    }
    assert [described[0]] * 3 == [{**each, "path": "tasks.jsonl"} for each in described]


def test_the_counts_fit_one_screen(shell):
    rows = [{"name": f"t{n}", "prompt": "p", "category": f"c{n}"} for n in range(50)]
    shell.write("tasks.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))

    shown = shell("dataset", "stats", "tasks.jsonl")

    assert (0, "") == (shown.code, shown.stderr)
    assert len(shown.stdout.splitlines()) < 40
    assert "30 others" in shown.stdout


def test_a_bad_dataset_is_not_counted(shell):
    shell.write("tasks.jsonl", '{"prompt": 1}\n')

    refused = shell("dataset", "stats", "tasks.jsonl")

    assert (2, "") == (refused.code, refused.stdout)
    assert "expected text" in refused.stderr


def test_the_example_of_the_specification(shell):
    shown = shell("dataset", "stats", str(EXAMPLES / "customer_support.jsonl"))

    assert "6: 6 judged, 0 by checks" in shown.stdout
