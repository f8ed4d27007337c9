"""Rate limits lose no task, and what is no rate limit is not waited for.

The workload under which other tools lost tasks: 100 tasks of one agent call and four judge calls
each, 50 calls in flight; a share of the requests is answered 429.
"""

import hashlib
import json
import re
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

import azd_eval
from tests.cli.shell import KEY, Shell, connect, count_roles, judge_by_name
from tests.fake_openai import Status
from tests.reliability.projects import make_rows, write_rows

TASKS = 100
CRITERIA = ("right", "short", "kind", "complete")
SLOW = pytest.mark.slow


def write_tasks():
    criteria = [{"name": name, "instruction": f"Is {name}"} for name in CRITERIA]
    rows = (
        {"name": f"task_{number}", "prompt": f"Number {number}?", "criteria": criteria}
        for number in range(TASKS)
    )
    return "".join(json.dumps(row) + "\n" for row in rows)


def limit_rate(share, retry_after):
    """Make the `respond` of a server that refuses a share of all requests, drawn by their text."""

    def respond(request):
        drawn = hashlib.sha256(f"{request.system}{request.user}{request.nth}".encode()).digest()
        if int.from_bytes(drawn[:2]) < share * 2**16:
            return Status(429, {"error": {"message": "slow down"}}, retry_after=retry_after)
        return "Good day." if request.schema_name is None else {"reason": "it is", "score": 1}

    return respond


@pytest.mark.parametrize(
    ("share", "retry_after"),
    [
        (0.05, 0.02),
        (0.2, 0.02),
        pytest.param(0.05, 1, marks=SLOW),
        pytest.param(0.2, 1, marks=SLOW),
    ],
)
def test_no_task_is_lost(fake_openai, monkeypatch, tmp_path, share, retry_after):
    shell = Shell(tmp_path)
    shell.write_suite(tasks=write_tasks())
    server = fake_openai(limit_rate(share, retry_after))
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    summary = azd_eval.evaluate(concurrency=50)

    assert (TASKS, 0, "completed") == (
        summary.tasks.passed,
        summary.tasks.errored,
        summary.stop_reason,
    )
    assert 5 * TASKS == summary.usage.calls
    refused = len(server.calls) - 5 * TASKS
    assert refused == summary.usage.retries > 0


