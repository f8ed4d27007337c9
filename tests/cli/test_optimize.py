"""`optimize`: it improves, stops for a named reason, and touches the agent only when told to."""

import json
import re
import shlex
import signal

import pytest

from tests.cli.shell import KEY, connect, count_roles, judge_by_name
from tests.cli.test_interrupt import wait_for
from tests.fake_openai import Status
from tests.personas import RULE, answer, support_world

SUMMARY = (
    "optimization_id baseline best candidates iterations evaluations stop_reason usage"
).split()
START = "Be kind. Call the user {name}.\n"


def test_it_finds_the_rule_that_only_reasons_reveal(shell, world):
    shell.write_suite(evaluators="[builtin.task_adherence, ./quality.yaml]")

    planned = shell("optimize", "--dry-run", "--json", **connect(world))
    before = len(world.calls)
    done = shell("optimize", "--config", "eval.yaml", "--json", **connect(world))

    assert (0, 0, 0) == (planned.code, before, done.code), done.stderr
    # Two looks at the baseline, six to confirm; at candidates two at first, five at last.
    looks = 2 + (3 * 2 + 3 * 3 + 3 * 4 + 5) + 6
    assert (3 * looks, 18 * looks, 10) == tuple(
        planned.json[key] for key in ("agent", "judge", "optimizer")
    )
    summary = done.json
    assert set(SUMMARY) <= set(summary)
    assert (0.0, 1.0) == (summary["baseline"]["score"], summary["best"]["score"])
    # Without noise: two looks at the baseline, one at the candidate, two fresh ones at each.
    looks = 2 + 1 + 2 * 2
    assert ("candidate_1", 1, 3 * looks) == (
        summary["best"]["id"],
        summary["iterations"],
        summary["evaluations"],
    )
    assert ("confirmed", 1.0, False) == tuple(
        summary["held_out"][key] for key in ("label", "difference", "is_unseen")
    )
    assert "nothing_left_to_fix" == summary["stop_reason"]
    assert ["baseline", "candidate_1"] == [one["id"] for one in summary["candidates"]]
    assert {"agent": 3 * looks, "judge": 18 * looks, "optimizer": 1} == count_roles(world)
    folder = f"{summary['run_dir']}/candidates"
    assert START == shell.read(f"{folder}/baseline/instructions.md")
    assert f"{START}\n{RULE}" == shell.read(f"{folder}/candidate_1/instructions.md")
    assert START == shell.read("instructions.md")
    assert summary == json.loads(shell.read(f"{summary['run_dir']}/summary.json"))
    assert "report.html" in {path.name for path in (shell.folder / summary["run_dir"]).iterdir()}
    assert KEY.encode() not in b"".join(shell.files().values())
    assert KEY not in planned.output + done.output


def test_apply_replaces_the_text_and_keeps_the_old_one(shell, world):
    shell.write_suite()

    done = shell("optimize", "my-agent", "--apply", **connect(world))

    assert 0 == done.code, done.stderr
    for text in (
        "candidate_1 ★",
        "+1.00",
        "Noise    no verdict of 6 changed between two looks",
        "Change   confirmed: +1.00 (95 % interval",
        "better by more than chance; of other questions it says nothing",
        f"+{RULE}",
        "Baseline 0.00 (95 % interval",
        "Best     candidate_1, 1.00 (95 % interval",
        "Stopped  nothing_left_to_fix: ",
        "Applied  candidate_1 to instructions.md",
    ):
        assert text in done.stdout
    assert f"{START}\n{RULE}" == shell.read("instructions.md")
    (archived,) = (shell.folder / ".agent_configs" / "archive").iterdir()
    assert START == archived.read_text(encoding="utf-8")


