"""Evaluation documents from Python."""

import asyncio

import pytest

import azd_eval
from azd_eval.errors import FilesRefused, InputError
from tests.cli.shell import Shell, connect, count_roles
from tests.documents import document_world, make_document, write_agent


@pytest.fixture
def project(tmp_path, monkeypatch, fake_openai):
    """Work in a project with a document; its server is `server`."""
    shell = Shell(tmp_path / "my-agent")
    write_agent(shell)
    shell.write("evals/evals.json", make_document("One?", {"prompt": "Two?", "category": "tools"}))
    monkeypatch.chdir(shell.folder)
    for name, value in connect(fake_openai(document_world())).items():
        monkeypatch.setenv(name, value)
    return shell


def test_the_document_found_here_is_the_default(project):
    seen = []

    (result,) = azd_eval.run_documents(on_trial=seen.append)

    assert (2, 2, True) == (
        result.summary.items.passed,
        len(seen),
        result.summary.gate.passed,
    )
    assert ["pass", "pass"] == [item["status"] for item in result.document["items"]]
    assert result.path.is_file()


def test_several_documents_are_several_results(project):
    again = project.write("more.json", make_document("Three?"))

    results = azd_eval.run_documents("evals/evals.json", again, eval_model="other")

    assert [2, 1] == [result.summary.items.total for result in results]
    assert {"other"} == {result.summary.models["judge"] for result in results}


def test_items_are_chosen_by_keywords(project):
    (result,) = azd_eval.run_documents("evals/evals.json", category="tools")

    assert ["Two?"] == [item["prompt"] for item in result.document["items"]]


def test_stored_responses_are_scored(project, fake_openai, monkeypatch):
    server = fake_openai(document_world(grades={"Relevance": 1}))
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    stored = project.write("old.json", make_document({"prompt": "One?", "response": "Yes."}))

    (result,) = azd_eval.run_documents(stored, evaluate_only=True)

    assert {"judge": 2} == count_roles(server)
    assert "fail" == result.document["items"][0]["status"]


async def test_it_may_be_awaited(project):
    first, second = await asyncio.gather(azd_eval.arun_documents(), azd_eval.arun_documents())

    assert first[0].path != second[0].path


def test_a_broken_document_is_refused_before_the_first_call(project):
    broken = project.write("broken.json", '{"schemaVersion": "1.0.0", "items": []}')

    with pytest.raises(FilesRefused):
        azd_eval.run_documents("evals/evals.json", broken)
    assert not (project.folder / ".evals").exists()


def test_without_a_document_it_says_how_to_get_one(project, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InputError, match="no prompts file found"):
        azd_eval.run_documents()
