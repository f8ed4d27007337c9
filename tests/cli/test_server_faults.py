"""`eval run` against servers that refuse for good, ask to wait, or never come to an end."""

import json
import time

import pytest

from tests.cli.shell import connect, judge_by_name
from tests.fake_openai import Drip, FakeRequest, Status

SENTENCE = "This is what the server says"
REFUSALS = {
    "wrong key": Status(401, {"error": {"message": SENTENCE, "code": "invalid_api_key"}}),
    "forbidden": Status(403, {"error": {"message": SENTENCE}}),
    "no credit": Status(402, {"error": {"message": SENTENCE}}),
    "no quota": Status(429, {"error": {"message": SENTENCE, "code": "insufficient_quota"}}),
    "quota of a day": Status(429, {"error": {"message": SENTENCE}}, retry_after=86400),
    "no model": Status(404, {"error": {"message": SENTENCE, "code": "model_not_found"}}),
}


def write_tasks(count):
    row = {"criteria": [{"name": "a", "instruction": "is a"}, {"name": "b", "instruction": "is b"}]}
    names = (f"task_{number}" for number in range(count))
    return "".join(json.dumps({"name": name, "prompt": name, **row}) + "\n" for name in names)


@pytest.mark.parametrize(
    ("name", "fails"), [*((name, "agent") for name in REFUSALS), ("wrong key", "judge")]
)
def test_what_meets_every_call_stops_the_run_early_and_is_said_once(
    shell, fake_openai, name, fails
):
    def respond(request: FakeRequest):
        is_agent = request.schema_name is None
        return "Good day." if is_agent and fails == "judge" else REFUSALS[name]

    server = fake_openai(respond)
    shell.write_suite(tasks=write_tasks(50), options="{eval_model: m, concurrency: 5}")

    done = shell("eval", "run", **connect(server))

    assert 3 == done.code
    assert (1, 1) == (done.stdout.count(SENTENCE), done.stderr.count(SENTENCE))
    assert len(server.calls) <= 40
    assert "0 passed, 0 failed" in done.stdout
    if name == "quota of a day":
        assert "86400 s" in done.stderr


def test_a_refused_prompt_costs_its_task_only(shell, fake_openai):
    judge = judge_by_name()
    server = fake_openai(
        lambda request: REFUSALS["forbidden"] if request.user == "task_3" else judge(request)
    )
    shell.write_suite(tasks=write_tasks(6))

    done = shell("eval", "run", "--json", "--max-errors", "1", "--no-gate", **connect(server))

    assert 0 == done.code
    assert {"total": 6, "passed": 5, "failed": 0, "errored": 1, "skipped": 0} == done.json["tasks"]


def test_one_error_of_many_tasks_is_one_line(shell, fake_openai):
    judge = judge_by_name()
    fault = Status(400, {"error": {"message": SENTENCE}})
    server = fake_openai(
        lambda request: fault if request.schema_name and '"b":' in request.user else judge(request)
    )
    shell.write_suite(tasks=write_tasks(8))

    done = shell("eval", "run", **connect(server))

    assert 1 == done.stdout.count(SENTENCE)
    assert "task_0 · b [builtin.task_adherence] and 7 more: the judge failed: " in done.stdout


@pytest.mark.parametrize(("flags", "is_told"), [([], True), (["--quiet"], False)])
def test_a_long_wait_is_told_once(shell, fake_openai, flags, is_told):
    refused = []

    def respond(request: FakeRequest):
        if not refused:
            refused.append(request)
            return Status(429, {"error": {"message": SENTENCE}}, retry_after=30)
        return "Good day." if request.schema_name is None else {"reason": "", "score": 1}

    server = fake_openai(respond)
    shell.write_suite(tasks=write_tasks(3))
    running = shell.start("eval", "run", *flags, **connect(server))
    # The two others are answered and judged meanwhile.
    while len(server.calls) < 1 + 2 * 3:
        assert running.poll() is None
        time.sleep(0.02)
    running.kill()
    _, said = running.communicate()

    assert is_told == said.count(f"rate limited (429): {SENTENCE}; waiting 30 s")
    assert "\r" not in said


def test_the_time_limit_of_a_call_beats_a_slow_drip(shell, fake_openai):
    judge = judge_by_name()
    server = fake_openai(lambda request: Drip(0.2) if request.user == "task_1" else judge(request))
    shell.write_suite(tasks=write_tasks(3), options="{eval_model: m, timeout_s: 1}")

    done = shell("eval", "run", "--json", **connect(server))

    assert 3 == done.code
    assert {"total": 3, "passed": 2, "failed": 0, "errored": 1, "skipped": 0} == done.json["tasks"]
    assert done.json["duration_s"] < 20
    trials = shell.read(f"{done.json['run_dir']}/trials.jsonl").splitlines()
    errors = [json.loads(line)["turns"][0]["error"] for line in trials]
    assert ["no complete answer within 1 s"] == [error for error in errors if error]
