"""Servers that are not there, calls that never end, and people who press Ctrl-C meanwhile."""

import json
import signal
import socket
import time

import pytest

from tests.cli.shell import connect, count_roles, judge_by_name
from tests.cli.test_interrupt import count_trials, interrupt
from tests.fake_openai import Drip, Hang
from tests.personas import support_world
from tests.reliability.projects import make_rows, write_rows

PYTHON = "{name: my-agent, kind: python, callable: 'agent.py:respond'}"


@pytest.fixture
def free_port():
    """A port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return closed.getsockname()[1]


COMMANDS = {
    "run": "eval run",
    "optimize": "optimize",
    "init": "eval init -m m -g Refunds. --out-file new.yaml",
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_server_that_is_not_there_is_soon_given_up_and_named(project, free_port, command):
    project.write_suite(tasks=write_rows(make_rows(60)))
    url = f"http://127.0.0.1:{free_port}/v1"

    done = project(*command.split(), OPENAI_BASE_URL=url, OPENAI_API_KEY="k")

    assert 3 == done.code, done.output
    assert f"'m' at {url}/chat/completions: no connection: " in done.stderr
    assert "(after 3 tries)" in done.stderr
    assert "Traceback" not in done.output


def test_a_run_without_a_server_begins_few_tasks_and_goes_on_later(project, free_port):
    project.write_suite(tasks=write_rows(make_rows(60)), options="{eval_model: m, concurrency: 4}")
    project.monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{free_port}/v1")
    project.monkeypatch.setenv("OPENAI_API_KEY", "k")

    summary = project.evaluate()
    server = project.serve(port=free_port)
    later = project.run(server, "eval", "run", "--resume", "--json")

    assert "no connection: " in summary.stop_reason
    assert (60, 0, 0) == (summary.tasks.total, summary.tasks.failed, summary.usage.calls)
    assert 3 <= summary.tasks.errored <= 4
    assert summary.usage.retries <= 2 * 4
    assert (0, 60) == (later.code, later.json["tasks"]["passed"])


SLEEP = "sleep(60 if '0' in prompt else 0)"
AGENTS = {
    "thread": f"import time\ndef respond(prompt):\n    time.{SLEEP}\n    return 'Good day.'\n",
    "generator": f"import time\ndef respond(prompt):\n    time.{SLEEP}\n    yield 'Good day.'\n",
    "coroutine": "import asyncio\nasync def respond(prompt):\n"
    f"    await asyncio.{SLEEP}\n    return 'Good day.'\n",
}


def hang(fault, role):
    """Make a server that never ends its answer to one role of `task_0`."""

    def respond(request):
        is_hit = "Question 0?" in request.user and (request.schema_name is None) == (
            role == "agent"
        )
        return fault if is_hit else judge_by_name()(request)

    return respond


@pytest.mark.parametrize("fault", [Hang(), Drip(0.1)], ids=["silence", "drip"])
@pytest.mark.parametrize("role", ["agent", "judge"])
def test_case_078_one_call_never_comes_back(project, role, fault):
    project.write_suite(tasks=write_rows(make_rows(5)), options="{eval_model: m, timeout_s: 0.8}")
    project.serve(hang(fault, role))

    summary = project.evaluate()

    assert (4, 1, "completed") == (summary.tasks.passed, summary.tasks.errored, summary.stop_reason)
    (turn,) = project.trials(summary.run_dir)["task_0"]["turns"]
    if role == "agent":
        assert ("timeout", None) == (turn["error_code"], turn["reply"])
        assert "within 0.8 s" in turn["error"]
    else:
        (verdict,) = turn["scores"][0]["verdicts"]
        assert "unusable" == verdict["verdict"]
        assert "within 0.8 s" in verdict["reason"]
    html = (project.folder / summary.run_dir / "report.html").read_text(encoding="utf-8")
    assert "within 0.8 s" in html


@pytest.mark.parametrize("code", AGENTS.values(), ids=AGENTS)
def test_case_078_a_python_agent_never_comes_back(project, code):
    project.write_suite(
        tasks=write_rows(make_rows(3)), agent=PYTHON, options="{eval_model: m, timeout_s: 0.5}"
    )
    project.write("agent.py", code)
    server = project.serve()
    began = time.monotonic()

    done = project.run(server, "eval", "run", "--json")

    # The process does not wait for the thread that hangs.
    assert time.monotonic() - began < 30
    assert (3, 2, 1) == (done.code, *(done.json["tasks"][key] for key in ("passed", "errored")))
    assert (
        "gave no reply within 0.5 s"
        in project.trials(done.json["run_dir"])["task_0"]["turns"][0]["error"]
    )


def test_case_078_a_reviser_never_comes_back(project):
    project.write_suite(options="{eval_model: m, timeout_s: 0.8}")
    world = support_world()
    project.serve(lambda r: Hang() if r.schema_name == "instructions" else world(r))

    summary = project.optimize(max_iterations=2)

    assert ("baseline", 0.0) == (summary.best_id, summary.best.score)
    assert ["not usable: no complete answer within 0.8 s"] * 2 == [
        candidate.reason for candidate in summary.candidates[1:]
    ]


SLOW_AGENT = """\
import time

