"""Prompts that are typed one by one: answered, then scored; nothing is kept unless it is saved."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from azd_eval.domain.score import TrialSpec, TurnResult
from azd_eval.domain.task import Reply, Task, Turn
from azd_eval.evaluator_options import NEEDS_EXPECTED, SYSTEM_DEFAULTS
from azd_eval.storage.run_memory import RunMemory
from azd_eval.wiring.document_files import make_document
from azd_eval.wiring.document_project import DocumentProject
from azd_eval.wiring.evaluators import EvaluatorSet
from azd_eval.wiring.models import ModelPool
from azd_eval.wiring.setup import Setup


class _NoJournal:
    def record(self, event: Mapping[str, Any]) -> None:
        """Keep nothing."""


@dataclass(frozen=True, slots=True)
class DocumentSession:
    """Agent and evaluators at hand, for as long as the pool is open."""

    setup: Setup
    pool: ModelPool

    @property
    def needing_expected(self) -> tuple[str, ...]:
        """Name the evaluators that score nothing without an expected answer."""
        return tuple(name for name in self.setup.evaluators.names if name in NEEDS_EXPECTED)

    async def answer(self, prompt: str) -> TurnResult:
        """Ask the agent, in a conversation of its own; a failure is the result's `error`."""
        nothing = replace(self.setup, evaluators=EvaluatorSet())
        return await self._run(nothing, Turn(prompt))

    async def score(self, answered: TurnResult, expected: str | None) -> TurnResult:
        """Have a reply scored."""
        reply = Reply(answered.reply or "", evidence=answered.evidence)
        stored = replace(self.setup, agent=replace(self.setup.agent, kind="recorded"))
        return await self._run(stored, Turn(answered.prompt, expected=expected, recorded=reply))

    async def _run(self, setup: Setup, turn: Turn) -> TurnResult:
        executor = setup.build_executor(self.pool, _NoJournal(), RunMemory())
        spec = TrialSpec(Task("prompt", (turn,)), setup.agent.baseline)
        async with aclosing(executor.run([spec])) as trials:
            trial = await anext(trials)
        return trial.turns[0]


def set_up_session(project: DocumentProject) -> Setup:
    """Check agent and judge; raises `InputError`."""
    evaluators = project.typed_evaluators or SYSTEM_DEFAULTS
    return project.set_up(make_document((), (), evaluators), project.layout.project)
