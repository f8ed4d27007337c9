"""`eval run`: what it asks, what it says, what it leaves behind, and how it ends."""

import json

import pytest

from tests.cli.shell import KEY, connect, count_roles, judge_by_name
from tests.fake_openai import Status

SUMMARY = (
    "run_id name created_at agent config dataset evaluators models tasks score "
    "score_errors_as_zero interval criteria categories usage gate stop_reason duration_s"
).split()


def write_tasks(**criteria_of):
    return "".join(
        json.dumps(
            {
                "name": name,
                "prompt": f"About {name}?",
                "criteria": [{"name": one, "instruction": f"Is {one}"} for one in names],
            }
        )
        + "\n"
        for name, names in criteria_of.items()
    )


def test_three_tasks_of_two_criteria_take_three_and_six_calls(shell, world):
    shell.write_suite()

    first = shell("eval", "run", "--json", **connect(world))
    again = shell("eval", "run", "--json", **connect(world))
    counts = [count_roles(world)]
    anew = shell("eval", "run", "--json", "--no-cache", **connect(world))

    assert [1, 1, 1] == [first.code, again.code, anew.code], first.stderr
    assert [{"agent": 3, "judge": 6}] == counts
    assert 18 == len(world.calls)
    summary = first.json
    assert set(SUMMARY) <= set(summary)
    assert {"total": 3, "passed": 0, "failed": 3, "errored": 0, "skipped": 0} == summary["tasks"]
    assert (0.0, 0.0) == (summary["score"], summary["score_errors_as_zero"])
    assert 0.0 == summary["interval"][0] < summary["interval"][1] < 1
    assert ["agent", "judge"] == list(summary["models"])
    assert "completed" == summary["stop_reason"]
    assert not summary["gate"]["passed"]
    assert [9, 9] == [again.json["usage"]["cached_calls"], anew.json["usage"]["calls"]]
    stored = json.loads(shell.read(f"{summary['run_dir']}/summary.json"))
    assert summary == stored


def test_a_rubric_of_four_dimensions_takes_eighteen_calls_of_the_judge(shell, world):
    shell.write_suite(evaluators="[builtin.task_adherence, ./quality.yaml]")

    planned = shell("eval", "run", "--dry-run", "--json", **connect(world))
    before = len(world.calls)
    done = shell("eval", "run", "--json", **connect(world))

    assert (0, 0) == (planned.code, before)
    assert (3, 18, 21) == tuple(planned.json[key] for key in ("agent", "judge", "total"))
    assert {"agent": 3, "judge": 18} == count_roles(world)
    assert ["builtin.task_adherence", "quality"] == done.json["evaluators"]
    assert 2 + 2 + 2 + 4 == len(done.json["criteria"])


def test_the_arithmetic_of_the_specification(shell, fake_openai):
    server = fake_openai(judge_by_name("c_4", "c_5", "c_6"))
    three_of_four = write_tasks(one=["c_1", "c_2", "c_3", "c_4"])
    two_of_three = write_tasks(one=["c_1", "c_2"], two=["c_3"], three=["c_5", "c_6"])

    def score(tasks):
        shell.write_suite(tasks=tasks)
        return shell("eval", "run", "--json", **connect(server)).json["score"]

    assert [0.75, 0.67] == [round(score(tasks), 2) for tasks in (three_of_four, two_of_three)]


def test_the_screen_shows_score_tasks_and_reasons(shell, fake_openai):
    shell.write_suite()
    server = fake_openai(judge_by_name("polite_tone"))

    shown = shell("eval", "run", **connect(server))

    assert 1 == shown.code
    for text in (
        "Score    0.83 (95 % interval",
        "refund_policy",
        "polite_tone",
        "the score is 0",
        "Tasks    3: 2 passed, 1 failed, 0 errored, 0 skipped",
        "Verdicts 5 met, 1 unmet",
        "9 calls (3 agent, 6 judge)",
        "Gate     missed: 1 of 3 tasks did not pass",
    ):
        assert text in shown.stdout


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (["--fail-under", "0.8"], 0),
        (["--fail-under", "84%"], 1),
        (["--no-gate"], 0),
        (["--task", "o*"], 0),
        (["--fail-under", "70"], 2),
        (["--fail-under", "good"], 2),
        (["--max-errors", "-1"], 2),
    ],
)
def test_the_gate_decides_the_exit_code(shell, fake_openai, flags, code):
    shell.write_suite()
    server = fake_openai(judge_by_name("polite_tone"))

    result = shell("eval", "run", "--json", *flags, **connect(server))

    assert code == result.code, result.stderr
    if code == 2:
        assert ("", []) == (result.stdout, server.calls)
        assert flags[0] in result.stderr
    elif flags != ["--no-gate"]:
        assert (code == 0) is result.json["gate"]["passed"]


