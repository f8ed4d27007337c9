"""The document of a run, against the official schema, and the same as CSV."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.score import Score, Trial, TurnResult, Verdict
from azd_eval.formats.document_outcomes import read_outcomes
from azd_eval.formats.document_schema import find_schema_faults
from azd_eval.formats.documents import dump_document, read_document
from azd_eval.formats.result_csv import write_result_csv
from azd_eval.formats.result_documents import ResultFacts, build_result

FACTS = ResultFacts("2026-11-30T13:31:26+00:00", "shop", "0.1.0")
DOCUMENT = {
    "schemaVersion": "1.0.0",
    "description": "Q1",
    "metadata": {"name": "Suite", "agentName": "Other", "tags": ["a"], "ours": 1},
    "items": [
        {
            "prompt": "Who?",
            "expected_response": "Me.",
            "testId": "REG-1",
            "category": "tools",
            "notes": "bug 7",
            "name": "Who flow",
            "response": "old",
            "citations": [{"index": 1}],
            "scores": {"relevance": {"score": 1, "result": "fail", "threshold": 3}},
            "status": "fail",
            "extensions": {"mine": 1},
        },
        {
            "name": "Flow",
            "category": "talk",
            "conversation_id": "c-1",
            "turns": [
                {"prompt": "One?", "response": "old 1", "citations": [{"index": 1}]},
                {"prompt": "Two?", "citations": [{"index": 2}]},
            ],
        },
        {"prompt": "Why?", "diagnostics": {}},
    ],
}


@pytest.fixture
def read(tmp_path):
    def read_tree(tree):
        path = tmp_path / "evals.json"
        path.write_text(json.dumps(tree), encoding="utf-8")
        return read_document(path)

    return read_tree


def grade(number, evaluator="Relevance"):
    verdict = Verdict(evaluator, "met" if number >= 3 else "unmet", "because", grade=number)
    return Score(evaluator, verdict.value, number >= 3, (verdict,), number, 3)


def answer(document, count=None, *, error=None):
    """Make trials in which every turn of the first `count` tasks is answered, or fails."""
    trials = {}
    for index, task in enumerate(document.tasks[:count]):
        results = tuple(
            TurnResult(turn.prompt, error=error, error_code="timeout")
            if error
            else TurnResult(turn.prompt, f"re {turn.prompt}", scores=(grade(4),))
            for turn in task.turns
        )
        trials[task.key] = Trial(task.name, task.key, 0, "passed", 0.75, results, index)
    return trials


def test_the_document_has_the_results_and_nothing_of_earlier_ones(read):
    document = read(DOCUMENT)

    result = build_result(document, answer(document, 2), FACTS)

    single, thread, unreached = result["items"]
    scores = {"relevance": {"score": 4, "result": "pass", "threshold": 3, "reason": "because"}}
    assert {
        "prompt": "Who?",
        "expected_response": "Me.",
        "response": "re Who?",
        "scores": scores,
        "status": "pass",
        "extensions": {
            "mine": 1,
            "testId": "REG-1",
            "category": "tools",
            "notes": "bug 7",
            "azd_eval": {"fields": {"name": "Who flow"}},
        },
    } == single
    assert "conversation_id" not in thread
    assert not any("citations" in turn for turn in thread["turns"])
    assert ["re One?", "re Two?"] == [turn["response"] for turn in thread["turns"]]
    assert "pass" == thread["summary"]["overall_status"]
    assert {"prompt": "Why?"} == unreached
    assert ("1.11.0", "Q1") == (result["schemaVersion"], result["description"])
    assert {
        "name": "Suite",
        "agentName": "shop",
        "tags": ["a"],
        "ours": 1,
        "evaluatedAt": FACTS.evaluated_at,
        "cliVersion": "0.1.0",
    } == result["metadata"]


@pytest.mark.parametrize("error", [None, "no"])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_official_schema_takes_it(read, count, error):
    document = read(DOCUMENT)

    result = build_result(document, answer(document, count, error=error), FACTS)

    assert [] == [str(fault) for fault in find_schema_faults(result)]


def test_scored_again_the_conversation_and_its_agent_are_the_same(read):
    document = read(DOCUMENT)
    facts = ResultFacts("2026-11-30T13:31:26+00:00", "shop", "0.1.0", is_replay=True)

    result = build_result(document, answer(document), facts)

    assert "c-1" == result["items"][1]["conversation_id"]
    assert "Other" == result["metadata"]["agentName"]


def test_a_result_is_a_document_with_the_same_tasks(read, tmp_path):
    document = read(DOCUMENT)
    path = tmp_path / "result.json"

    path.write_text(dump_document(build_result(document, answer(document), FACTS)))

    again = read_document(path)
    assert [
        (task.name, task.test_id, task.category, [turn.prompt for turn in task.turns])
        for task in document.tasks
    ] == [
        (task.name, task.test_id, task.category, [turn.prompt for turn in task.turns])
        for task in again.tasks
    ]
    assert ["REG-1", "Flow", "Why?"] == [outcome.name for outcome in read_outcomes(path)]


@pytest.mark.parametrize(
    ("stated", "written"),
    [("1.0.0", "1.11.0"), ("1.11.0", "1.11.0"), ("1.11.2", "1.11.2"), ("1.14.0", "1.14.0")],
)
def test_the_version_has_what_results_use(read, stated, written):
    result = build_result(read({**DOCUMENT, "schemaVersion": stated}), {}, FACTS)

    assert written == result["schemaVersion"]


def read_csv(text):
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text[1:], newline="")))


def test_csv_has_a_record_for_each_turn(read):
    document = read(DOCUMENT)

    rows = read_csv(write_result_csv(build_result(document, answer(document, 2), FACTS)))

    assert [("1", "1"), ("2", "1"), ("2", "2"), ("3", "1")] == [
        (row["item"], row["turn"]) for row in rows
    ]
    first = rows[0]
    assert ("REG-1", "tools", "Who flow") == (first["testId"], first["category"], first["name"])
    assert ("4", "pass", "because") == (
        first["relevance_score"],
        first["relevance_result"],
        first["relevance_reason"],
    )
    assert ("", "") == (rows[3]["status"], rows[3]["relevance_score"])


def test_csv_tells_errors(read):
    document = read(DOCUMENT)

    rows = read_csv(write_result_csv(build_result(document, answer(document, error="no"), FACTS)))

    assert {"agentTimeout: Agent request failed: no"} == {row["error"] for row in rows}


def test_csv_keeps_evaluators_apart_from_its_own_columns():
    entry = {"score": 7, "result": "pass", "threshold": 1}
    result = {"items": [{"prompt": "p", "status": "fail", "scores": {"status": entry}}]}

    (row,) = read_csv(write_result_csv(result))

    assert ("fail", "7") == (row["status"], row["status_score"])


@given(st.text())
def test_no_cell_is_a_formula(text):
    result = {"items": [{"prompt": text, "response": text, "scores": {}, "status": "pass"}]}

    (row,) = csv.DictReader(io.StringIO(write_result_csv(result)[1:], newline=""))

    assert not row["response"].startswith(("=", "+", "-", "@", "\t", "\r"))
    assert text in (row["response"], row["response"][1:])
