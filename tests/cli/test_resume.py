"""`eval run --resume`, as processes that die, meet each other and look for runs."""

import json
import re
import shlex
import signal

import pytest

from tests.cli.shell import connect, count_roles, judge_by_name
from tests.cli.test_interrupt import wait_for
from tests.fake_openai import Hang
from tests.shop import AGENT, MODEL, NAMES, PYTHON, World, write_tasks


def read_runs(shell):
    """Give the names of the tasks on disk, by run."""
    return {
        path.parent.name: [json.loads(line)["task"] for line in path.read_bytes().splitlines()]
        for path in sorted(shell.folder.glob(".azure/.foundry/runs/*/trials.jsonl"))
    }


def test_kill_9_loses_what_was_in_flight_and_nothing_else(shell, fake_openai):
    shell.write_suite(tasks=write_tasks(), options="{eval_model: m, concurrency: 2}")
    waiting = ["task_4", "task_5"]

    def respond(request):
        is_late = request.schema_name and any(name in request.user for name in waiting)
        return Hang() if is_late else judge_by_name()(request)

    server = fake_openai(respond)
    process = shell.start("eval", "run", "--no-cache", **connect(server))
    wait_for(lambda: len(server.calls) == 12)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    waiting.clear()

    rest = shell("eval", "run", "--resume", "--no-cache", "--json", **connect(server))

    assert (-signal.SIGKILL, 0) == (process.returncode, rest.code), rest.stderr
    assert 6 == rest.json["tasks"]["passed"]
    assert {"agent": 6, "judge": 6 + 2} == count_roles(server)
    assert {"calls": 2, "cached_calls": 0} == {
        key: rest.json["usage"][key] for key in ("calls", "cached_calls")
    }


def test_a_run_under_way_cannot_be_resumed(shell, fake_openai):
    shell.write_suite(tasks=write_tasks())
    server = fake_openai(lambda request: Hang())
    process = shell.start("eval", "run", **connect(server))
    wait_for(lambda: len(server.calls) == len(NAMES))

    refused = shell("eval", "run", "--resume", **connect(server))
    process.kill()
    process.communicate(timeout=20)

    assert 2 == refused.code
    assert "is under way in another process" in refused.stderr
    assert len(NAMES) == len(server.calls)


def test_runs_at_the_same_moment_share_no_folder(shell, fake_openai):
    shell.write_suite(tasks=write_tasks())
    server = fake_openai(judge_by_name(), latency=0.05)

    processes = [shell.start("eval", "run", "--json", **connect(server)) for _ in range(3)]
    summaries = [json.loads(process.communicate(timeout=60)[0]) for process in processes]

    assert [6, 6, 6] == [summary["tasks"]["passed"] for summary in summaries]
    runs = read_runs(shell)
    assert {summary["run_id"] for summary in summaries} == set(runs)
    assert [list(NAMES)] * 3 == [sorted(tasks) for tasks in runs.values()]


def test_the_last_run_of_the_config_is_taken_up(shell, fake_openai):
    shell.write_suite(tasks=write_tasks())
    shell.write("other.yaml", shell.read("eval.yaml"))
    server = fake_openai(World("judge", names=NAMES[-1:]))
    first = shell("eval", "run", "--json", **connect(server))
    other = shell("eval", "run", "--json", "--config", "other.yaml", **connect(server))

    by_default = shell("eval", "run", "--resume", "--json", **connect(server))
    from_afar = shell(
        *("eval", "run", "--resume", "--json", "--config", shell.folder.name + "/eval.yaml"),
        cwd=shell.folder.parent,
        **connect(server),
    )

    run = first.json["run_id"]
    assert [run, run] == [by_default.json["run_id"], from_afar.json["run_id"]]
    assert run != other.json["run_id"]


@pytest.mark.parametrize("wanted", ["run-none", "./nowhere"])
def test_an_unknown_run_is_an_error(shell, world, wanted):
    shell.write_suite()

    refused = shell("eval", "run", "--resume-run", wanted, **connect(world))
    nothing = shell("eval", "run", "--resume", **connect(world))

    assert (2, 2, []) == (refused.code, nothing.code, world.calls)
    assert "error: no run " in refused.stderr
    assert "error: no unfinished run of this config" in nothing.stderr


