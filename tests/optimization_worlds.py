"""Scripted worlds for optimizers: what the agent is scored is a function of its instructions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.criterion import Criterion
from azd_eval.domain.optimization import Evidence, FailedVerdict, Measurement, Proposal, Rejected
from azd_eval.domain.score import Score, Trial, TurnResult, Verdict, mean, trial_score, trial_status
from azd_eval.domain.task import Task, Turn
from azd_eval.errors import AzdEvalError

JUDGE = "builtin.task_adherence"


def make_task(name: str, *criteria: str | Criterion, prompt: str | None = None) -> Task:
    """Make a task of one turn; a criterion given by name alone asks for that word."""
    made = tuple(
        Criterion(each, f"The reply says {each}") if isinstance(each, str) else each
        for each in criteria
    )
    return Task(name, (Turn(prompt or f"question of {name}", made),))


def make_trial(task: Task, *verdicts: Verdict, reply: str = "a reply", **fields: Any) -> Trial:
    turns = (TurnResult(task.turns[0].prompt, reply, scores=(Score(JUDGE, None, None, verdicts),)),)
    status = trial_status(turns)
    score = None if status == "errored" else trial_score(turns)
    return Trial(task.name, task.key, 0, status, score, turns, **fields)


def make_errored_trial(task: Task, error: str = "the agent timed out", **fields: Any) -> Trial:
    turns = (TurnResult(task.turns[0].prompt, error=error),)
    return Trial(task.name, task.key, 0, "errored", None, turns, **fields)


def make_measurement(candidate: Candidate | str, *trials: Trial) -> Measurement:
    if isinstance(candidate, str):
        candidate = Candidate(candidate, f"instructions of {candidate}")
    score = mean(trial.score for trial in trials if trial.score is not None)
    return Measurement(candidate, trials, score, None)


def make_scored(candidate: Candidate | str, scores: Mapping[str, float | None]) -> Measurement:
    """Make a measurement from one score per task; None is an errored task."""
    trials = []
    for name, score in scores.items():
        task = make_task(name, "criterion")
        if score is None:
            trials.append(make_errored_trial(task))
        else:
            verdicts = (
                Verdict("criterion", "met", weight=score),
                Verdict("other", "unmet", "not said", weight=1 - score),
            )
            trials.append(make_trial(task, *(v for v in verdicts if v.weight)))
    return make_measurement(candidate, *trials)


def make_failure(criterion: str, reason: str, **fields: Any) -> FailedVerdict:
    values = {"task": "task", "prompt": "a question", "reply": "a reply"} | fields
    described = values.pop("described", Criterion(criterion, f"The reply says {criterion}"))
    return FailedVerdict(criterion=described, reason=reason, **values)


def make_evidence(
    instructions: str,
    *failures: FailedVerdict,
    rejected: Sequence[Rejected] = (),
    tasks: Sequence[Task] = (),
    iteration: int = 1,
) -> Evidence:
    incumbent = make_measurement(Candidate("baseline", instructions))
    return Evidence(incumbent, failures, tuple(rejected), tasks, iteration)


@dataclass
class WordWorld:
    """A criterion is met exactly when the instructions hold its name."""

    tasks: Sequence[Task]
    measured: list[str] = field(default_factory=list)

    async def measure(self, candidate: Candidate) -> Measurement:
        self.measured.append(candidate.id)
        trials = (
            make_trial(task, *(self._decide(candidate, c) for c in task.turns[0].criteria))
            for task in self.tasks
        )
        return make_measurement(candidate, *trials)

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
