"""Many things at once, and one after the other in one process: nothing meets, nothing is mixed."""

import asyncio
import random
import re
import threading

import pytest

import azd_eval
from azd_eval.errors import InputError
from tests.fake_openai import Status
from tests.personas import support_world
from tests.reliability.projects import make_row, write_rows

FILE = "instructions_file: instructions.md"
MODEL = f"{{name: my-agent, {FILE}}}"
PYTHON = f"{{name: my-agent, kind: python, callable: 'agent.py:respond', {FILE}}}"

# Bound to the loop in which it is first waited for.
BOUND_AGENT = """\
import asyncio

gate = asyncio.Semaphore(1)

async def respond(prompt, instructions):
    async with gate:
        await asyncio.sleep(0.01)
    return "Good day."
"""


def in_thread(work):
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(work()))
    thread.start()
    thread.join()
    return outcome[0]


def in_loop(work):
    async def run():
        return work()

    return asyncio.run(run())


PLACES = {"plain": lambda work: work(), "thread": in_thread, "running loop": in_loop}


@pytest.mark.parametrize("agent", [PYTHON, MODEL])
def test_case_084_one_process_runs_anything_after_anything(project, agent):
    project.write_suite(agent=agent, options="{eval_model: m, concurrency: 3}")
    project.write("agent.py", BOUND_AGENT)
    server = project.serve(support_world(), latency=0.01)

    for place in (*PLACES.values(), *reversed(PLACES.values())):
        evaluated = place(lambda: project.evaluate(cache=False))
        assert (3, 0) == (evaluated.tasks.failed, evaluated.tasks.errored)
        found = place(lambda: project.optimize(cache=False, max_iterations=1))
        assert found.baseline.score is not None
    assert server.most_in_flight <= 3


def test_case_084_a_failure_leaves_nothing_behind(project):
    project.write_suite()
    server = project.serve(lambda request: Status(401))

    with pytest.raises(InputError):
        azd_eval.evaluate(project.folder / "gone.yaml")
    broken = project.evaluate()
    project.serve(support_world())
    good = project.evaluate()

    assert 3 == broken.tasks.errored + broken.tasks.skipped
    assert (3, "completed") == (good.tasks.failed, good.stop_reason)
    assert server.calls


async def test_case_084_several_at_once_in_one_loop_and_in_threads(project):
    project.write_suite(options="{eval_model: m, concurrency: 2}")
    project.serve(support_world(), latency=0.02)
    config = project.folder / "eval.yaml"

    summaries = await asyncio.gather(
        *(azd_eval.aevaluate(config, cache=False) for _ in range(3)),
        *(asyncio.to_thread(azd_eval.evaluate, config, cache=False) for _ in range(3)),
    )

    assert [(3, "completed")] * 6 == [(each.tasks.failed, each.stop_reason) for each in summaries]
    assert 6 == len({each.run_id for each in summaries})


NUMBER = re.compile(r"Question (\d+)\?")
FAULT = Status(400, {"error": {"message": "not this one"}})


class Numbered:
    """A server whose every answer repeats the number of its task, after a while of its own."""

    def __init__(self, most_s):
        self.most_s = most_s
        self.random = random.Random(1)
        self.server = None

    def __call__(self, request):
        self.server.latency = self.random.uniform(0, self.most_s)
        number = NUMBER.search(request.user)[1]
        if request.schema_name is None:
            return FAULT if number == "13" else f"Reply {number}."
        verdict = {"reason": f"reason {number}", "score": int(number) % 2}
        if number == "17":
            return FAULT
        listed = re.findall(r"^(\d+)\. ", request.user, re.MULTILINE)
        batch = {"verdicts": [{"number": int(one), **verdict} for one in listed]}
        return batch if request.schema_name == "verdicts" else verdict


RUBRIC_TOO = "[builtin.task_adherence, quality.yaml]"


@pytest.mark.parametrize(
    ("judge", "evaluators", "repeats"),
    [
        ("independent", "[builtin.task_adherence]", 1),
        ("independent", RUBRIC_TOO, 1),
        ("batched", RUBRIC_TOO, 1),
        ("independent", "[builtin.task_adherence]", 2),
    ],
)
def test_case_086_every_result_has_its_own_number(project, judge, evaluators, repeats):
    rows = [make_row(f"task_{n}", f"Question {n}?", "right", "short") for n in range(60)]
    project.write_suite(
        tasks=write_rows(rows),
        evaluators=evaluators,
        options=f"{{eval_model: m, concurrency: 50, judge: {judge}, repeats: {repeats}}}",
    )
    numbered = Numbered(0.05)
    numbered.server = project.serve(numbered)

    summary = project.evaluate()

    assert [row["name"] for row in rows] == [result.name for result in summary.results]
    assert (28, 30, 2) == (summary.tasks.passed, summary.tasks.failed, summary.tasks.errored)
    for name, trial in project.trials(summary.run_dir).items():
        number = name.removeprefix("task_")
        (turn,) = trial["turns"]
        if number == "13":
            assert (None, "errored") == (turn["reply"], trial["status"])
            continue
        assert f"Reply {number}." == turn["reply"]
        verdicts = [verdict for score in turn["scores"] for verdict in score["verdicts"]]
        if number == "17":
            assert {"unusable"} == {verdict["verdict"] for verdict in verdicts}
        else:
            assert {f"reason {number}"} == {verdict["reason"] for verdict in verdicts}
            assert {"met" if int(number) % 2 else "unmet"} == {v["verdict"] for v in verdicts}
    html = (project.folder / summary.run_dir / "report.html").read_text(encoding="utf-8")
    # What did not pass stands first; there and below, the order is that of the dataset.
    for status in ("failed", "passed"):
        group = re.findall(rf'<details class="task {status}.*?Question (\d+)\?', html, re.DOTALL)
        assert sorted(map(int, group)) == list(map(int, group))


def test_case_086_turns_of_one_task_stay_in_order(project):
    turns = [{"prompt": f"Question {n}?", "criteria": make_row()["criteria"]} for n in range(3)]
    rows = [{"name": f"task_{n}", "turns": turns, "context": f"Shop {n}"} for n in range(20)]
    project.write_suite(tasks=write_rows(rows), options="{eval_model: m, concurrency: 20}")
    seen = []

    def respond(request):
        server.latency = random.uniform(0, 0.03)
        if request.schema_name:
            return {"reason": "", "score": 1}
        seen.append(request)
        shop = re.search(r"Shop (\d+)", request.user)[1]
        return f"{shop}.{len(NUMBER.findall(request.user))}"

    server = project.serve(respond)

    summary = project.evaluate()

    assert 20 == summary.tasks.passed
    for name, trial in project.trials(summary.run_dir).items():
        shop = name.removeprefix("task_")
        assert [f"{shop}.{n}" for n in (1, 2, 3)] == [turn["reply"] for turn in trial["turns"]]