def test_past_optimizations_are_listed_shown_and_applied(shell, world):
    shell.write_suite()
    empty = shell("optimize", "list")
    first = shell("optimize", "--json", **connect(world)).json["optimization_id"]
    shell.write("instructions.md", f"{START}{RULE}\n")
    second = shell("optimize", "--json", **connect(world)).json["optimization_id"]

    listed, shown = shell("optimize", "list", "--json"), shell("optimize", "show", "--json")
    table, diff = shell("optimize", "list"), shell("optimize", "show", first)
    unknown = shell("optimize", "apply", "candidate_7")
    applied = shell("optimize", "apply", "baseline", "--optimization", first)

    assert (0, "no optimizations yet") == (empty.code, empty.stdout[:20])
    assert [second, first] == [one["optimization_id"] for one in listed.json["optimizations"]]
    assert (second, "baseline") == (shown.json["id"], shown.json["summary"]["best"]["id"])
    assert [second, first] == [line.split()[0] for line in table.stdout.splitlines()[1:]]
    assert "nothing_left_to_fix" in table.stdout
    assert f"+{RULE}" in diff.stdout
    assert "candidate_1 ★" in diff.stdout
    assert 2 == unknown.code
    assert "hint: candidates with instructions: baseline" in unknown.stderr
    assert 0 == applied.code, applied.stderr
    assert START == shell.read("instructions.md")
    (archived,) = (shell.folder / ".agent_configs" / "archive").iterdir()
    assert f"{START}{RULE}\n" == archived.read_text(encoding="utf-8")


def test_a_candidate_that_loses_a_placeholder_is_not_used(shell, fake_openai):
    def respond(request):
        if request.schema_name == "instructions":
            return {"rationale": "shorter", "instructions": f"Be kind {len(request.user)}."}
        return judge_by_name("redirect")(request)

    shell.write_suite()
    server = fake_openai(respond)

    done = shell("optimize", "--apply", "--json", **connect(server))

    assert (0, "no_usable_proposals") == (done.code, done.json["stop_reason"]), done.stderr
    assert "baseline" == done.json["best"]["id"]
    assert all("{name}" in one["reason"] for one in done.json["candidates"][1:])
    assert {"agent": 6, "judge": 12, "optimizer": 3} == count_roles(server)
    assert START == shell.read("instructions.md")


@pytest.mark.parametrize(
    ("flag", "stop", "most"),
    [("--max-iterations", "max_iterations", 2), ("--max-candidates", "max_iterations", 1)],
)
def test_it_stops_after_the_iterations_asked_for(shell, fake_openai, flag, stop, most):
    def respond(request):
        if request.schema_name == "instructions":
            text = f"{START}Rule {len(request.user)}."
            return {"rationale": "a rule", "instructions": text}
        return judge_by_name("redirect")(request)

    shell.write_suite()

    done = shell("optimize", flag, str(most), "--json", **connect(fake_openai(respond)))

    assert (0, stop, most) == (done.code, done.json["stop_reason"], done.json["iterations"])
    assert "baseline" == done.json["best"]["id"]
    assert [True, False, False][: 1 + most] == [one["accepted"] for one in done.json["candidates"]]


def test_it_is_the_same_from_another_folder(shell, world):
    shell.write_suite()
    shell.write("terse.md", "Be terse.\n")
    elsewhere = shell.folder.parent / "else where"
    elsewhere.mkdir()
    config = ["--config", "../my-shop/eval.yaml"]

    done = shell(
        *["optimize", *config, "--instructions-file", "../my-shop/terse.md"],
        cwd=elsewhere,
        **connect(world),
    )
    shown = shell("optimize", "show", *config, "--json", cwd=elsewhere)
    applied = shell("optimize", "apply", "candidate_1", *config, cwd=elsewhere)

    assert [0, 0, 0] == [done.code, shown.code, applied.code], done.stderr + applied.stderr
    assert f"azd-eval optimize apply candidate_1 --config {shell.folder}/eval.yaml" in done.stdout
    assert f"Results  {shell.folder}/.azure/.foundry/optimizations/" in done.stdout
    assert f"Applied candidate_1 to {shell.folder}/terse.md" in applied.stdout
    assert f"Be terse.\n\n{RULE}" == shell.read("terse.md")
    assert START == shell.read("instructions.md")


def test_inline_instructions_are_refused_before_any_call(shell, world):
    shell.write_suite(agent='{name: my-agent, instructions: "Be kind."}')

    refused = shell("optimize", "--apply", **connect(world))
    before = len(world.calls)
    plain = shell("optimize", "--json", **connect(world))
    afterwards = shell("optimize", "apply", "candidate_1")

    assert (2, 0, 0, 2) == (refused.code, before, plain.code, afterwards.code)
    for result in (refused, afterwards):
        assert "agent.instructions" in result.stderr
        assert "instructions_file" in result.stderr
    assert 1.0 == plain.json["best"]["score"]