def respond(prompt):
    with open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    time.sleep(60 if "9" in prompt else 0.1)
    return "Good day."
"""


def read_lines(project, name):
    path = project.folder / name
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def test_case_080_what_a_python_agent_did_before_ctrl_c_is_kept(project):
    project.write_suite(
        tasks=write_rows(make_rows(8)), agent=PYTHON, options="{eval_model: m, concurrency: 1}"
    )
    project.write("agent.py", SLOW_AGENT)
    server = project.serve()

    process = project.start("eval", "run", "--json", **connect(server))
    interrupt(process, until=lambda: count_trials(project) >= 2)
    out, err = process.communicate(timeout=20)
    stopped = json.loads(out)
    rest = project.run(server, "eval", "run", "--resume", "--json")

    assert (130, 0) == (process.returncode, rest.code), rest.stderr
    assert f"--resume-run {stopped['run_id']}" in err
    assert "Traceback" not in err
    assert 2 <= stopped["tasks"]["passed"] < 8
    assert 8 == rest.json["tasks"]["passed"]
    assert sorted(row["prompt"] for row in make_rows(8)) == sorted(read_lines(project, "asked.txt"))
    assert 8 == len(server.calls)


def test_case_080_a_second_ctrl_c_does_not_wait_for_a_thread(project):
    project.write_suite(
        tasks=write_rows(make_rows(10)), agent=PYTHON, options="{eval_model: m, concurrency: 10}"
    )
    project.write("agent.py", SLOW_AGENT)
    server = project.serve()

    process = project.start("eval", "run", "--no-cache", **connect(server))
    interrupt(process, until=lambda: count_trials(project) == 9)
    while "stopping" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    (run,) = project.folder.glob(".azure/.foundry/runs/*")
    kept = [json.loads(line)["status"] for line in read_lines(project, run / "trials.jsonl")]

    assert 130 == process.returncode
    assert "Traceback" not in err
    assert ["passed"] * 9 == kept


def test_case_080_an_optimization_keeps_what_it_found(project):
    project.write_suite(options="{eval_model: m, concurrency: 1}")
    world = support_world()
    server = project.serve(world, latency=0.05)

    process = project.start("optimize", "--json", **connect(server))
    interrupt(process, until=lambda: count_roles(server).get("optimizer"))
    out, err = process.communicate(timeout=20)

    assert 130 == process.returncode
    assert "Traceback" not in err
    assert 0.0 == json.loads(out)["baseline"]["score"]
    (folder,) = project.folder.glob(".azure/.foundry/optimizations/*")
    stopped = json.loads((folder / "summary.json").read_bytes())
    assert "interrupted by Ctrl-C" == stopped["stop_message"]


@pytest.mark.parametrize(("timeout_s", "calls", "errored"), [(0.5, 4, 4), (60, 8, 0)])
def test_case_083_a_slow_item_is_sent_once(project, timeout_s, calls, errored):
    project.write_suite(
        tasks=write_rows(make_rows(4)), options=f"{{eval_model: m, timeout_s: {timeout_s}}}"
    )
    server = project.serve(latency=1)

    summary = project.evaluate()

    assert [1] * calls == [call.nth for call in server.calls]
    assert (errored, 0) == (summary.tasks.errored, summary.usage.retries)


def test_case_083_a_slow_python_agent_is_called_once(project):
    project.write_suite(
        tasks=write_rows(make_rows(10)), agent=PYTHON, options="{eval_model: m, timeout_s: 1}"
    )
    project.write("agent.py", SLOW_AGENT)
    server = project.serve()

    summary = project.evaluate(concurrency=3)

    assert (9, 1) == (summary.tasks.passed, summary.tasks.errored)
    assert sorted(row["prompt"] for row in make_rows(10)) == sorted(
        read_lines(project, "asked.txt")
    )
    assert 9 == len(server.calls)