def test_a_run_kept_elsewhere_is_found_there(shell, fake_openai):
    world = World("judge", names=NAMES[-1:])
    shell.write_suite(tasks=write_tasks())
    server = fake_openai(world)
    first = shell("eval", "run", "--run-dir", "kept", "--json", **connect(server))
    world.names = ()

    rest = shell("eval", "run", "--run-dir", "kept", "--resume", "--json", **connect(server))
    run = rest.json["run_id"]
    by_id = shell("eval", "run", "--run-dir", "kept", "--resume-run", run, **connect(server))
    by_path = shell("eval", "run", "--resume-run", f"kept/{run}", **connect(server))

    assert (3, 0, 0, 0) == (first.code, rest.code, by_id.code, by_path.code)
    assert {"agent": 6, "judge": 7} == count_roles(server)


def test_a_damaged_manifest_is_no_run(shell, fake_openai):
    shell.write_suite(tasks=write_tasks())
    server = fake_openai(World("judge", names=NAMES[-1:]))
    shell("eval", "run", **connect(server))
    (run,) = read_runs(shell)
    shell.write(f".azure/.foundry/runs/{run}/manifest.json", "{")

    refused = shell("eval", "run", "--resume-run", run, **connect(server))

    assert 2 == refused.code
    assert "can be taken up again" in refused.stderr


def test_a_finished_run_is_judged_anew_when_it_is_named(shell, fake_openai):
    shell.write_suite(tasks=write_tasks(), agent=MODEL)
    server = fake_openai(World())
    first = shell("eval", "run", "--json", **connect(server))
    run = first.json["run_id"]

    finished = shell("eval", "run", "--resume", **connect(server))
    again = shell("eval", "run", "--resume-run", run, "-m", "other", "--json", **connect(server))

    assert (0, 2, 0) == (first.code, finished.code, again.code), again.stderr
    assert f"hint: `--resume-run {run}` judges the replies" in finished.stderr
    assert {"agent": 6, "judge": 12} == count_roles(server)
    assert run == again.json["run_id"]


def test_the_module_of_the_agent_may_not_change(shell, fake_openai):
    shell.write_suite(tasks=write_tasks(), agent=PYTHON.replace("agent.py", "agent"))
    shell.write("agent.py", AGENT)
    server = fake_openai(World("judge", names=NAMES[-1:]))
    shell("eval", "run", **connect(server))
    shell.write("agent.py", AGENT.replace("30", "31"))

    refused = shell("eval", "run", "--resume", **connect(server))

    assert 2 == refused.code
    assert "changed since it began: agent.callable" in refused.stderr


def test_a_limit_says_why_it_ended_and_how_to_go_on(shell, fake_openai):
    shell.write_suite(tasks=write_tasks())
    server = fake_openai(World())

    stopped = shell("eval", "run", "--max-calls", "7", "--no-gate", **connect(server))
    (run,) = read_runs(shell)
    rest = shell("eval", "run", "--resume-run", run, "--max-calls", "7", **connect(server))

    assert (3, 0) == (stopped.code, rest.code)
    assert "error: not measured: the limit of 7 calls is reached\n" in stopped.stderr
    assert f"hint: go on with `azd-eval eval run --resume-run {run} --no-gate`" in stopped.stderr
    assert "Stopped  the limit of 7 calls is reached" in stopped.stdout
    assert "Tasks    6: 3 passed, 0 failed, 0 errored, 3 skipped" in stopped.stdout
    assert "Tasks    6: 6 passed" in rest.stdout
    assert 12 == len(server.calls)


@pytest.mark.parametrize(
    "flags",
    [
        ["--limit", "3", "--repeat", "2"],
        ["--task", "task_1", "--task", "task_[24]", "--model", "other model"],
        ["-c", "eval.yaml", "--instructions-file", "of mine.md", "-m", "other", "--no-cache"],
        ["--run-dir", "kept here", "--dataset", "tasks.jsonl", "--concurrency", "1"],
        ["--cwd", ".", "--fail-under", "70%", "--max-errors", "1", "--no-gate"],
    ],
    ids=" ".join,
)
def test_the_line_that_goes_on_can_be_typed_as_it_is(shell, fake_openai, flags):
    shell.write_suite(tasks=write_tasks())
    shell.write("of mine.md", "Refunds take 30 days.")
    server = fake_openai(World())

    stopped = shell("eval", "run", *flags, "--max-calls", "3", **connect(server))
    line = re.search("`azd-eval (.*)`", stopped.stderr)[1]
    rest = shell(*shlex.split(line), "--json", **connect(server))

    (manifest,) = shell.folder.rglob("manifest.json")
    assert (3, 0) == (stopped.code, rest.code), rest.stderr
    assert manifest.parent.name == rest.json["run_id"]
    assert (3 if "3" in flags or "--task" in flags else 6) == rest.json["tasks"]["passed"]