def test_tasks_are_chosen_by_name_category_and_number(shell, world):
    tasks = "".join(
        json.dumps(
            {
                "name": f"{category}_{number}",
                "prompt": f"{category} {number}?",
                "category": category,
                "criteria": [{"name": "right", "instruction": "Is right"}],
            }
        )
        + "\n"
        for category in ("refunds", "repairs")
        for number in range(3)
    )
    shell.write_suite(tasks=tasks)

    def run(*flags):
        result = shell("eval", "run", "--json", *flags, **connect(world))
        return result.json["tasks"]["total"], result.json["trials"]

    assert (4, 4) == run("--task", "*_1", "--task", "refunds_*")
    assert (3, 3) == run("--category", "repairs")
    assert (6, 6) == run("--category", "repairs", "--category", "refunds")
    assert (2, 6) == run("--task", "re*", "--limit", "2", "--repeat", "3")


def test_a_filter_that_nothing_fits_names_the_closest(shell, world):
    shell.write_suite()

    by_name = shell("eval", "run", "--task", "refund_polizy", **connect(world))
    by_category = shell("eval", "run", "--category", "returns", **connect(world))

    assert [2, 2] == [by_name.code, by_category.code]
    assert "error: no task matches `--task refund_polizy`" in by_name.stderr
    assert "hint: did you mean 'refund_policy'?" in by_name.stderr
    assert "--category returns" in by_category.stderr
    assert [] == world.calls


def test_calls_in_flight_are_bounded(shell, fake_openai):
    names = {f"task_{number}": ["right", "kind", "brief"] for number in range(8)}
    shell.write_suite(tasks=write_tasks(**names))
    server = fake_openai(judge_by_name(), latency=0.03)

    result = shell("eval", "run", "--concurrency", "3", "--json", **connect(server))

    assert (0, 32) == (result.code, len(server.calls))
    assert 3 == server.most_in_flight


def test_everything_of_a_run_is_kept_but_the_key(shell, fake_openai):
    shell.write_suite()
    server = fake_openai(judge_by_name("redirect", reply="Good day, [bold]you[/bold]."))

    result = shell("eval", "run", "--name", "nightly", "--json", **connect(server))

    folder = shell.folder / result.json["run_dir"]
    names = [
        ".lock",
        "journal.jsonl",
        "manifest.json",
        "report.html",
        "summary.json",
        "trials.jsonl",
    ]
    assert names == sorted(path.name for path in folder.iterdir())
    lines = (folder / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    trials = [json.loads(line) for line in lines]
    assert {"refund_policy", "order_status", "out_of_scope"} == {one["task"] for one in trials}
    (trial,) = [one for one in trials if one["task"] == "out_of_scope"]
    (turn,) = trial["turns"]
    (score,) = turn["scores"]
    assert ("failed", 0.5, 0) == (trial["status"], trial["score"], trial["repeat"])
    assert {"prompt", "reply", "error", "latency_ms", "tokens", "scores"} <= set(turn)
    assert "Good day, [bold]you[/bold]." == turn["reply"]
    assert {"evaluator", "score", "passed", "native", "verdicts"} <= set(score)
    assert [("polite_decline", "met"), ("redirect", "unmet")] == [
        (one["criterion"], one["verdict"]) for one in score["verdicts"]
    ]
    assert all(one["reason"] for one in score["verdicts"])
    journal = (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line)["event"] for line in journal]
    assert (3, 6) == (events.count("reply"), events.count("verdict"))
    assert "nightly" == json.loads((folder / "manifest.json").read_bytes())["settings"]["name"]
    assert KEY not in result.output
    assert [] == [name for name, data in shell.files().items() if KEY.encode() in data]
    assert "runs/" in shell.read(".azure/.foundry/.gitignore")