def test_a_python_agent_is_optimized(shell, world):
    shell.write_suite(
        agent="{name: mine, kind: python, callable: 'agent.py:respond', instructions_file: i.md}"
    )
    shell.write("i.md", START)
    shell.write(
        "agent.py",
        "def respond(prompt, history, instructions):\n    return f'{instructions} {prompt}'\n",
    )
    shell.write("deaf.py", "def respond(prompt):\n    return 'no'\n")

    done = shell("optimize", "--apply", "--json", **connect(world))
    shell.write("eval.yaml", shell.read("eval.yaml").replace("agent.py", "deaf.py"))
    refused = shell("optimize", **connect(world))

    assert (0, 1.0) == (done.code, done.json["best"]["score"]), done.stderr
    assert f"{START}\n{RULE}" == shell.read("i.md")
    assert 2 == refused.code
    assert "takes no instructions" in refused.stderr


def test_without_any_config_the_built_in_dataset_serves(shell, world):
    named = shell("optimize", "-m", "m", "--max-iterations", "1", "--json", **connect(world))
    unnamed = shell("optimize", **connect(world))
    offline = shell("optimize", "--max-iterations", "2", "--json")
    plan = shell("optimize", "--dry-run", "--json")

    assert (0, 0, 0) == (named.code, unnamed.code, offline.code), named.stderr + offline.stderr
    folder = f"{named.json['run_dir']}/candidates/baseline/trials.jsonl"
    trials = [json.loads(line) for line in shell.read(folder).splitlines()]
    assert (3 * 4, 25 * 4) == (
        len(trials),
        sum(
            len(score["verdicts"])
            for trial in trials
            for turn in trial["turns"]
            for score in turn["scores"]
        ),
    )
    assert "no model is named: gpt-4.1-mini is used" in unnamed.stderr
    assert {"rules, not a language model"} == {offline.json["engine"], plan.json["engine"]}
    assert named.json["best"]["score"] > named.json["baseline"]["score"]
    assert offline.json["stop_reason"]
    assert "my-shop" == named.json["agent"]


def test_a_config_without_a_dataset_takes_the_built_in_one(shell, world):
    shell.write_suite()
    shell.write("eval.yaml", "agent: {name: a, instructions_file: instructions.md}\n")

    run = shell("eval", "run", "-m", "m", **connect(world))
    planned = shell("optimize", "-m", "m", "--dry-run", "--json", **connect(world))

    assert (2, 0) == (run.code, planned.code)
    assert "dataset_file" in run.stderr
    assert 3 == planned.json["tasks"]


def test_an_interrupted_one_is_taken_up_by_the_line_that_is_shown(shell, fake_openai):
    server = fake_openai(support_world(), latency=0.02)
    shell.write_suite(options="{eval_model: m, concurrency: 1}")

    flags = ["--no-cache", "--seed", "5", "--optimize-model", "a reviser"]
    process = shell.start("optimize", "my-agent", *flags, **connect(server))
    wait_for(lambda: len(server.calls) > 20)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    hint = re.search(r"`azd-eval (optimize --resume-run opt-[^`]+)`", err)
    assert hint, err
    done = shell(*shlex.split(hint[1]), "--json", **connect(server))
    again = shell("optimize", "--resume", "--json", **connect(server))

    assert (130, 0, 2) == (process.returncode, done.code, again.code), done.stderr
    assert ("candidate_1", 1.0) == (done.json["best"]["id"], done.json["best"]["score"])
    # Two looks at the baseline, two at the candidate, three fresh ones at each, of 9 calls.
    assert 9 * (2 + 2 + 2 * 3) + 1 == len(server.calls)
    assert "no unfinished optimization" in again.stderr


def test_it_cannot_go_on_with_other_options(shell, fake_openai):
    shell.write_suite()
    failing = fake_openai(lambda _: Status(401))
    shell("optimize", "--proposals", "3", **connect(failing))

    refused = shell("optimize", "--resume", **connect(failing))

    assert 2 == refused.code
    assert "changed since it began: proposals" in refused.stderr
    assert "hint: say again what it began with, flags too" in refused.stderr


