"""The fields of a JSONL task that choose evaluators, and what they lean on."""

import json
from pathlib import Path
from typing import Any

import pytest

from azd_eval.domain.task import Reply
from azd_eval.errors import Problem
from azd_eval.formats.jsonl import JsonlDataset
from azd_eval.formats.task_rules import TaskRules


def write(**fields: Any) -> Path:
    path = Path("tasks.jsonl")
    path.write_text(json.dumps({"name": "a", **fields}), encoding="utf-8")
    return path


def only_problem(rules: TaskRules | None = None, **fields: Any) -> Problem:
    (problem,) = JsonlDataset(write(**fields), rules or TaskRules()).inspect().problems
    return problem


def test_a_row_fills_all_fields_of_a_task() -> None:
    evidence = {"citations": [{"index": 1}], "diagnostics": {"own": 1}}
    path = write(
        prompt="p",
        groundTruth="e",
        grounding="g",
        evaluators={"ExactMatch": {"mode": "equals"}},
        evaluators_mode="replace",
        response="",
        evidence=evidence,
        testId="T-1",
        carried={"notes": "n"},
    )

    (task,) = JsonlDataset(path)
    (turn,) = task.turns

    assert ("T-1", {"notes": "n"}) == (task.test_id, task.carried)
    assert ("g", "replace", {"ExactMatch": {"mode": "equals"}}) == (
        turn.grounding,
        turn.evaluators_mode,
        turn.evaluators,
    )
    assert Reply("", evidence=evidence) == turn.recorded


@pytest.mark.parametrize(
    ("fields", "field", "word"),
    [
        ({"evaluators": {"Relevnce": {}}}, "evaluators.Relevnce", "unknown evaluator"),
        ({"evaluators": {"Relevance": {"threshold": 9}}}, "evaluators.Relevance.threshold", "most"),
        ({"evaluators": {"ExactMatch": {}}}, "evaluators.ExactMatch", "needs an expected answer"),
        ({"evaluators_mode": "merge"}, "evaluators_mode", "`extend` or `replace`"),
        ({"evidence": {"citations": []}}, "evidence", "without `response`"),
        (
            {"response": "r", "evidence": {"citations": [{"index": 0}]}},
            "evidence.citations[0].index",
            "of at least 1",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_field(fields: Any, field: str, word: str) -> None:
    problems = JsonlDataset(write(prompt="p", **fields)).inspect().problems

    (error,) = [problem for problem in problems if problem.severity == "error"]
    assert field == error.field
    assert word in error.message


@pytest.mark.parametrize(
    "fields",
    [
        {"grounding": "g"},
        {"evaluators": {"Coherence": {}}},
        {"evaluators_mode": "extend"},
        {"response": "r"},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_what_belongs_to_a_turn_does_not_stand_beside_turns(fields: Any) -> None:
    (key,) = fields
    row = {"turns": [{"prompt": "p", "evaluators": {"Relevance": {}}}], **fields}

    problem = only_problem(**row)

    assert ("error", key, "move it into its turn") == (
        problem.severity,
        problem.field,
        problem.hint,
    )


def test_the_expected_answer_of_the_last_turn_may_stand_beside_turns() -> None:
    row = {"turns": [{"prompt": "p", "evaluators": {"Similarity": {}}}], "groundTruth": "e"}

    assert JsonlDataset(write(**row)).inspect().problems == ()


def test_a_task_that_names_evaluators_needs_no_criteria() -> None:
    rules = TaskRules(criteria_required=True)
    path = write(prompt="p", evaluators={"Coherence": {}})

    assert JsonlDataset(path, rules).inspect().problems == ()


@pytest.mark.parametrize(
    ("custom", "severity"), [(None, "warning"), (frozenset(), "error"), (frozenset({"b"}), "error")]
)
def test_an_evaluator_of_the_users_own_must_be_set_up(custom: Any, severity: str) -> None:
    problem = only_problem(
        TaskRules(custom_evaluators=custom), prompt="p", evaluators={"tone": {"threshold": 0.2}}
    )

    assert (severity, "evaluators.tone") == (problem.severity, problem.field)
