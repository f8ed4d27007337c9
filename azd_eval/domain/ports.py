"""The edges of the program: one-method protocols, each with its contract.

Whatever touches the world - models, files, processes - stands behind one of these. Failures of a
single item are values or `ModelError` / `TargetError`, as each contract says; any other exception
is a bug.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.chat import ChatReply, ChatRequest
from azd_eval.domain.criterion import Criterion
from azd_eval.domain.ledger import Ledger
from azd_eval.domain.optimization import Evidence, Proposal
from azd_eval.domain.score import Score, Trial, TrialSpec, Verdict
from azd_eval.domain.search import Decision, Finding, SearchPolicy, Stop
from azd_eval.domain.suite import Blueprint, Brief, TaskDelivery, TaskOrder
from azd_eval.domain.task import Exchange, Reply, Task, Turn


class ChatModel(Protocol):
    """Answers one chat request.

    Raises `ModelError` and nothing else. Safe to call concurrently. Wrappers (cache, retry, limit,
    meter) are chat models around chat models.
    """

    async def complete(self, request: ChatRequest) -> ChatReply: ...


@dataclass(frozen=True, slots=True)
class TargetRequest:
    """One turn for the agent: what is asked, what was said before, with which instructions.

    The expected answer is not here: it never reaches the agent.
    """

    prompt: str
    instructions: str
    history: tuple[Exchange, ...] = ()
    context: str | None = None
    repeat: int = 0


class Target(Protocol):
    """The agent under evaluation.

    Raises `TargetError` or `ModelError` and nothing else; both become an errored trial. Keeps no
    state between requests. Safe to call concurrently.
    """

    async def respond(self, request: TargetRequest) -> Reply: ...


@dataclass(frozen=True, slots=True)
class TurnUnderTest:
    """One answered turn, as an evaluator sees it. `history` holds the turns before it."""

    spec: TrialSpec
    turn_index: int
    turn: Turn
    reply: Reply
    history: tuple[Exchange, ...] = ()


class Evaluator(Protocol):
    """Scores one answered turn. Never raises: what could not be judged is an unusable verdict.

    `scores` tells, without any call, whether it has something to decide for a turn, and `questions`
    how many criteria of it the judge will decide. `lacks` names what it needs and the turn does not
    have, such as the expected answer. It is asked to score only turns that it `scores`.
    """

    @property
    def name(self) -> str: ...

    def scores(self, turn: Turn) -> bool: ...

    def questions(self, turn: Turn) -> int: ...

    def lacks(self, turn: Turn) -> str | None: ...

    async def score(self, item: TurnUnderTest) -> Score: ...


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """Criteria to be decided about one reply.

    `graded` asks for 1..5 instead of 0 or 1. `expected` and `grounding` are set only for evaluators
    that may see them.
    """

    evaluator: str
    item: TurnUnderTest
    criteria: tuple[Criterion, ...]
    graded: bool = False
    expected: str | None = None
    grounding: str | None = None


class Judge(Protocol):
    """Decides criteria, each independently of the others.

    Returns one verdict per criterion, in their order. Never raises: a failed call or an unreadable
    answer is an unusable verdict that says why.
    """

    async def decide(self, request: JudgeRequest) -> tuple[Verdict, ...]: ...


class BlueprintDrafter(Protocol):
    """Drafts rubric and topics from a brief. Raises `ModelError` when nothing usable came."""

    async def draft_blueprint(self, brief: Brief) -> Blueprint: ...


class TaskDrafter(Protocol):
    """Drafts the tasks of one order. Raises `ModelError` only when the call itself failed."""

    async def draft_tasks(self, order: TaskOrder) -> TaskDelivery: ...


class Optimizer(Protocol):
    """Proposes the next instructions. Raises `ModelError`; an unusable answer is a `fault`."""

    async def propose(self, evidence: Evidence) -> Proposal: ...


class SearchBench(Protocol):
    """What a strategy searches with.

    A search must follow from `random` and from what these calls return, and from nothing else: an
    interrupted one is taken up by running it again with the answers that are on disk.
    """

    @property
    def baseline(self) -> Candidate: ...

    @property
    def tasks(self) -> Sequence[Task]:
        """The tasks to learn from, in dataset order; those held out are not among them."""
        ...

    @property
    def ledger(self) -> Ledger:
        """All that was measured so far; `measure` adds to it."""
        ...

    @property
    def policy(self) -> SearchPolicy: ...

    @property
    def random(self) -> Random: ...

    @property
    def stop(self) -> Stop | None:
        """Why nothing more may be proposed: tries used up, a limit, an error; None to go on."""
        ...

    @property
    def is_cut_short(self) -> bool:
        """Whether measuring has ended: the last trials may be incomplete, nothing is to be decided.

        To be looked at after each `measure`.
        """
        ...

    def next_look(self, candidate: Candidate) -> int:
        """Give the number of the first look that the candidate has had at no task."""
        ...

    async def measure(
        self, candidate: Candidate, tasks: Sequence[Task], look: int
    ) -> tuple[Trial, ...]:
        """Ask each task afresh; returns the trials in the order of `tasks`.

        `look` counts from 0 for each candidate and task: a number that was used before gives the
        trials of that time, without a call. An errored trial has no score. Once cut short, trials
        are missing. Never raises for what agent or judge do.
        """
        ...

    async def propose(
        self, parent: Candidate, tasks: Sequence[Task] | None = None
    ) -> tuple[Candidate, ...]:
        """Use up one iteration: ask for revisions of a parent, all at once, by what it fails.

        Shown is what is known of `tasks`, default all. Returns the usable ones, numbered and kept;
        what is not usable is recorded and counted, and leaves the tuple shorter, or empty.
        """
        ...

    def decide(self, candidate: Candidate, decision: Decision) -> None:
        """Record what became of a candidate; to be called once for each that was proposed.

        The reflector sees rejected ones with their reasons. One that is left out counts as not
        decided.
        """
        ...

    def record(self, event: Mapping[str, Any]) -> None:
        """Keep anything else that was decided, JSON-ready, with its numbers."""
        ...


class Strategy(Protocol):
    """Searches for better instructions until `bench.stop`, or until it knows no further step.

    The baseline has been measured with look 0 and 1 when it begins. Returns the candidate that it
    holds for the best, the baseline if need be; whether it really is, is found out afterwards.
    Raises `ModelError` and nothing else.
    """

    async def search(self, bench: SearchBench) -> Finding: ...


class Executor(Protocol):
    """Runs many trials, a bounded number at a time, and yields each as it ends, in any order.

    Closing the iterator cancels what is in flight.
    """

    def run(self, specs: Iterable[TrialSpec]) -> AsyncGenerator[Trial, None]: ...


class TaskSource(Protocol):
    """A dataset that was found good; may be walked more than once, always in the same order."""

    def __iter__(self) -> Iterator[Task]: ...


class Journal(Protocol):
    """Keeps an event (a reply, a verdict, a decision) on disk before it returns."""

    def record(self, event: Mapping[str, Any]) -> None: ...


class TrialLog(Protocol):
    """Keeps a finished trial on disk before it returns."""

    def append(self, trial: Trial) -> None: ...


class ReplyCache(Protocol):
    """Answers of models by key: complete, usable ones only. Never raises on a damaged store."""

    def get(self, key: str) -> ChatReply | None: ...

    def put(self, key: str, reply: ChatReply) -> None: ...


class CallGate(Protocol):
    """Bounds how many calls are in flight at once, over all roles of a run."""

    def slot(self) -> AbstractAsyncContextManager[None]: ...
