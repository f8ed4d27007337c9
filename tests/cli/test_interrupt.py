"""Ctrl-C: once to end in order, twice to end at once; what was measured stays."""

import json
import signal
import subprocess
import time
from collections.abc import Callable

import pexpect
import pytest

from tests.cli.shell import Shell, connect, judge_by_name
from tests.fake_openai import Hang

TASKS = "".join(
    json.dumps(
        {
            "name": f"task_{number}",
            "prompt": f"Number {number}?",
            "criteria": [{"name": "right", "instruction": "Is right"}],
        }
    )
    + "\n"
    for number in range(12)
)


def wait_for(condition: Callable[[], object]) -> None:
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came so far")


def count_trials(shell: Shell) -> int:
    paths = shell.folder.glob(".azure/.foundry/runs/*/trials.jsonl")
    return sum(path.read_bytes().count(b"\n") for path in paths)


def interrupt(process: "subprocess.Popen[str]", *, until: Callable[[], object]) -> None:
    wait_for(until)
    process.send_signal(signal.SIGINT)


def test_once_ends_in_order_and_the_rest_is_done_later(shell, fake_openai):
    shell.write_suite(tasks=TASKS, options="{eval_model: m, concurrency: 1}")
    server = fake_openai(judge_by_name(), latency=0.1)

    process = shell.start("eval", "run", "--no-cache", **connect(server))
    interrupt(process, until=lambda: count_trials(shell) >= 2)
    out, err = process.communicate(timeout=20)
    kept = count_trials(shell)
    (run,) = shell.folder.glob(".azure/.foundry/runs/*")
    stopped = json.loads((run / "summary.json").read_bytes())
    rest = shell("eval", "run", "--resume-run", run.name, "--no-cache", "--json", **connect(server))

    assert 130 == process.returncode
    assert "Traceback" not in err
    assert f"--resume-run {run.name}" in err
    assert 2 <= kept < 12
    assert kept == stopped["trials"]
    assert stopped["stop_reason"].startswith("interrupted")
    assert f"Tasks    12: {kept} passed" in out
    assert (0, 12) == (rest.code, rest.json["tasks"]["passed"]), rest.stderr
    assert 24 == len(server.calls)


@pytest.mark.parametrize("command", ["eval run", "optimize"])
def test_twice_ends_at_once(shell, fake_openai, command):
    shell.write_suite(options="{eval_model: m, concurrency: 4}")

    def respond(request):
        return Hang() if "car" in request.user else judge_by_name()(request)

    process = shell.start(*command.split(), **connect(fake_openai(respond)))
    trials = shell.folder.glob
    interrupt(
        process,
        until=lambda: 2 == sum(p.read_bytes().count(b"\n") for p in trials("**/trials.jsonl")),
    )
    wait_for(lambda: process.poll() is None)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=20)

    assert (130, "") == (process.returncode, out)
    assert time.monotonic() - began < 3
    assert "stopping" in err
    assert "Traceback" not in err
    (kept,) = trials("**/trials.jsonl")
    assert 2 == kept.read_bytes().count(b"\n")


def test_the_terminal_is_left_as_it_was(shell, fake_openai, terminal):
    shell.write_suite()
    server = fake_openai(lambda request: Hang())

    child = terminal("eval", "run", **connect(server))
    wait_for(lambda: server.calls)
    child.sendintr()
    child.expect_exact("Ctrl-C again ends at once")
    child.sendintr()
    child.expect_exact("\x1b[?25h")
    child.expect(pexpect.EOF)
    child.wait()

    assert 130 == child.exitstatus


@pytest.mark.slow
@pytest.mark.parametrize("command", ["eval run", "optimize"])
def test_calls_that_never_end_are_given_up(shell, fake_openai, command):
    shell.write_suite()
    server = fake_openai(lambda request: Hang())

    process = shell.start(*command.split(), **connect(server))
    interrupt(process, until=lambda: server.calls)
    _, err = process.communicate(timeout=30)

    assert 130 == process.returncode
    assert "error: interrupted" in err
    assert "Traceback" not in err


def test_a_draft_is_dropped_whole(shell, fake_openai):
    server = fake_openai(lambda request: Hang())

    process = shell.start("eval", "init", "-g", "Refunds.", "-m", "m", **connect(server))
    interrupt(process, until=lambda: server.calls)
    out, err = process.communicate(timeout=20)

    assert (130, "") == (process.returncode, out)
    assert "error: interrupted: nothing was written" in err
    assert [".azure/.foundry/cache/replies.sqlite"] == list(shell.files())
