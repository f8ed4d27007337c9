"""The wizard, typed at a real terminal."""

import pexpect
import pytest

from tests.cli.shell import connect

SENTENCE = (
    "This agent handles customer support for electronics. "
    "Test returns, troubleshooting, and out-of-scope requests."
)
AZURE = """\
services:
  agent:
    host: azure.ai.agent
    project: .
    name: my-support-agent
"""
NAME = "my-support-agent"


def finish(child: pexpect.spawn) -> int:
    child.expect(pexpect.EOF)
    child.wait()
    return child.exitstatus


def test_it_asks_for_the_sentence_and_shows_the_suite(shell, world, terminal):
    shell.write("azure.yaml", AZURE)

    child = terminal("eval", "init", "--max-samples", "5", OPENAI_MODEL="m", **connect(world))
    child.expect_exact("Detecting agent...")
    child.expect_exact(f"  Found: {NAME} (hosted)")
    child.expect_exact("Generation prompt")
    child.expect_exact("  Describe what this agent does and what scenarios to test.")
    child.expect_exact("  > ")
    child.sendline("")
    child.expect_exact("  > ")
    child.sendline(SENTENCE)
    child.expect_exact("Generating dataset and evaluators...")
    child.expect("generation .*[0-9]/[0-9]")
    child.expect_exact(
        f"  Dataset generation:    done  (registered: {NAME}-eval-seed/v1)\r\n"
        f"  Evaluator generation:  done  (registered: {NAME}-quality/v1)\r\n"
    )
    child.expect_exact(
        "Eval suite created\r\n"
        "  Config:     eval.yaml\r\n"
        f"  Dataset:    .azure/.foundry/datasets/{NAME}-eval-seed.v1.jsonl\r\n"
        f"  Evaluator:  .azure/.foundry/evaluators/{NAME}-quality.v1.yaml\r\n"
    )
    child.expect_exact("Review the generated assets, then run:\r\n  azd-eval eval run\r\n")

    assert 0 == finish(child)
    assert 5 == shell.read(f".azure/.foundry/datasets/{NAME}-eval-seed.v1.jsonl").count("\n")


def test_it_asks_which_agent_and_which_model(shell, world, terminal):
    shell.write("azure.yaml", AZURE + "  sales: {host: azure.ai.agent, project: sales}\n")

    child = terminal("eval", "init", "-g", SENTENCE, "--max-samples", "2", **connect(world))
    child.expect_exact(f"Several agents: {NAME}, sales. Which one? [{NAME}] ")
    child.sendline("nobody")
    child.expect_exact(f"Which one? [{NAME}] ")
    child.sendline("sales")
    child.expect_exact("  Found: sales (hosted)")
    child.expect_exact("Model that drafts, judges and answers: [gpt-4.1-mini] ")
    child.sendline("")
    child.expect_exact("registered: sales-eval-seed/v1")

    assert 0 == finish(child)
    assert {"gpt-4.1-mini"} == {call.model for call in world.calls}
    assert "name: sales" in shell.read("eval.yaml")


def test_an_existing_config_is_asked_about(shell, world, terminal):
    mine = "# mine\nagent: {name: my-shop}\noptions: {eval_model: m}\n"
    shell.write("eval.yaml", mine)
    command = ["eval", "init", "-g", SENTENCE, "-m", "m", "--max-samples", "2"]

    kept = terminal(*command, **connect(world))
    kept.expect_exact("eval.yaml exists.")
    kept.expect_exact("(y/N) ")
    kept.sendline("perhaps")
    kept.expect_exact("(y/N) ")
    kept.sendline("n")
    code, unpaid = finish(kept), len(world.calls)
    replaced = terminal(*command, **connect(world))
    replaced.expect_exact("(y/N) ")
    replaced.sendline("Y")
    replaced.expect_exact("  Backup:     eval.yaml.backup-1")

    assert (0, 0, 0) == (code, unpaid, finish(replaced))
    assert mine == shell.read("eval.yaml.backup-1")


@pytest.mark.parametrize("ending", ["sendintr", "sendeof"])
@pytest.mark.parametrize("question", ["sentence", "overwrite"])
def test_it_can_be_left_at_any_question(shell, world, terminal, ending, question):
    if question == "overwrite":
        shell.write("eval.yaml", "agent: {name: a}\n")
    before = shell.files()

    child = terminal("eval", "init", "-m", "m", **connect(world))
    child.expect_exact("(y/N) " if question == "overwrite" else "  > ")
    getattr(child, ending)()
    child.expect_exact("error: interrupted")

    assert 130 == finish(child)
    assert (before, []) == (shell.files(), world.calls)


def test_no_prompt_asks_nothing_even_at_a_terminal(shell, world, terminal):
    child = terminal("eval", "init", "--no-prompt", "-m", "m", **connect(world))
    child.expect_exact("--gen-instruction")

    assert 2 == finish(child)
