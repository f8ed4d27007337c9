"""`runevals` at a real terminal: the starter question, the upgrade question, a conversation."""

import json

import pytest

from tests.cli.shell import connect, runevals
from tests.documents import document_world, make_document, write_agent


@pytest.fixture
def type_at(shell, terminal, fake_openai):
    """Start `runevals` at a terminal, in a project whose models live at a server."""
    write_agent(shell)
    server = fake_openai(document_world(grades={"Coherence": 2}))

    def start(*arguments):
        return terminal(*arguments, program=runevals, **connect(server))

    start.server = server
    return start


def finish(child):
    child.expect_exact("\r\n")
    rest = child.read()
    child.wait()
    return child.exitstatus, rest


class TestStarter:
    QUESTION = (
        "⚠️  No prompts file found in current directory or ./evals/\r\n\r\n"
        "Create a starter evals file with sample prompts? (Y/n): "
    )

    @pytest.mark.parametrize("answer", ["Y", "y", ""])
    def test_yes_writes_it(self, shell, type_at, answer):
        child = type_at()
        child.expect_exact(self.QUESTION)
        child.sendline(answer)
        child.expect_exact("Created ./evals/evals.json")

        assert 0 == finish(child)[0]
        assert "What can you help me with?" in shell.read("evals/evals.json")
        assert [] == type_at.server.calls

    def test_no_writes_nothing(self, shell, type_at):
        child = type_at()
        child.expect_exact(self.QUESTION)
        child.sendline("n")

        code, rest = finish(child)

        assert (2, True) == (code, "there is nothing to run" in rest)
        assert not (shell.folder / "evals").exists()

    def test_nobody_is_asked_with_no_prompt(self, type_at):
        child = type_at("--no-prompt")
        child.expect_exact("`runevals --init` writes one")

        assert 2 == finish(child)[0]


class TestUpgrade:
    TEXT = '[{"prompt": "One?"}]'

    @pytest.mark.parametrize("answer", ["y", "n"])
    def test_a_legacy_document_is_rewritten_if_the_user_wants(self, shell, type_at, answer):
        path = shell.write("evals.json", self.TEXT)

        child = type_at()
        child.expect_exact("evals.json states no schemaVersion.")
        child.expect_exact("(Y/n) ")
        child.sendline(answer)
        child.expect_exact("Results saved to")

        assert 1 == finish(child)[0]
        backups = list(shell.folder.glob("evals.json.bak.*"))
        if answer == "y":
            assert "items" in json.loads(path.read_text())
            assert [self.TEXT] == [backup.read_text() for backup in backups]
        else:
            assert (self.TEXT, []) == (path.read_text(), backups)


class TestConversation:
    def test_prompts_are_answered_scored_and_saved(self, shell, type_at):
        shell.write("evals/evals.json", make_document("Kept?"))

        child = type_at("--interactive")
        child.expect_exact("Prompt: ")
        child.sendline("What is Teams?")
        child.expect_exact("Good day.")
        child.expect_exact("Expected response (Enter for none): ")
        child.sendline("A platform")
        child.expect(r"relevance +5 +\S*pass")
        child.expect(r"coherence +2 +\S*fail")
        child.expect_exact("Prompt: ")
        child.sendline("Who?")
        child.expect_exact("Expected response (Enter for none): ")
        child.sendline("")
        child.expect_exact("Prompt: ")
        child.sendeof()
        child.expect_exact("Save 2 prompts as a document? (Y/n) ")
        child.sendline("")
        child.expect_exact("File: [evals/evals-2.json] ")
        child.sendline("evals/evals.json")
        child.expect_exact("exists and is not overwritten")
        child.expect_exact("File: [evals/evals-2.json] ")
        child.sendline("")
        child.expect_exact("Saved to evals/evals-2.json")

        assert 0 == finish(child)[0]
        assert [
            {"prompt": "What is Teams?", "expected_response": "A platform"},
            {"prompt": "Who?"},
        ] == json.loads(shell.read("evals/evals-2.json"))["items"]
        assert [] == list(shell.folder.glob(".evals/results/*"))

    def test_an_expected_answer_is_asked_for_where_it_is_needed(self, shell, type_at):
        write_agent(shell, evaluators="evaluators: [Similarity, ExactMatch]\n")

        child = type_at("-i")
        child.expect_exact("Prompt: ")
        child.sendline("Who?")
        for answer in ("", "day"):
            child.expect_exact("Expected response (needed by Similarity, ExactMatch): ")
            child.sendline(answer)
        child.expect(r"similarity +5 +\S*pass")
        child.expect(r"exactMatch +\S*pass")
        child.expect_exact("Prompt: ")
        child.sendeof()
        child.expect_exact("(Y/n) ")
        child.sendline("n")

        assert 0 == finish(child)[0]
        assert not (shell.folder / "evals").exists()

    @pytest.mark.parametrize("moment", ["prompt", "expected"])
    def test_ctrl_c_ends_it_at_any_question(self, type_at, moment):
        child = type_at("-i")
        child.expect_exact("Prompt: ")
        if moment == "expected":
            child.sendline("Who?")
            child.expect_exact("Expected response")
        child.sendintr()
        child.expect_exact("error: interrupted")
        child.expect_exact("\r\n")
        child.wait()

        assert 130 == child.exitstatus

    def test_a_failing_agent_ends_nothing(self, shell, type_at, terminal, fake_openai):
        shell.write("agent.py", "def respond(prompt):\n    return '' if prompt == 'x' else 'Yes.'")

        child = type_at("-i", "--callable", "agent.py:respond")
        child.expect_exact("Prompt: ")
        child.sendline("x")
        child.expect_exact("error: the agent returned no text")
        child.expect_exact("Prompt: ")
        child.sendline("Who?")
        child.expect_exact("Yes.")
        child.expect_exact("Expected response")
        child.sendeof()
        child.expect_exact("Save 2 prompts as a document? (Y/n) ")
        child.sendline("n")

        assert 0 == finish(child)[0]
