"""The calls of a run, counted before it starts, and what it then really makes."""

import pytest

from azd_eval.domain.criterion import Check, Criterion, Rubric
from azd_eval.domain.tally import Tally
from azd_eval.domain.task import Task
from azd_eval.errors import FilesRefused
from azd_eval.evaluators.criteria import TaskAdherence
from azd_eval.evaluators.judge import BatchedJudge, IndependentJudge
from azd_eval.evaluators.rubric import RubricEvaluator
from azd_eval.executor import LocalExecutor
from azd_eval.workflows.plan_run import CallPlan, plan_run
from azd_eval.workflows.run_eval import RunJob, run_eval
from azd_eval.workflows.run_trial import Bench
from tests.factories import (
    BASELINE,
    MemoryJournal,
    ScriptedJudge,
    ScriptedTarget,
    judge_by_name,
    make_criteria,
    make_task,
)
from tests.fakes import ScriptedModel

RUBRIC = Rubric("quality", make_criteria("kind", "clear", "safe", "brief"))
CHECK = Criterion("greets", "", check=Check("contains", "day"))
THREE = [make_task(name) for name in ("one", "two", "three")]
CHECKED = [
    make_task("checked", criteria=(CHECK,)),
    make_task("mixed", criteria=(CHECK, *RUBRIC.dimensions[:1])),
]
TWO_TURNS = [make_task("talk", ("first", "second"))]


class NoLog:
    def append(self, trial):
        pass


def _evaluators(judge, *, with_rubric):
    rubric = [RubricEvaluator(RUBRIC, judge)] if with_rubric else []
    return [TaskAdherence(judge), *rubric]


@pytest.mark.parametrize(
    ("tasks", "with_rubric", "repeats", "batched", "agent", "judge"),
    [
        (THREE, False, 1, False, 3, 6),
        (THREE, True, 1, False, 3, 18),
        (THREE, True, 1, True, 3, 6),
        (THREE, True, 5, False, 15, 90),
        (CHECKED, False, 1, False, 2, 1),
        (CHECKED, False, 1, True, 2, 1),
        (CHECKED, True, 2, True, 4, 6),
        (TWO_TURNS, False, 1, False, 2, 4),
        (TWO_TURNS, True, 3, True, 6, 12),
    ],
)
async def test_the_plan_is_what_the_run_then_asks(
    tasks, with_rubric, repeats, batched, agent, judge
):
    model, target = ScriptedModel(judge_by_name({})), ScriptedTarget()
    judge_type = BatchedJudge if batched else IndependentJudge
    evaluators = _evaluators(judge_type(model, MemoryJournal()), with_rubric=with_rubric)

    plan = plan_run(tasks, evaluators, repeats=repeats, batched=batched)
    bench = Bench(target, evaluators, MemoryJournal())
    job = RunJob(tasks, BASELINE, repeats)
    await run_eval(
        job, LocalExecutor(bench.run_trial, 4), NoLog(), Tally(repeats), lambda trial: None
    )

    assert CallPlan(len(tasks), agent, judge) == plan
    assert (agent, judge) == (len(target.history), len(model.history))
    assert agent + judge == plan.total


def test_without_models_no_judge_is_called():
    evaluators = _evaluators(ScriptedJudge(), with_rubric=True)

    assert CallPlan(3, 3, 0) == plan_run(THREE, evaluators, asks_models=False)


def test_a_task_that_nothing_scores_is_refused_by_name():
    tasks = [*THREE, make_task("bare", criteria=()), make_task("empty", criteria=())]

    with pytest.raises(FilesRefused) as refusal:
        plan_run(tasks, _evaluators(ScriptedJudge(), with_rubric=False))

    assert ["bare", "empty"] == [problem.item for problem in refusal.value.problems]


def test_a_rubric_scores_tasks_without_criteria():
    plan = plan_run([make_task(criteria=())], _evaluators(ScriptedJudge(), with_rubric=True))

    assert CallPlan(1, 1, 4) == plan


def test_one_scored_turn_is_enough():
    silent, judged = make_task(criteria=()).turns[0], make_task().turns[0]
    task = Task("talk", (silent, judged))

    assert CallPlan(1, 2, 2) == plan_run([task], _evaluators(ScriptedJudge(), with_rubric=False))
