"""The strategies that are compared, each given the same world and the same number of agent runs."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from azd_eval.domain.candidate import BASELINE_ID, Candidate
from azd_eval.domain.optimization import Evidence, Proposal
from azd_eval.domain.ports import Strategy
from azd_eval.domain.score import Trial
from azd_eval.domain.search import SearchPolicy
from azd_eval.domain.stop import StopSign
from azd_eval.domain.task import Task
from azd_eval.optimizers.gepa import GepaStrategy
from azd_eval.optimizers.reflect import ReflectStrategy
from azd_eval.workflows.hold_out import split_tasks
from azd_eval.workflows.optimization_job import OptimizationJob, OptimizationParts
from azd_eval.workflows.optimize_agent import OptimizationOutcome, optimize_agent
from azd_eval.workflows.search_bench import GuardedBench
from optimizer_worlds.proposer import SimulatedReflector
from optimizer_worlds.rations import RationedStrategy
from optimizer_worlds.runs import BudgetSpentError, Laboratory, list_failures, look, score
from optimizer_worlds.world import World

# Nothing is to end a search before its evaluations are used up.
NEVER = 1_000_000
MOST_FOR_COMPARISON = 0.2


@dataclass(frozen=True, slots=True)
class Found:
    """The instructions that a strategy ends with, and the score that it reports for them."""

    instructions: str
    reported: float


Search = Callable[[World, int, SearchPolicy], Found]


def keep_best(world: World, evaluations: int, _: SearchPolicy) -> Found:
    """Ask every task once; keep what scores higher than the best so far. What most people do."""
    laboratory, reflector = Laboratory(world, evaluations), SimulatedReflector(world)
    best = Candidate(BASELINE_ID, world.baseline)
    known = look(laboratory, best)
    while laboratory.left >= len(world.tasks):
        text = reflector.revise(best.instructions, list_failures(world, known))
        child = Candidate("candidate", text)
        trials = look(laboratory, child)
        if score(trials) > score(known):
            best, known = child, trials
    return Found(best.instructions, score(known))


def keep_truly_better(world: World, evaluations: int, _: SearchPolicy) -> Found:
    """As `keep_best`, but an oracle tells what is better on these tasks: what noise costs."""
    laboratory, reflector = Laboratory(world, evaluations), SimulatedReflector(world)
    best = Candidate(BASELINE_ID, world.baseline)
    known = look(laboratory, best)
    truth = world.true_score_on(best.instructions, world.tasks)
    while laboratory.left >= len(world.tasks):
        text = reflector.revise(best.instructions, list_failures(world, known))
        child = Candidate("candidate", text)
        trials = look(laboratory, child)
        if (new := world.true_score_on(text, world.tasks)) > truth:
            best, known, truth = child, trials, new
    return Found(best.instructions, truth)


def search_with_gepa(world: World, evaluations: int, policy: SearchPolicy) -> Found:
    """Let the real package search with all evaluations; it reports the score it selected by."""
    job, parts = _prepare(world, evaluations, policy, GepaStrategy())
    bench = GuardedBench(job, parts, job.tasks)
    best = asyncio.run(parts.strategy.search(bench)).best
    scores = bench.ledger.task_scores(best).values()
    return Found(best.instructions, sum(scores) / len(scores) if scores else 0.0)


def optimize_with_reflect(world: World, evaluations: int, policy: SearchPolicy) -> Found:
    """Run `optimize` as users do: what it holds out and confirms with is paid for like the rest.

    The last comparison is left out where it would take more than a fifth of all evaluations.
    """
    job, parts = _prepare(world, evaluations, policy, ReflectStrategy())
    price = _price_comparison(job)
    if price > evaluations * MOST_FOR_COMPARISON:
        job, price = replace(job, policy=replace(job.policy, confirm_looks=0)), 0
    strategy = RationedStrategy(parts.strategy, evaluations - price)
    outcome = asyncio.run(optimize_agent(job, replace(parts, strategy=strategy)))
    return Found(outcome.best.instructions, _read_report(outcome))


class _Simulation:
    """The world outside of the engine: agent and judge, the model that proposes, the disk."""

    def __init__(self, world: World, evaluations: int) -> None:
        self.stop = StopSign()
        self._laboratory = Laboratory(world, evaluations)
        self._reflector = SimulatedReflector(world)
        self._places = {simulated.name: i for i, simulated in enumerate(world.tasks)}

    async def measure(
        self, candidate: Candidate, tasks: Sequence[Task], look: int
    ) -> tuple[Trial, ...]:
        trials: list[Trial] = []
        for task in tasks:
            try:
                trials.append(self._laboratory.run(candidate, task, self._places[task.name], look))
            except BudgetSpentError:
                self.stop.put_up("all evaluations are used")
                break
        return tuple(trials)

    async def propose(self, evidence: Evidence) -> Proposal:
        return Proposal(self._reflector.revise(evidence.parent.instructions, evidence.failures))

    def record(self, event: Mapping[str, Any]) -> None:
        pass

    def keep_candidate(self, candidate: Candidate) -> str:
        return candidate.id


def _prepare(
    world: World, evaluations: int, policy: SearchPolicy, strategy: Strategy
) -> tuple[OptimizationJob, OptimizationParts]:
    simulation = _Simulation(world, evaluations)
    job = OptimizationJob(
        baseline=Candidate(BASELINE_ID, world.baseline),
        tasks=tuple(simulated.task for simulated in world.tasks),
        max_iterations=NEVER,
        seed=world.number,
        policy=replace(policy, stop_after=NEVER),
        stop=simulation.stop,
    )
    return job, OptimizationParts(strategy, simulation, simulation.measure, simulation)


def _price_comparison(job: OptimizationJob) -> int:
    split, policy = split_tasks(job), job.policy
    learned = policy.confirm_looks_quiet if split.held_out else policy.confirm_looks
    return 2 * (len(split.held_out) * policy.confirm_looks + len(split.learning) * learned)


def _read_report(outcome: OptimizationOutcome) -> float:
    """Read the score that `optimize` shows for its best: of fresh looks, else as believed."""
    if outcome.confirmation:
        compared = outcome.confirmation.overall
        shown = compared.baseline if outcome.best.id == BASELINE_ID else compared.best
        return shown.score or 0.0
    return outcome.believed[outcome.best.id].score or 0.0


STRATEGIES: Mapping[str, Search] = {
    "keep-best": keep_best,
    "reflect": optimize_with_reflect,
    "gepa": search_with_gepa,
    "oracle": keep_truly_better,
}