def test_flags_win_over_the_config(shell, fake_openai):
    shell.write_suite(options="{eval_model: m, concurrency: 2}")
    shell.write("other.jsonl", write_tasks(only=["right"]))
    shell.write("terse.md", "Be terse.")
    shell.write("elsewhere/eval.yaml", "agent: {name: e}\ndataset_file: ../tasks.jsonl\n")
    server = fake_openai(judge_by_name())
    flags = "--dataset other.jsonl --instructions-file terse.md --model agent-m --eval-model j"

    result = shell(
        *f"eval run --config eval.yaml {flags} --run-dir out --json".split(), **connect(server)
    )
    elsewhere = shell(
        *"eval run --cwd elsewhere -m j --instructions-file ../terse.md --json".split(),
        **connect(server),
    )

    assert (0, 0) == (result.code, elsewhere.code), result.stderr + elsewhere.stderr
    assert {"agent": "agent-m", "judge": "j"} == result.json["models"]
    assert (1, 3) == (result.json["tasks"]["total"], elsewhere.json["tasks"]["total"])
    assert {"agent-m", "j"} == {call.model for call in server.calls}
    assert {"Be terse."} == {call.system for call in server.calls if call.schema_name is None}
    assert [result.json["run_id"]] == [path.name for path in (shell.folder / "out").iterdir()]
    assert (shell.folder / "elsewhere" / elsewhere.json["run_dir"]).is_dir()


def test_a_python_function_is_an_agent(shell, fake_openai):
    agent = "{name: mine, kind: python, callable: agent.py:respond}"
    shell.write_suite(agent=agent)
    shell.write(
        "agent.py",
        "import asyncio\n\n\nasync def respond(prompt, history, instructions):\n"
        "    await asyncio.sleep(0)\n    print('noise')\n    return f'You said {prompt}'\n",
    )
    server = fake_openai(judge_by_name())

    result = shell("eval", "run", "--json", **connect(server))

    assert 0 == result.code, result.stderr
    assert {"judge": 6} == count_roles(server)
    assert {"agent": 3, "judge": 6} == result.json["usage"]["calls_by_role"]
    assert "You said Can you help me fix my car?" in shell.read(
        f"{result.json['run_dir']}/trials.jsonl"
    )


@pytest.mark.parametrize(
    "dataset",
    [
        "dataset: {name: seed, version: v2, local_uri: ./tasks.jsonl}",
        "dataset_reference: {name: seed, version: '2', local_uri: ./tasks.jsonl}",
        "dataset: {name: seed, version: '2'}",
    ],
)
def test_the_dataset_may_be_named_as_later_azd_does(shell, world, dataset):
    shell.write_suite()
    shell.write(".azure/.foundry/datasets/seed.v2.jsonl", shell.read("tasks.jsonl"))
    agent = "{name: my-agent, kind: prompt, instruction_file: instructions.md}"
    shell.write("eval.yaml", f"agent: {agent}\n{dataset}\noptions: {{eval_model: m}}\n")

    result = shell("eval", "run", "--json", **connect(world))

    assert 1 == result.code, result.stderr
    assert 3 == result.json["tasks"]["total"]
    assert any("the preferred key" in note for note in result.json["notes"])


@pytest.mark.parametrize(("limit", "code"), [("0", 3), ("1", 1), ("33%", 3), ("34%", 1)])
def test_errors_beyond_the_limit_are_no_measurement(shell, fake_openai, limit, code):
    shell.write_suite()

    def respond(request):
        if request.schema_name is None and "car" in request.user:
            return Status(400, {"error": {"message": "no cars, please"}})
        return judge_by_name()(request)

    result = shell("eval", "run", "--json", "--max-errors", limit, **connect(fake_openai(respond)))

    assert code == result.code, result.stderr
    assert (code == 3) is ("error: not measured: 1 of 3 trials errored" in result.stderr)
    assert {"total": 3, "passed": 2, "failed": 0, "errored": 1, "skipped": 0} == result.json[
        "tasks"
    ]
    assert (1.0, 0.667) == (
        result.json["score"],
        round(result.json["score_errors_as_zero"], 3),
    )
    assert "no cars, please" in shell.read(f"{result.json['run_dir']}/trials.jsonl")
