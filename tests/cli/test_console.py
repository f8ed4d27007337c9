"""What reaches the screen: results alone on stdout, hostile text as it is, no tricks in a pipe."""

import json
import signal

import pytest

from tests.cli.shell import connect
from tests.fake_openai import FakeRequest

HOSTILE = "[bold red]no[/bold red] [/x] :boom: {name} %s \x1b[2J\x07 返金 ★ \ud83d"
SHOWN = "[bold red]no[/bold red] [/x] :boom: {name} %s \\x1b[2J\\x07 返金 ★"
TASK = {
    "name": "[bold]task[/bold]",
    "prompt": "[red]Hi",
    "criteria": [{"name": "[/is_kind]", "instruction": "Is [kind]"}],
}


def respond(request: FakeRequest):
    if request.schema_name is None:
        return HOSTILE
    if request.schema_name == "instructions":
        return {"rationale": HOSTILE, "instructions": f"[bold]Be kind[/bold] ★ {HOSTILE}"}
    return {"reason": HOSTILE, "score": int("★" in request.user.split("Criterion")[0])}


def judge_harshly(request: FakeRequest):
    return HOSTILE if request.schema_name is None else {"reason": HOSTILE, "score": 0}


def test_hostile_text_is_shown_and_not_obeyed(shell, fake_openai):
    shell.write_suite(tasks=json.dumps(TASK))

    shown = shell("eval", "run", **connect(fake_openai(judge_harshly)))

    assert 1 == shown.code, shown.stderr
    assert [] == [
        text for text in ("[bold]task[/bold]", "[/is_kind]", SHOWN) if text not in shown.stdout
    ]
    assert [] == [one for one in "\x1b\x07\r" if one in shown.output]


def test_hostile_text_in_errors_is_shown_and_not_obeyed(shell):
    shell.write("[red]\x1b[2J.yaml", "agent: {name: a, '[bold]x': 1}\n")

    refused = shell("eval", "run", "--config", "[red]\x1b[2J.yaml")

    assert 2 == refused.code
    assert "[red]\\x1b[2J.yaml:1:" in refused.stderr
    assert "[bold]x" in refused.stderr
    assert "\x1b" not in refused.stderr


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["cp1252", "ascii"],
)
def test_a_console_that_cannot_show_it_loses_no_result(shell, fake_openai, variables):
    shell.write_suite(tasks=json.dumps({**TASK, "name": "返金 ★ é"}))
    variables |= connect(fake_openai(judge_harshly))

    table = shell("eval", "run", **variables)
    search = shell("optimize", "--max-iterations", "1", **variables)
    exact = shell("dataset", "validate", "--lint", "--json", "tasks.jsonl", **variables)

    assert [1, 0, 0] == [table.code, search.code, exact.code], table.stderr + search.stderr
    assert "Score    0.00" in table.stdout
    assert "baseline ?" in search.stdout
    assert "Traceback" not in table.stderr + search.stderr
    assert "返金 ★ é" in {one["item"] for one in exact.json["files"][0]["problems"]}


def test_quiet_leaves_only_the_result(shell, world):
    shell.write_suite(options="{eval_model: m, max_candidates: 2}")

    loud = shell("optimize", "--dry-run", **connect(world))
    quiet = shell("optimize", "--dry-run", "--quiet", **connect(world))
    run = shell("eval", "run", "--quiet", "--no-progress", **connect(world))
    init = shell(
        *"eval init -g Refunds. --max-samples 2 --out-file new/eval.yaml --quiet".split(),
        "-m",
        "m",
        **connect(world),
    )

    assert "eval.yaml:4:26: options.max_candidates: read as" in loud.stderr
    assert ["", "", ""] == [quiet.stderr, run.stderr, init.stderr]
    assert loud.stdout == quiet.stdout
    assert "Score    0.00" in run.stdout
    assert "Config:     new/eval.yaml" in init.stdout
    assert "azd-eval eval run --config new/eval.yaml" in init.stdout


def test_a_pipe_that_closes_early_ends_it_as_the_shell_would(shell, world):
    shell.write_suite()
    process = shell.start("eval", "run", "--no-gate", **connect(world))
    process.stdout.close()

    _, err = process.communicate(timeout=30)

    assert 128 + signal.SIGPIPE == process.returncode
    assert "Traceback" not in err
    assert "BrokenPipe" not in err
