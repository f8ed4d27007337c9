"""Limits of a run: never exceeded, what was begun is ended, results are kept, the reason named."""

import hashlib

import pytest

import azd_eval
from tests.fake_openai import Disconnect, FakeReply, Hang, Status
from tests.personas import support_world
from tests.shop import NAMES, PYTHON, write_tasks

MANY = tuple(f"task_{number}" for number in range(40))
PRICE = "models: {a: {price: {input: 1, output: 1}}, m: {price: {input: 1, output: 1}}}\n"
HANGING = f"""\
import asyncio

async def respond(prompt):
    if {NAMES[1]!r} in prompt:
        await asyncio.Event().wait()
    return "Refunds take 30 days."
"""


class Shaky:
    """A world where each request may first meet a fault, and the temperature is refused."""

    def __init__(self, world):
        self.world = world

    def __call__(self, request):
        if "temperature" in request.body:
            message = "Unsupported parameter: 'temperature'"
            return Status(400, {"error": {"message": message, "param": "temperature"}})
        drawn = hashlib.sha256(f"{request.user}{request.nth}".encode()).digest()[0]
        if drawn < 40 and request.nth < 4:
            return (Status(429, retry_after=0.01), Status(500), Disconnect())[drawn % 3]
        return self.world(request)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("limit", [1, 2, 7, 30, 60, 79, 80, 1000])
