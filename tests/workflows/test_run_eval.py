"""A whole dataset, with one candidate."""

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from azd_eval.domain.score import Trial
from azd_eval.domain.tally import Tally, count_tasks, overall_score
from azd_eval.errors import ModelError
from azd_eval.evaluators.criteria import TaskAdherence
from azd_eval.executor import LocalExecutor
from azd_eval.workflows.run_eval import COMPLETED, RunJob, run_eval
from azd_eval.workflows.run_trial import Bench
from tests.factories import BASELINE, MemoryJournal, ScriptedJudge, ScriptedTarget, make_task


@dataclass
class MemoryLog:
    trials: list[Trial] = field(default_factory=list)

    def append(self, trial: Trial) -> None:
        self.trials.append(trial)


TASKS = [make_task(f"task {number}", (f"question {number}",)) for number in range(10)]


async def _run(target, tasks=TASKS, repeats=1, limit=4, on_trial=lambda trial: None):
    bench = Bench(target, [TaskAdherence(ScriptedJudge())], MemoryJournal())
    log, tally = MemoryLog(), Tally(repeats)
    job = RunJob(tasks, BASELINE, repeats)
    reason = await run_eval(job, LocalExecutor(bench.run_trial, limit), log, tally, on_trial)
    return reason, log.trials, tally


def test_trials_are_drawn_in_dataset_order_with_their_repeats():
    specs = list(RunJob(TASKS[:2], BASELINE, repeats=2).specs())

    assert [("task 0", 0, 0), ("task 0", 1, 0), ("task 1", 0, 1), ("task 1", 1, 1)] == [
        (spec.task.name, spec.repeat, spec.index) for spec in specs
    ]


async def test_every_trial_is_kept_counted_and_reported():
    seen = []

    reason, trials, tally = await _run(ScriptedTarget(), repeats=3, on_trial=seen.append)

    assert (COMPLETED, 30, 30) == (reason, len(trials), tally.trials)
    assert trials == seen
    assert 10 == count_tasks(tally.results()).passed


async def test_results_are_in_dataset_order_whatever_finished_first():
    class Dawdling(ScriptedTarget):
        async def respond(self, request):
            for _ in range(random.Random(request.prompt).randrange(20)):
                await asyncio.sleep(0)
            return await super().respond(request)

    _, trials, tally = await _run(Dawdling(), limit=10)

    finished = [trial.task for trial in trials]
    assert finished != sorted(finished)
    assert [task.name for task in TASKS] == [result.name for result in tally.results()]


async def test_an_error_of_one_task_stops_nothing():
    def respond(request):
        failing = request.prompt == "question 3"
        return ModelError("blocked", code="content_filter") if failing else "Good day."

    reason, _, tally = await _run(ScriptedTarget(respond))

    counts = count_tasks(tally.results())
    assert (COMPLETED, 9, 1) == (reason, counts.passed, counts.errored)
    assert 1.0 == overall_score(tally.results())[0]


@pytest.mark.parametrize("limit", [1, 4, 100])
async def test_an_error_that_meets_every_task_stops_the_run_and_keeps_what_ended(limit):
    def respond(request):
        early = request.prompt in ("question 0", "question 1")
        return "Good day." if early else ModelError("the key is wrong", code="wrong_key")

    target = ScriptedTarget(respond)
    tasks = [*TASKS, *(make_task(f"more {number}", ("late",)) for number in range(1000))]

    reason, trials, tally = await _run(target, tasks, limit=limit)

    assert "the key is wrong" == reason
    assert len(target.history) == len(trials) == tally.trials
    assert len(trials) <= 2 + 3 + 2 * limit
    assert 2 == count_tasks(tally.results()).passed


async def test_a_prompt_that_a_gateway_forbids_does_not_stop_the_others():
    def respond(request):
        forbidden = request.prompt in ("question 0", "question 1", "question 5")
        return ModelError("forbidden", code="wrong_key") if forbidden else "Good day."

    reason, trials, tally = await _run(ScriptedTarget(respond), limit=1)

    counts = count_tasks(tally.results())
    assert (COMPLETED, 10, 7, 3) == (reason, len(trials), counts.passed, counts.errored)


@pytest.mark.parametrize("tasks", [1, 2])
async def test_an_error_that_meets_all_tasks_there_are_is_why_it_ended(tasks):
    target = ScriptedTarget(lambda request: ModelError("the key is wrong", code="wrong_key"))

    reason, trials, _ = await _run(target, TASKS[:tasks])

    assert ("the key is wrong", tasks) == (reason, len(trials))


async def test_what_ended_before_an_interruption_is_kept():
    class Stuck(ScriptedTarget):
        async def respond(self, request):
            if request.prompt == "question 5":
                await asyncio.Event().wait()
            return await super().respond(request)

    bench = Bench(Stuck(), [TaskAdherence(ScriptedJudge())], MemoryJournal())
    log, tally, nine = MemoryLog(), Tally(), asyncio.Event()
    running = asyncio.ensure_future(
        run_eval(
            RunJob(TASKS, BASELINE),
            LocalExecutor(bench.run_trial, 4),
            log,
            tally,
            lambda trial: nine.set() if tally.trials == 9 else None,
        )
    )
    await nine.wait()

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert (9, 9) == (len(log.trials), tally.trials)