def in_date(seconds):
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def slow_down(message="slow down", status=429, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Status(status, {"error": {"message": message}}, headers=named)


FORMS = {
    "seconds": lambda s: slow_down(retry_after=str(s)),
    "fraction": lambda s: slow_down(retry_after=f"{s}.0"),
    "milliseconds": lambda s: slow_down(retry_after_ms=str(1000 * s)),
    "azure": lambda s: slow_down(x_ms_retry_after_ms=str(1000 * s)),
    # A date has no fractions: it may be up to a second earlier.
    "date": lambda s: slow_down(retry_after=in_date(s + 1)),
    "reset": lambda s: slow_down(x_ratelimit_reset_requests=f"{s}s"),
    "tokens used up": lambda s: slow_down(
        x_ratelimit_remaining_tokens="0",
        x_ratelimit_reset_tokens=f"{s}s",
        x_ratelimit_remaining_requests="9",
        x_ratelimit_reset_requests="60s",
    ),
    "words": lambda s: slow_down(f"Rate limit reached. Please try again in {s}s."),
    "503": lambda s: slow_down(status=503, retry_after=str(s)),
}


@pytest.mark.parametrize("role", ["agent", "judge"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_case_072_waits_as_long_as_it_is_asked_to(project, form, role):
    project.write_suite(tasks=write_rows(make_rows(1)))

    def respond(request):
        is_refused = (request.schema_name is None) == (role == "agent") and request.nth == 1
        return form(1) if is_refused else judge_by_name()(request)

    server = project.serve(respond)

    summary = project.evaluate()

    assert (1, 1, 2) == (summary.tasks.passed, summary.usage.retries, summary.usage.calls)
    first, second = (
        call for call in server.calls if (call.schema_name is None) == (role == "agent")
    )
    assert 1 <= second.time - first.time < 20


def test_case_072_others_slow_down_too(project):
    project.write_suite(tasks=write_rows(make_rows(12)), options="{eval_model: m, concurrency: 2}")

    def respond(request):
        is_first = request.schema_name is None and request.nth == 1
        return slow_down(retry_after="1") if is_first else judge_by_name()(request)

    # Of two calls in flight, both are refused at first; nobody begins another in that second.
    server = project.serve(lambda r: respond(r) if "0?" in r.user or "1?" in r.user else judge(r))
    judge = judge_by_name()

    assert 12 == project.evaluate().tasks.passed
    times = sorted(call.time for call in server.calls)
    assert times[2] - times[1] >= 1


@pytest.mark.parametrize("role", ["agent", "judge"])
def test_case_072_the_last_refusal_is_an_error_and_nothing_to_judge(project, role):
    project.write_suite(tasks=write_rows(make_rows(3)), options="{eval_model: m, timeout_s: 0.6}")
    refused = slow_down("SLOW", retry_after="0.2")
    judge = judge_by_name()
    server = project.serve(
        lambda r: refused if (r.schema_name is None) == (role == "agent") else judge(r)
    )

    summary = project.evaluate()

    assert (3, None) == (summary.tasks.errored, summary.score)
    assert ("judge" in count_roles(server)) is (role == "judge")
    for trial in project.trials(summary.run_dir).values():
        (turn,) = trial["turns"]
        if role == "agent":
            assert ("rate_limited", None) == (turn["error_code"], turn["reply"])
            assert "SLOW" in turn["error"]
        else:
            (verdict,) = turn["scores"][0]["verdicts"]
            assert ("unusable", True) == (verdict["verdict"], "SLOW" in verdict["reason"])


def spent(message, status=429, **fields):
    return Status(status, {"error": {"message": message, **fields}})


SPENT = {
    "openai": spent("You exceeded your current quota", code="insufficient_quota"),
    "openai, type": spent("You exceeded your current quota", type="insufficient_quota", code=None),
    "openai, limit": spent("Billing hard limit has been reached", 400, code="billing_hard_limit"),
    "payment": spent("Payment Required", 402),
    "deepseek": spent("Insufficient Balance", 402),
    "anthropic": spent("Your credit balance is too low to access the API.", 400),
    "openrouter": spent("Insufficient credits. Add more at the settings page.", 402, code=402),
    "openrouter, key": spent("Key limit exceeded (total limit).", 403, code=403),
    "xai": spent("Your team has run out of credits or reached its spending limit.", 429),
    "xai, new": spent("Your newly created team doesn't have any credits yet.", 403),
    "moonshot": spent("Your account is suspended", 429, type="exceeded_current_quota_error"),
    "groq": spent("Rate limit reached on tokens per day (TPD). Please try again in 7h12m3s."),
    "gemini": Status(429, {"error": {"message": "You exceeded your current quota"}}),
    "azure": spent("Quota exceeded. Please retry after 86400 seconds."),
    "header": slow_down(retry_after="86400"),
    "in a 200": Status(200, {"error": {"message": "Insufficient credits", "code": 402}}),
}


@pytest.mark.parametrize("fault", SPENT.values(), ids=SPENT)
def test_case_074_without_credit_a_run_stops_after_a_few_calls(project, fault):
    project.write_suite(tasks=write_rows(make_rows(50)), options="{eval_model: m, concurrency: 4}")
    judge = judge_by_name()
    paid = []

    def respond(request):
        paid.append(request)
        return judge(request) if len(paid) <= 20 else fault

    server = project.serve(respond)

    summary = project.evaluate()

    assert len(server.calls) <= 40
    assert 0 == summary.usage.retries
    assert "no credit or quota left" in summary.stop_reason
    assert fault.body["error"]["message"] in summary.stop_reason
    assert summary.tasks.passed >= 7
    assert summary.tasks.skipped >= 20


@pytest.mark.parametrize(
    "command", ["optimize", "eval init -m m -g Refunds. --out-file new.yaml", "eval run"]
)
@pytest.mark.parametrize("fault", [SPENT["openai"], SPENT["header"]], ids=["no credit", "a day"])
def test_case_074_each_command_says_so_once(project, command, fault):
    project.write_suite(tasks=write_rows(make_rows(30)))
    server = project.serve(lambda request: fault)

    done = project.run(server, *command.split())

    assert 3 == done.code
    assert 1 == done.stderr.count("no credit or quota left")
    assert 1 == done.stderr.count(fault.body["error"]["message"])
    assert len(server.calls) <= 30


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("seconds", [600, 86400])
def test_case_077_a_long_wait_is_an_error_at_once_with_the_time(project, form, seconds):
    project.write_suite(tasks=write_rows(make_rows(3)))
    server = project.serve(lambda request: form(seconds))
    began = time.monotonic()

    summary = project.evaluate()

    assert time.monotonic() - began < 30
    assert 3 == len(server.calls) == summary.tasks.errored
    for trial in project.trials(summary.run_dir).values():
        told = re.search(r"to wait (\d+) s", trial["turns"][0]["error"])
        assert seconds - 1 <= int(told[1]) <= seconds + 1


@pytest.mark.parametrize(
    "command", ["optimize", "eval init -m m -g Refunds. --out-file new.yaml", "eval run"]
)
def test_case_077_a_wait_that_is_kept_is_told(project, command):
    project.write_suite(tasks=write_rows(make_rows(1)))
    server = project.serve(lambda request: slow_down("SLOW", retry_after="30"))

    running = project.start(*command.split(), **connect(server))
    told = ""
    while "SLOW" not in told:
        told = running.stderr.readline()
        assert told
    running.kill()
    running.communicate()

    assert told.endswith("rate limited (429): SLOW; waiting 30 s\n")
