"""What a run will cost, what it may cost, and what it has cost."""

import json
import re

import pytest

from tests.cli.shell import RUBRIC, judge_by_name
from tests.fake_openai import Status
from tests.personas import support_world
from tests.reliability.projects import make_row, write_rows

CRITERIA = [f"criterion_{number}" for number in range(6)]
RUBRIC_TOO = "[builtin.task_adherence, quality.yaml]"
PYTHON = (
    "{name: my-agent, kind: python, callable: 'agent.py:respond', "
    "instructions_file: instructions.md}"
)


def write_suite(project, count=20, repeats=3, **parts):
    rows = [make_row(f"task_{n}", f"Question {n}?", *CRITERIA) for n in range(count)]
    options = parts.pop("options", f"{{eval_model: m, repeats: {repeats}}}")
    project.write_suite(tasks=write_rows(rows), options=options, **parts)
    project.write("agent.py", "def respond(prompt, instructions):\n    return 'Good day.'\n")
    project.write("quality.yaml", RUBRIC)


@pytest.mark.parametrize(
    ("command", "tasks", "least"),
    [
        ("eval run", 20, 20 * (1 + 6) * 3),
        ("eval run --repeat 1 --limit 5", 5, 5 * (1 + 6)),
        ("optimize --max-iterations 5", 20, 20 * (1 + 6) * 3 * 5),
    ],
)
def test_case_091_a_dry_run_counts_the_calls_and_makes_none(
    project, call, capfd, command, tasks, least
):
    write_suite(project)
    server = project.serve()

    codes = [call(*command.split(), "--dry-run")]
    shown = capfd.readouterr().out
    codes.append(call(*command.split(), "--dry-run", "--json"))
    plan = json.loads(capfd.readouterr().out)

    assert ([0, 0], []) == (codes, server.calls)
    assert (tasks, plan["total"]) == (
        plan["tasks"],
        plan["agent"] + plan["judge"] + plan["optimizer"],
    )
    assert plan["total"] == least if "run" in command else plan["total"] > least
    assert f"Total    {plan['total']} calls" in shown
    assert [] == list(project.folder.glob(".azure/.foundry/*/*"))


def test_case_091_an_optimization_takes_at_most_what_was_counted(project, call, capfd):
    write_suite(project, count=4, repeats=1)
    server = project.serve(support_world(rule="What nobody ever says."))

    call("optimize", "--max-iterations", "2", "--dry-run", "--json")
    plan = json.loads(capfd.readouterr().out)
    project.optimize(max_iterations=2)

    assert 0 < len(server.calls) <= plan["total"]


@pytest.mark.parametrize("judge", ["independent", "batched"])
@pytest.mark.parametrize("evaluators", ["[builtin.task_adherence]", RUBRIC_TOO, "[quality.yaml]"])
@pytest.mark.parametrize("agent", ["{name: a, instructions: Be kind.}", PYTHON])
def test_case_091_the_count_is_what_is_then_asked(project, call, capfd, judge, evaluators, agent):
    write_suite(
        project,
        count=3,
        evaluators=evaluators,
        agent=agent,
        options=f"{{eval_model: m, repeats: 2, judge: {judge}}}",
    )
    respond = judge_by_name()

    def answer(request):
        if request.schema_name != "verdicts":
            return respond(request)
        numbers = re.findall(r'^(\d+)\. "', request.user, re.MULTILINE)
        return {"verdicts": [{"number": int(n), "reason": "so", "score": 1} for n in numbers]}

    project.serve(answer)

    call("eval", "run", "--dry-run", "--json")
    plan = json.loads(capfd.readouterr().out)
    usage = project.evaluate().usage

    assert plan["total"] == usage.calls
    assert {"agent": plan["agent"], "judge": plan["judge"]} == usage.calls_by_role


PRICES = "models: {m: {price: {input: 1, output: 1}}, my-agent: {price: {input: 1, output: 1}}}\n"
CAPS = {
    "max_calls": (31, "the limit of 31 calls is reached"),
    "max_tokens": (450, "the limit of 450 tokens is reached"),
    "max_cost": (450e-6, "the limit of 0.00045 in cost is reached"),
}


