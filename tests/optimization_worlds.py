"""Scripted worlds for optimizers: what the agent is scored is a function of its instructions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.criterion import Criterion
from azd_eval.domain.optimization import Evidence, FailedVerdict, Proposal
from azd_eval.domain.ports import Optimizer
from azd_eval.domain.score import Score, Trial, TurnResult, Verdict, trial_score, trial_status
from azd_eval.domain.task import Task, Turn
from azd_eval.errors import AzdEvalError
from azd_eval.optimizers.reflect import ReflectStrategy
from azd_eval.workflows.optimization_job import Measure, OptimizationJob, OptimizationParts
from azd_eval.workflows.search_bench import GuardedBench

JUDGE = "builtin.task_adherence"


def make_task(name: str, *criteria: str | Criterion, prompt: str | None = None) -> Task:
    """Make a task of one turn; a criterion given by name alone asks for that word."""
    made = tuple(
        Criterion(each, f"The reply says {each}") if isinstance(each, str) else each
        for each in criteria
    )
    return Task(name, (Turn(prompt or f"question of {name}", made),))


def make_trial(
    task: Task, *verdicts: Verdict, reply: str = "a reply", repeat: int = 0, **fields: Any
) -> Trial:
    turns = (TurnResult(task.turns[0].prompt, reply, scores=(Score(JUDGE, None, None, verdicts),)),)
    status = trial_status(turns)
    score = None if status == "errored" else trial_score(turns)
    return Trial(task.name, task.key, repeat, status, score, turns, **fields)


def make_errored_trial(
    task: Task, error: str = "the agent timed out", repeat: int = 0, **fields: Any
) -> Trial:
    turns = (TurnResult(task.turns[0].prompt, error=error),)
    return Trial(task.name, task.key, repeat, "errored", None, turns, **fields)


def make_scored_trial(task: Task, score: float | None, repeat: int = 0) -> Trial:
    """Make a trial of this score; None is an error."""
    if score is None:
        return make_errored_trial(task, repeat=repeat)
    verdicts = (
        Verdict("criterion", "met", weight=score),
        Verdict("other", "unmet", "not said", weight=1 - score),
    )
    return make_trial(task, *(each for each in verdicts if each.weight), repeat=repeat)


def make_failure(criterion: str, reason: str, **fields: Any) -> FailedVerdict:
    values = {"task": "task", "prompt": "a question", "reply": "a reply"} | fields
    described = values.pop("described", Criterion(criterion, f"The reply says {criterion}"))
    return FailedVerdict(criterion=described, reason=reason, **values)


def make_evidence(instructions: str, *failures: FailedVerdict, **fields: Any) -> Evidence:
    return Evidence(Candidate("baseline", instructions), failures, **fields)


@dataclass
class WordWorld:
    """A criterion is met exactly when the instructions hold its name."""

    measured: list[tuple[str, int, int]] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    async def measure(
        self, candidate: Candidate, tasks: Sequence[Task], look: int
    ) -> tuple[Trial, ...]:
        """Measure; remembers candidate, look and number of tasks."""
        self.measured.append((candidate.id, look, len(tasks)))
        trials = []
        for task in tasks:
            verdicts = (self._decide(candidate, each) for each in task.turns[0].criteria)
            place = self.places.setdefault(task.key, len(self.places))
            trials.append(make_trial(task, *verdicts, repeat=look, index=place))
        return tuple(trials)

    def _decide(self, candidate: Candidate, criterion: Criterion) -> Verdict:
        if criterion.name in candidate.instructions:
            return Verdict(criterion.name, "met", "it is said")
        return Verdict(criterion.name, "unmet", f"{criterion.name} is not said")


@dataclass
class ScriptedOptimizer:
    """Proposes what `respond` makes of the evidence: a text, a proposal, or an error to raise."""

    respond: Callable[[Evidence], str | Proposal | AzdEvalError]
    history: list[Evidence] = field(default_factory=list)

    async def propose(self, evidence: Evidence) -> Proposal:
        self.history.append(evidence)
        answer = self.respond(evidence)
        if isinstance(answer, AzdEvalError):
            raise answer
        return answer if isinstance(answer, Proposal) else Proposal(answer, "because")


@dataclass
class MemoryRecorder:
    """Keeps events and candidates in memory."""

    events: list[Mapping[str, Any]] = field(default_factory=list)
    candidates: dict[str, str] = field(default_factory=dict)

    def record(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)

    def keep_candidate(self, candidate: Candidate) -> str:
        self.candidates[candidate.id] = candidate.instructions
        return f"candidates/{candidate.id}/instructions.md"


def make_bench(
    tasks: Sequence[Task],
    measure: Measure | None = None,
    optimizer: Optimizer | None = None,
    **fields: Any,
) -> GuardedBench:
    """Make the bench of a strategy that nothing runs around."""
    job = OptimizationJob(Candidate("baseline", "Help the user."), tasks, 10, **fields)
    parts = OptimizationParts(
        ReflectStrategy(),
        optimizer or ScriptedOptimizer(lambda evidence: f"Attempt {evidence.attempt}."),
        measure or WordWorld().measure,
        MemoryRecorder(),
    )
    return GuardedBench(job, parts, tasks)
