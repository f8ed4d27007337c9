"""Evaluation documents wherever a dataset may stand."""

import json

from tests.cli.shell import connect, count_roles
from tests.formats.test_document_schema import SAMPLES, needs_samples

DOCUMENT = {
    "schemaVersion": "1.6.0",
    "items": [
        {
            "prompt": "What is Teams?",
            "expected_response": "chat",
            "context": "Teams is a chat.",
            "category": "basics",
        },
        {
            "name": "flow",
            "turns": [
                {"prompt": "First?"},
                {
                    "prompt": "Then?",
                    "expected_response": "chat",
                    "evaluators": {"ExactMatch": {}},
                    "evaluators_mode": "replace",
                },
            ],
        },
    ],
}


def answer(request):
    if request.schema_name is None:
        return "It is a chat."
    return {"reason": "r", "score": 4}


def test_a_document_is_run_with_the_evaluators_that_it_names(shell, fake_openai):
    shell.write_suite(evaluators="[builtin.task_adherence]")
    shell.write("evals.json", json.dumps(DOCUMENT))
    server = fake_openai(answer)

    done = shell("eval", "run", "--json", "--dataset", "evals.json", **connect(server))

    assert 0 == done.code, done.stderr
    assert (2, 2) == (done.json["tasks"]["total"], done.json["tasks"]["passed"])
    assert [("basics", 1)] == [
        (each["name"], each["tasks"]["total"]) for each in done.json["categories"]
    ]
    # Two turns by Relevance and Coherence, the last one by a comparison.
    assert {"agent": 3, "judge": 4} == count_roles(server)
    # Groundings go to evaluators, never to the agent.
    asked = [call for call in server.calls if call.schema_name is None]
    assert not any("Teams is a chat." in json.dumps(call.body) for call in asked)


def test_a_problem_of_a_document_stops_a_run_before_anything_is_paid(shell, fake_openai):
    shell.write_suite()
    document = {"schemaVersion": "1.6.0", "items": [{"prompt": "p", "evaluators": {"mine": {}}}]}
    shell.write("evals.json", json.dumps(document))
    server = fake_openai(answer)

    refused = shell("eval", "run", "--dataset", "evals.json", **connect(server))

    assert 2 == refused.code
    assert 'items[0].evaluators.mine: unknown evaluator "mine"' in refused.stderr
    assert [] == server.calls


def test_documents_are_validated_both_ways(shell):
    shell.write("evals.json", json.dumps(DOCUMENT))

    lenient = shell("dataset", "validate", "--json", "evals.json")
    strict = shell("dataset", "validate", "--json", "--strict", "evals.json")

    (file,) = lenient.json["files"]
    assert (0, True, 2) == (lenient.code, file["ok"], file["tasks"])
    (file,) = strict.json["files"]
    assert (2, False, 1) == (strict.code, file["ok"], file["tasks"])
    ((field, line),) = [(each["field"], each["line"]) for each in file["problems"]]
    assert ("items[0].category", 1) == (field, line)


def test_golden_items_of_a_document_get_an_evaluator(shell):
    shell.write("evals.json", json.dumps(DOCUMENT))

    done = shell("eval", "init", "--dataset", "evals.json", "--no-prompt", "-m", "offline")

    assert 0 == done.code, done.stderr
    assert "evals.json" in shell.read("eval.yaml")


@needs_samples
def test_the_vendors_suites_are_linted(shell):
    suites = sorted(SAMPLES.glob("repo/samples/*.json"))

    checked = shell("dataset", "validate", "--lint", "--json", *map(str, suites))

    assert 0 == checked.code
    assert all(file["ok"] for file in checked.json["files"])


def test_the_evaluators_of_a_document_are_signals(shell):
    shell.write("evals.json", json.dumps(DOCUMENT))

    linted = shell("dataset", "validate", "--lint", "evals.json")

    assert "2 tasks with 5 evaluation signals" in linted.stdout