def test_calls_are_never_exceeded_and_what_is_begun_is_ended(shop, limit, cache):
    shop.shell.write("tasks.jsonl", write_tasks(MANY))

    summary = shop.start(max_calls=limit, concurrency=20, cache=cache)

    assert min(limit, 80) == len(shop.server.calls) == summary.usage.calls
    assert min(limit // 2, 40) == summary.tasks.passed == summary.trials
    if limit < 80:
        assert f"the limit of {limit} calls is reached" == summary.stop_reason
        assert 40 - limit // 2 == summary.tasks.skipped
        assert not summary.gate.passed
    else:
        assert "completed" == summary.stop_reason


@pytest.mark.parametrize("limit", [5, 33, 60])
def test_tries_in_vain_count_as_calls(shop, world, limit):
    shop.server._respond = Shaky(world)
    shop.shell.write("tasks.jsonl", write_tasks(MANY))

    summary = shop.start(max_calls=limit, concurrency=20)

    assert limit == len(shop.server.calls)
    assert summary.usage.calls + summary.usage.retries <= limit
    assert f"the limit of {limit} calls is reached" == summary.stop_reason
    assert 0 == summary.tasks.errored


def test_what_is_left_is_done_within_further_limits(shop, world):
    shop.server._respond = Shaky(world)
    shop.shell.write("tasks.jsonl", write_tasks(MANY[:16]))
    summary = shop.start(max_calls=15, concurrency=20)

    for _ in range(20):
        before = len(shop.server.calls)
        if summary.stop_reason == "completed":
            break
        summary = shop.resume(max_calls=15, concurrency=20)
        assert len(shop.server.calls) - before <= 15

    assert (16, "completed") == (summary.tasks.passed, summary.stop_reason)
    # Replies and verdicts of trials that a limit cut short are on disk, too.
    failed = sum(not _is_good(call, world) for call in shop.server.calls)
    assert 32 + failed == len(shop.server.calls)


def _is_good(call, world):
    return isinstance(Shaky(world)(call), str | dict)


def test_the_calls_of_a_python_agent_count_too(shop):
    shop.change("eval.yaml", shop.shell.read("eval.yaml").splitlines()[0], f"agent: {PYTHON}")

    summary = shop.start(max_calls=7, concurrency=6)

    asked = shop.shell.read("asked.txt").count("\n")
    assert 7 == asked + len(shop.server.calls) == summary.usage.calls
    assert 3 == summary.tasks.passed


def test_cached_answers_are_free(shop):
    shop.start()

    again = shop.start(max_calls=1, concurrency=20)

    assert ("completed", 6) == (again.stop_reason, again.tasks.passed)
    assert (0, 12, 0) == (again.usage.calls, again.usage.cached_calls, again.usage.retries)


def test_usage_tells_fresh_cached_and_retried_calls_apart(shop, world):
    shop.start(limit=2)
    shop.server._respond = lambda request: (
        Status(429, retry_after=0.01) if request.nth == 1 else world(request)
    )

    usage = shop.start(limit=4).usage

    assert (4, 4, 4) == (usage.calls, usage.cached_calls, usage.retries)
    assert {"agent": 2, "judge": 2} == usage.calls_by_role
    assert (40, 20) == (usage.input_tokens, usage.output_tokens)


@pytest.mark.parametrize(
    ("limits", "reason", "passed"),
    [
        ({"max_tokens": 60}, "the limit of 60 tokens is reached", 2),
        ({"max_cost": 60e-6}, "the limit of 6e-05 in cost is reached", 2),
        ({"max_time_s": 1e-9}, "the limit of 1e-09 s is reached", 0),
    ],
)
def test_what_is_known_only_afterwards_ends_a_run_too(shop, limits, reason, passed):
    shop.shell.write("eval.yaml", shop.shell.read("eval.yaml") + PRICE)

    summary = shop.start(**limits)

    # A call takes 15 tokens here.
    assert 2 * passed == len(shop.server.calls)
    assert (reason, passed) == (summary.stop_reason, summary.tasks.passed)
    assert len(NAMES) - passed == summary.tasks.skipped


@pytest.mark.parametrize("who_hangs", ["agent", "judge", "python agent"])
def test_a_call_that_hangs_does_not_outlast_the_limit_of_time(shop, world, monkeypatch, who_hangs):
    monkeypatch.setattr("azd_eval.providers.budget.GRACE_S", 0.5)
    if who_hangs == "python agent":
        shop.change("eval.yaml", shop.shell.read("eval.yaml").splitlines()[0], f"agent: {PYTHON}")
        shop.shell.write("agent.py", HANGING)
    else:
        hangs = {"agent": None, "judge": "verdict"}[who_hangs]
        shop.server._respond = lambda request: (
            Hang()
            if (hangs, True) == (request.schema_name, NAMES[1] in request.user)
            else world(request)
        )

    summary = shop.start(max_time_s=1, concurrency=6)

    tasks = summary.tasks
    assert "the limit of 1 s is reached" == summary.stop_reason
    # How many of the others end in time is up to the machine.
    assert (0, len(NAMES)) == (tasks.errored, tasks.passed + tasks.skipped)
    assert tasks.skipped
    assert summary.duration_s < 60


def test_a_reply_of_unknown_size_counts_as_none(shop, world):
    shop.server._respond = lambda request: (
        FakeReply("Good day.", usage=None) if request.schema_name is None else world(request)
    )

    summary = shop.start(max_tokens=30)

    assert "the limit of 30 tokens is reached" == summary.stop_reason
    assert 2 == summary.tasks.passed


@pytest.mark.parametrize("limit", [9, 12, 18, 40, 70])
def test_an_optimization_keeps_to_the_limit_too(shop, limit):
    shop.server._respond = support_world()
    shop.shell.write("tasks.jsonl", write_tasks(NAMES[:3]))

    summary = azd_eval.optimize(shop.shell.folder / "eval.yaml", max_calls=limit, max_iterations=5)

    # A look is of six calls, the revision is one; two looks at the baseline, two at the
    # candidate, three fresh ones at each.
    found, confirmed = 1 + 6 * (2 + 2), 1 + 6 * (2 + 2 + 2 * 3)
    assert min(limit, confirmed) == len(shop.server.calls)
    assert ("candidate_1" if limit >= found else "baseline") == summary.best_id
    assert (limit >= confirmed) is (summary.held_out is not None)
    assert limit >= found or f"the limit of {limit} calls is reached" == summary.stop_message
