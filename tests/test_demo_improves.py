"""The offline engine on the demo's agent, part by part: draft, measure, revise, measure again."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from azd_eval.domain.candidate import BASELINE_ID, Candidate
from azd_eval.domain.score import Trial
from azd_eval.domain.suite import Brief
from azd_eval.domain.tally import Tally
from azd_eval.domain.task import Task
from azd_eval.evaluators.criteria import TaskAdherence
from azd_eval.evaluators.undecided import UndecidedJudge
from azd_eval.executor import LocalExecutor
from azd_eval.generators.offline import OfflineBlueprintDrafter, OfflineTaskDrafter
from azd_eval.optimizers.reflect import ReflectStrategy
from azd_eval.optimizers.rules import RuleOptimizer
from azd_eval.providers.gate import Gate
from azd_eval.providers.offline import OfflineModel
from azd_eval.targets.callables import load_function
from azd_eval.targets.chat import ChatTarget
from azd_eval.targets.python import PythonTarget
from azd_eval.wiring.demo_project import write_demo_project
from azd_eval.workflows.init_eval import SuitePlan, init_eval
from azd_eval.workflows.optimization_job import OptimizationJob, OptimizationParts
from azd_eval.workflows.optimize_agent import OptimizationOutcome, optimize_agent
from azd_eval.workflows.run_eval import LookJob, run_eval
from azd_eval.workflows.run_trial import Bench
from tests.factories import MemoryJournal
from tests.optimization_worlds import MemoryRecorder

SENTENCES = (
    (
        "This agent handles customer support for electronics. "
        "Test returns, troubleshooting, and out-of-scope requests."
    ),
    "Customer support agent. Test refund handling, troubleshooting, and out-of-scope deflection.",
    (
        "Support agent of an electronics shop: returns, warranty, shipping, troubleshooting. "
        "Include ambiguous and adversarial requests."
    ),
    "Answers questions about orders and delivery.",
)


class TrialList(list[Trial]):
    """A trial log in memory."""


async def _draft(sentence: str, seed: int, instructions: str) -> tuple[Task, ...]:
    plan = SuitePlan(Brief("my-support-agent", sentence, instructions), max_tasks=15)
    drafters = OfflineBlueprintDrafter(), OfflineTaskDrafter(seed)
    return (await init_eval(plan, *drafters, lambda stage, done, total: None)).tasks


async def _optimize(target, tasks: tuple[Task, ...], instructions: str) -> OptimizationOutcome:
    bench = Bench(target, (TaskAdherence(UndecidedJudge()),), MemoryJournal())
    executor = LocalExecutor(bench.run_trial, limit=8)

    async def measure(candidate: Candidate, some: Sequence[Task], look: int) -> tuple[Trial, ...]:
        trials = TrialList()
        job = LookJob(some, candidate, look, {task.key: n for n, task in enumerate(tasks)})
        await run_eval(job, executor, trials, Tally(), lambda trial: None)
        return tuple(sorted(trials, key=lambda trial: trial.index))

    job = OptimizationJob(Candidate(BASELINE_ID, instructions), tasks, max_iterations=10)
    parts = OptimizationParts(ReflectStrategy(), RuleOptimizer(), measure, MemoryRecorder())
    return await optimize_agent(job, parts)


def _python_agent(folder: Path) -> PythonTarget:
    return PythonTarget(load_function("agent.py:respond", folder), Gate(8), timeout_s=5)


def _quoting_agent(folder: Path) -> ChatTarget:
    return ChatTarget(OfflineModel())


@pytest.mark.parametrize("build_target", [_python_agent, _quoting_agent])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("sentence", SENTENCES)
async def test_rules_for_what_failed_make_the_agent_better(tmp_path, sentence, seed, build_target):
    write_demo_project(tmp_path)
    path = tmp_path / ".agent_configs" / "baseline" / "instructions.md"
    instructions = path.read_text(encoding="utf-8")
    tasks = await _draft(sentence, seed, instructions)

    outcome = await _optimize(build_target(tmp_path), tasks, instructions)

    assert outcome.confirmation is not None
    assert 0 < outcome.confirmation.overall.baseline.score < outcome.confirmation.overall.best.score
    assert outcome.confirmation.comparison.is_better
    assert outcome.best.instructions.startswith(instructions)
