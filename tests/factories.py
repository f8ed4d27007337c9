"""Records for tests, each from one call that names only what the test is about."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.chat import ChatRequest
from azd_eval.domain.criterion import Criterion
from azd_eval.domain.ports import JudgeRequest, TargetRequest, TurnUnderTest
from azd_eval.domain.score import Score, Trial, TrialSpec, TurnResult, Verdict
from azd_eval.domain.task import Exchange, Reply, Task, Turn

BASELINE = Candidate("baseline", "Be kind.")


@dataclass
class ScriptedJudge:
    """Gives each criterion the outcome, or the grade, of its name; remembers what it was asked."""

    outcomes: Mapping[str, str | int] = field(default_factory=dict)
    history: list[JudgeRequest] = field(default_factory=list)

    async def decide(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        self.history.append(request)
        return tuple(self._decide_one(criterion) for criterion in request.criteria)

    def _decide_one(self, criterion: Criterion) -> Verdict:
        outcome = self.outcomes.get(criterion.name, "met")
        if isinstance(outcome, int):
            return make_grade(outcome, criterion.name, weight=criterion.weight)
        return make_verdict(outcome, criterion.name, weight=criterion.weight)


@dataclass
class ScriptedTarget:
    """An agent that answers as a function of the request; an exception is raised."""

    respond_to: Callable[[TargetRequest], str | Reply | Exception] = lambda request: "Good day."
    history: list[TargetRequest] = field(default_factory=list)

    async def respond(self, request: TargetRequest) -> Reply:
        self.history.append(request)
        answer = self.respond_to(request)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(answer)


@dataclass
class MemoryJournal:
    """Keeps events in a list. A journal."""

    events: list[Mapping[str, Any]] = field(default_factory=list)

    def record(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)


def make_criteria(*names: str, **fields: Any) -> tuple[Criterion, ...]:
    return tuple(Criterion(name, f"Is the reply {name}?", **fields) for name in names)


def make_task(
    name: str = "greeting",
    prompts: Sequence[str] = ("hello",),
    criteria: tuple[Criterion, ...] = make_criteria("polite", "short"),
    expected: str | None = None,
    turn: Mapping[str, Any] = MappingProxyType({}),
    **fields: Any,
) -> Task:
    turns = tuple(Turn(prompt, criteria, expected, **turn) for prompt in prompts)
    return Task(name, turns, **fields)


def make_spec(task: Task | None = None, repeat: int = 0, index: int = 0) -> TrialSpec:
    return TrialSpec(task or make_task(), BASELINE, repeat, index)


def make_item(
    reply: str | Reply = "Good day.",
    task: Task | None = None,
    history: tuple[Exchange, ...] = (),
) -> TurnUnderTest:
    spec = make_spec(task)
    index = len(history)
    answered = reply if isinstance(reply, Reply) else Reply(reply)
    return TurnUnderTest(spec, index, spec.task.turns[index], answered, history)


def make_judge_request(
    criteria: tuple[Criterion, ...] = make_criteria("polite", "short"),
    item: TurnUnderTest | None = None,
    **fields: Any,
) -> JudgeRequest:
    return JudgeRequest("quality", item or make_item(), criteria, **fields)


def make_trial(
    status: str = "passed",
    score: float | None = 1.0,
    *,
    index: int = 0,
    repeat: int = 0,
    verdicts: Sequence[Verdict] = (),
    **fields: Any,
) -> Trial:
    scores = (Score("quality", score, status == "passed", tuple(verdicts)),)
    turns = (TurnResult("hello", "Good day.", scores=scores),)
    task = f"task {index}"
    return Trial(task, f"key {index}", repeat, status, score, turns, index, **fields)


def make_verdict(outcome: str = "met", criterion: str = "polite", **fields: Any) -> Verdict:
    return Verdict(criterion, outcome, **fields)


def make_grade(grade: int, criterion: str = "polite", **fields: Any) -> Verdict:
    return Verdict(criterion, "met" if grade >= 3 else "unmet", grade=grade, **fields)


def judge_by_name(scores: Mapping[str, Any], default: Any = 1) -> Callable[[ChatRequest], str]:
    """Script a judge, asked singly or in a batch: the score of a criterion is looked up by name."""

    def respond(request: ChatRequest) -> str:
        question = request.messages[1].text
        names = re.findall(r'^(?:Criterion |(?:\d+)\. )"(.*?)":', question, re.MULTILINE)
        verdicts = [
            {"number": number, "reason": f"as to {name}", "score": scores.get(name, default)}
            for number, name in enumerate(names, start=1)
        ]
        return json.dumps({"verdicts": verdicts} if "Criteria:" in question else verdicts[0])

    return respond
