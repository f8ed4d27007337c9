"""The torture test: a shaky server, a process killed again and again, and nothing lost.

The server is a process of its own; it draws its faults from a hash of the request and of how often
the request has come, so that they are the same on every machine.
"""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from azd_eval.storage.jsonl_log import read_json_lines
from tests.cli.shell import ROOT, Shell
from tests.fake_openai import Answer, Body, Disconnect, FakeRequest, Status

TASKS = 2000
CRITERIA = ("right", "short")
CONCURRENCY = 10
KILLS = 24
SEED = 3
NEEDED = TASKS * (1 + len(CRITERIA))
LOG = "CALLS_LOG"

# The share of requests that meet each fault, and the letter that logs it.
FAULTS = (
    (0.10, "l", Status(429, {"error": {"message": "slow down"}}, retry_after=0.02)),
    (0.03, "e", Status(500)),
    (0.01, "d", Disconnect()),
    (0.01, "b", Body()),
)
GOOD = "."


def draw(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32


def respond(request: FakeRequest) -> Answer:
    """Draw a fault or none, and log which; a letter is on disk before its answer is sent."""
    share = draw(f"{request.system} {request.user} {request.nth}")
    for width, letter, fault in FAULTS:
        if share < width:
            log(letter)
            return fault
        share -= width
    log(GOOD)
    if request.schema_name is None:
        return reply_to(request.user)
    (criterion,) = [name for name in CRITERIA if f'Criterion "{name}"' in request.user]
    (task,) = [word for word in request.user.split('"') if word.startswith("Number ")]
    return {"reason": f"as to {criterion}", "score": score_of(task, criterion)}


def log(letter: str) -> None:
    with open(os.environ[LOG], "ab", buffering=0) as file:
        file.write(letter.encode())


def reply_to(prompt: str) -> str:
    return f"Thank you for {prompt}"


def score_of(prompt: str, criterion: str) -> int:
    return int(draw(f"{prompt} {criterion}") < 0.9)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The base URL of the shaky server, and the log of its calls."""
    port_file, calls = tmp_path / "port", tmp_path / "calls"
    calls.touch()
    module = [sys.executable, "-m", "tests.fake_openai", "--port-file", str(port_file)]
    process = subprocess.Popen(
        [*module, "--respond", "tests.reliability.test_torture:respond"],
        cwd=ROOT,
        env={**os.environ, LOG: str(calls)},
    )
    try:
        while not (port_file.exists() and port_file.read_text()):
            time.sleep(0.01)
        yield port_file.read_text(), calls
    finally:
        process.kill()
        process.wait()


def prompt_of(number: int) -> str:
    return f"Number {number}, please"


def write_tasks() -> str:
    criteria = [{"name": name, "instruction": f"Is {name}"} for name in CRITERIA]
    rows = (
        {"name": f"task_{number}", "prompt": prompt_of(number), "criteria": criteria}
        for number in range(TASKS)
    )
    return "".join(json.dumps(row) + "\n" for row in rows)


def kill_at(process: "subprocess.Popen[str]", calls: Path, point: int, delay_s: float) -> bool:
    """Kill a process some time after the server has seen `point` calls, if it lives so long."""
    while calls.stat().st_size < point and process.poll() is None:
        time.sleep(0.002)
    time.sleep(delay_s)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nothing_is_lost_and_nothing_paid_twice(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, calls = server
    shell = Shell(tmp_path)
    shell.write_suite(tasks=write_tasks(), options=f"{{eval_model: m, concurrency: {CONCURRENCY}}}")

    def start() -> "subprocess.Popen[str]":
        has_begun = any(tmp_path.glob(".azure/.foundry/runs/*/manifest.json"))
        flags = ["--no-cache", "--quiet", "--json", *(["--resume"] if has_begun else [])]
        return shell.start("eval", "run", *flags, OPENAI_BASE_URL=url, OPENAI_API_KEY="none")

    # Where two points are close, the second kill meets a session that has only begun to read.
    luck = random.Random(SEED)
    points = sorted(luck.randrange(NEEDED) for _ in range(KILLS))
    kills = sum(kill_at(start(), calls, point, luck.uniform(0, 1)) for point in points)
    last = start()
    out, err = last.communicate()

    assert kills >= 20
    assert (1, "completed", 0) == (
        last.returncode,
        json.loads(out)["stop_reason"],
        json.loads(out)["errored_trials"],
    ), err
    (run,) = tmp_path.glob(".azure/.foundry/runs/*")
    trials = list(read_json_lines(run / "trials.jsonl"))
    assert TASKS == len(trials)
    assert dict(map(expected_result, range(TASKS))) == dict(map(read_result, trials))
    # What is on disk is never asked for again: only what was in flight at a kill is.
    answers = [each for each in read_json_lines(run / "journal.jsonl") if "task" in each]
    assert NEEDED == len(answers)
    seen = Counter(calls.read_text())
    most = NEEDED + kills * CONCURRENCY
    # `pytest -s` shows the figures that docs/reliability.md gives.
    figures = {"kills": kills, "answered": seen[GOOD], "needed": NEEDED, "most": most}
    sys.stdout.write(json.dumps({**figures, "faults": seen.total() - seen[GOOD]}) + "\n")
    assert NEEDED <= seen[GOOD] <= most
    assert {GOOD, *(letter for _, letter, _ in FAULTS)} == set(seen)


def expected_result(number: int) -> tuple[str, object]:
    prompt = prompt_of(number)
    return f"task_{number}", (reply_to(prompt), {name: score_of(prompt, name) for name in CRITERIA})


def read_result(trial: dict[str, Any]) -> tuple[str, object]:
    (turn,) = trial["turns"]
    (score,) = turn["scores"]
    outcomes = {each["criterion"]: int(each["verdict"] == "met") for each in score["verdicts"]}
    return trial["task"], (turn["reply"], outcomes)