@pytest.mark.parametrize("name", CAPS)
def test_case_091_a_cap_ends_a_run_cleanly_and_the_rest_is_done_later(project, call, capfd, name):
    write_suite(project, count=20, options="{eval_model: m, concurrency: 4}")
    with (project.folder / "eval.yaml").open("a", encoding="utf-8") as file:
        file.write(PRICES)
    server = project.serve()
    limit, reason = CAPS[name]

    stopped = project.evaluate(**{name: limit})
    code = call("eval", "run", "--resume", "--json")

    assert (reason, 20) == (stopped.stop_reason, stopped.tasks.passed + stopped.tasks.skipped)
    assert 2 <= stopped.tasks.passed <= 8
    assert (0, 20) == (code, json.loads(capfd.readouterr().out)["tasks"]["passed"])
    # Nothing is paid twice: an answer that came is on disk.
    assert 20 * 7 == len(server.calls)


@pytest.mark.parametrize("limit", [1, 5, 13, 14])
def test_case_091_an_optimization_that_cannot_measure_is_no_success(project, call, capfd, limit):
    write_suite(project, count=2, repeats=1)
    server = project.serve(support_world())

    code = call("optimize", "--max-calls", str(limit), "--json")
    shown = capfd.readouterr()

    # The baseline alone takes 14 calls.
    assert len(server.calls) <= limit
    assert f"the limit of {limit} calls is reached" in shown.out + shown.err
    if limit == 14:
        assert (0, "baseline") == (code, json.loads(shown.out)["best"]["id"])
    else:
        assert 3 == code


@pytest.mark.parametrize("command", ["eval run", "optimize --max-iterations 1"])
def test_case_091_usage_tells_fresh_cached_and_retried_calls_apart(project, call, capfd, command):
    write_suite(project, count=2, repeats=1)
    world = support_world()
    server = project.serve(world)
    project.evaluate(limit=1)
    server.calls.clear()
    server._respond = lambda r: Status(500) if is_vain(r) else world(r)

    call(*command.split())
    shown = capfd.readouterr().out

    fresh = [call for call in server.calls if not is_vain(call)]
    vain = len(server.calls) - len(fresh)
    (usage,) = (line for line in shown.splitlines() if line.startswith("Usage"))
    assert vain
    assert usage.startswith(f"Usage    {len(fresh)} calls (")
    assert f", 7 from the cache, {vain} retries, {15 * len(fresh):,} tokens, " in usage


def is_vain(call):
    return call.nth == 1 and "Question 1?" in call.user


def test_case_091_what_a_draft_has_cost_is_said(project, call, capfd):
    server = project.serve(support_world())

    call(*"eval init -m m -g Refunds. --max-samples 3 --no-prompt".split())

    calls = len(server.calls)
    assert f"Usage:      {calls} calls ({calls} generator)" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("criterion", "evaluators"),
    [
        ({"name": "kind", "instruction": "Be kind", "check": {"contains": "done"}}, ""),
        (None, "[ExactMatch]"),
        (None, "[Citations, PartialMatch]"),
    ],
    ids=["checks", "comparison", "counts"],
)
def test_what_needs_no_judge_needs_no_key_of_one(project, criterion, evaluators):
    row = make_row("t", "Hi?", groundTruth="done [1]") | {
        "criteria": [criterion] if criterion else []
    }
    project.write_suite(
        tasks=write_rows([row]),
        agent="{name: a, kind: python, callable: 'agent.py:respond'}",
        evaluators=evaluators or "[builtin.task_adherence]",
        options="{eval_model: gpt-4.1-mini}",
    )
    project.write("agent.py", "def respond(prompt):\n    return 'done [1]'\n")

    done = project("eval", "run", "--json", "--no-gate")

    assert 0 == done.code, done.output
    assert ({}, 0) == (done.json["models"], done.json["tasks"]["errored"])
