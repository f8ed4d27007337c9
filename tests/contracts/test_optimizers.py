"""What every optimizer must do, whatever it is made of."""

import json
import re
from collections.abc import Callable, Sequence

import pytest

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.chat import ChatRequest
from azd_eval.domain.criterion import Check, Criterion
from azd_eval.domain.ports import Optimizer
from azd_eval.domain.score import Outcome, Trial, Verdict
from azd_eval.domain.task import Task
from azd_eval.evaluators.checks import run_check
from azd_eval.optimizers.reflect import ReflectStrategy
from azd_eval.optimizers.reflector import Reflector
from azd_eval.optimizers.rules import RuleOptimizer
from azd_eval.workflows.optimization_job import OptimizationJob, OptimizationParts
from azd_eval.workflows.optimize_agent import OptimizationOutcome, optimize_agent
from tests.fakes import ScriptedModel
from tests.optimization_worlds import (
    MemoryRecorder,
    make_evidence,
    make_task,
    make_trial,
)

START = "You help {customer}. Braces {{ stay }} and 100 % too.\n"


def learn_from_reasons(request: ChatRequest) -> str:
    """Play the model: add the words that the reasons miss to the instructions shown."""
    shown = request.messages[-1].text
    found = re.search(r"begin -----\n(.*?)\n----- \w+ end", shown, re.DOTALL)
    current = found[1] if found else ""
    words = dict.fromkeys(re.findall(r"does not contain '([^']+)'", shown))
    added = "".join(f"\n- Say {word}." for word in words)
    return json.dumps({"rationale": "words were missing", "instructions": current + added})


OPTIMIZERS: dict[str, Callable[[], Optimizer]] = {
    "reflect": lambda: Reflector(ScriptedModel(learn_from_reasons)),
    "rules": RuleOptimizer,
}


@pytest.fixture(params=OPTIMIZERS)
def optimizer(request: pytest.FixtureRequest) -> Optimizer:
    return OPTIMIZERS[request.param]()


def make_criterion(words: str) -> Criterion:
    return Criterion(f"says {words}", f"Tell about {words[0]}", check=Check("contains", words))


TASKS = (
    make_task("a", make_criterion("30 days"), make_criterion("free of charge")),
    make_task("b", make_criterion("30 days"), make_criterion("by e-mail")),
)


async def measure(candidate: Candidate, tasks: Sequence[Task], look: int) -> tuple[Trial, ...]:
    """Measure an agent that answers by reading its instructions aloud."""
    trials = []
    for task in tasks:
        verdicts = []
        for criterion in task.turns[0].criteria:
            assert criterion.check
            result = run_check(criterion.check, candidate.instructions)
            outcome: Outcome = "met" if result.passed else "unmet"
            verdicts.append(Verdict(criterion.name, outcome, result.reason))
        trials.append(make_trial(task, *verdicts, repeat=look))
    return tuple(trials)


async def run(optimizer: Optimizer) -> OptimizationOutcome:
    job = OptimizationJob(Candidate("baseline", START), TASKS, max_iterations=5)
    parts = OptimizationParts(ReflectStrategy(), optimizer, measure, MemoryRecorder())
    return await optimize_agent(job, parts)


async def test_learns_what_only_the_failing_criteria_reveal(optimizer: Optimizer) -> None:
    outcome = await run(optimizer)

    assert "nothing_left_to_fix" == outcome.stop.reason
    assert outcome.confirmation is not None
    compared = outcome.confirmation.comparison
    assert (0.0, 1.0) == (compared.baseline.score, compared.best.score)


async def test_keeps_what_stood_there(optimizer: Optimizer) -> None:
    outcome = await run(optimizer)

    assert outcome.best.instructions.startswith(START)


async def test_gives_a_text_or_a_fault_never_both(optimizer: Optimizer) -> None:
    proposal = await optimizer.propose(make_evidence(START))

    assert (proposal.instructions is None) is (proposal.fault is not None)


async def test_the_same_evidence_gives_the_same_proposal(optimizer: Optimizer) -> None:
    evidence = make_evidence(START)

    assert await optimizer.propose(evidence) == await optimizer.propose(evidence)