def test_trials_that_failed_are_counted(shell, fake_openai):
    def respond(request):
        if request.schema_name is None and "30 days" not in request.system:
            return Status(400) if "refund" in request.user else answer(request)
        return support_world()(request)

    shell.write_suite()

    done = shell("optimize", "--json", **connect(fake_openai(respond)))

    assert 0 == done.code, done.stderr
    assert "trials could not be scored, and are missing; most often: 'm' at" in done.stderr
    assert done.json["notes"][-1] in done.stderr


def test_what_it_found_is_where_another_one_starts(shell, world):
    shell.write_suite()
    first = shell("optimize", "--json", **connect(world)).json

    second = shell("optimize", "--from", first["optimization_id"], "--json", **connect(world))
    unknown = shell("optimize", "--from", "opt-1", **connect(world))
    both = shell("optimize", "--from", "opt-1", "--resume", **connect(world))

    assert ("baseline", 1.0) == (second.json["best"]["id"], second.json["baseline"]["score"])
    assert [2, 2] == [unknown.code, both.code]
    assert "no optimization 'opt-1'" in unknown.stderr
    assert "does not go with `--resume`" in both.stderr


def test_only_what_is_more_than_chance_is_applied(shell, fake_openai):
    def respond(request):
        if request.schema_name == "instructions":
            return {"rationale": "a rule", "instructions": f"{START}Rule of luck.\n"}
        if request.schema_name is None:
            return f"{request.system} {request.nth}"
        lucky = re.search(r"Rule of luck\D+([1-2])\b", request.user)
        return {"reason": "by chance", "score": 1 if lucky else 0}

    shell.write_suite()

    done = shell("optimize", "--apply", "--json", **connect(fake_openai(respond))).json

    assert [True, True] == [row["accepted"] for row in done["candidates"]]
    assert "not distinguishable" == done["held_out"]["label"]
    assert done["applied_to"] is None
    assert START == shell.read("instructions.md")


def test_the_plan_says_what_it_costs_and_holds_out(shell, world):
    rows = [
        {"name": f"t{n}", "prompt": f"Q{n}?", "criteria": [{"name": "c", "instruction": "C"}]}
        for n in range(10)
    ]
    shell.write_suite(tasks="".join(json.dumps(row) + "\n" for row in rows))
    price = "models: {m: {price: {input: 1, output: 2}}}\n"
    shell.write("eval.yaml", shell.read("eval.yaml") + price)
    shell.write("unseen.jsonl", json.dumps({**rows[0], "name": "new", "prompt": "Other?"}) + "\n")

    planned = shell("optimize", "--dry-run", "--json", **connect(world)).json
    told = shell("optimize", "--max-iterations", "1", **connect(world))
    none = shell("optimize", "--dry-run", "--json", "--hold-out", "0", **connect(world)).json
    shell.write("eval.yaml", shell.read("eval.yaml") + "validation_dataset: unseen.jsonl\n")
    own = shell("optimize", "--dry-run", "--json", **connect(world)).json
    shell.write("unseen.jsonl", shell.read("unseen.jsonl") + shell.read("tasks.jsonl"))
    noted = shell("optimize", "--dry-run", "--hold-out", "0.3", **connect(world))

    assert [(10, 3), (10, 0), (11, 1)] == [
        (p["tasks"], p["held_out"]) for p in (planned, none, own)
    ]
    assert "`hold_out` is not used: `validation_dataset` names the tasks held out" in noted.stderr
    assert "10 of the 11 tasks of `validation_dataset` are tasks of the dataset" in noted.stderr
    # Two looks at seven tasks, one at four candidates, two at six, six to confirm all.
    assert 7 * (2 + 4 + 2 * 6 + 6) + 3 * 6 == planned["agent"]
    assert planned["cost"] > 0
    plan = r"1 iteration, at most \d+ agent calls, \d+ judge calls and 1 optimizer call"
    more = r", if none has to be repeated, about [\d.]+ at the prices given; 3 tasks held out"
    assert re.search(plan + more, told.stderr)
