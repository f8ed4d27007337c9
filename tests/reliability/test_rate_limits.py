"""Rate limits lose no task: the workload under which other tools lost some.

100 tasks of one agent call and four judge calls each, 50 calls in flight; a share of the requests
is answered 429.
"""

import hashlib
import json

import pytest

import azd_eval
from tests.cli.shell import KEY, Shell
from tests.fake_openai import Status

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
