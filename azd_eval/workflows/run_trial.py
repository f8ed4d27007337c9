"""Put one task to the target, turn by turn, and score each reply."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from azd_eval.domain.ports import Evaluator, Journal, Target, TargetRequest, TurnUnderTest
from azd_eval.domain.score import Trial, TrialSpec, TurnResult, trial_score, trial_status
from azd_eval.domain.task import Exchange, Reply, Turn
from azd_eval.errors import FATAL_CODES, ModelError, TargetError


@dataclass(frozen=True, slots=True)
class Bench:
    """What a trial needs: the agent, its evaluators, and where replies are kept."""

    target: Target
    evaluators: Sequence[Evaluator]
    journal: Journal

    async def run_trial(self, spec: TrialSpec) -> Trial:
        """Run one trial. Never raises for what the agent or a judge does; that is its status."""
        turns: list[TurnResult] = []
        history: tuple[Exchange, ...] = ()
        for index, turn in enumerate(spec.task.turns):
            result = await self._run_turn(spec, index, turn, history)
            turns.append(result)
            if result.reply is None:
                turns.extend(_not_attempted(turn) for turn in spec.task.turns[index + 1 :])
                break
            history = (*history, Exchange(turn.prompt, result.reply))
        return _conclude(spec, tuple(turns))

    async def _run_turn(
        self, spec: TrialSpec, index: int, turn: Turn, history: tuple[Exchange, ...]
    ) -> TurnResult:
        request = TargetRequest(
            prompt=turn.prompt,
            instructions=spec.candidate.instructions,
            history=history,
            context=spec.task.context,
            repeat=spec.repeat,
        )
        started = time.monotonic()
        try:
            reply = await self.target.respond(request)
        except ModelError as error:
            return _errored(turn, error.message, error.code, started)
        except TargetError as error:
            return _errored(turn, error.message, "agent_error", started)
        if not reply.text.strip():
            return _errored(turn, _word_empty(reply), "empty_reply", started)
        self._keep(spec, index, turn, reply)
        item = TurnUnderTest(spec, index, turn, reply, history)
        scores = await asyncio.gather(*(each.score(item) for each in self.evaluators))
        return TurnResult(
            prompt=turn.prompt,
            reply=reply.text,
            finish_reason=reply.finish_reason,
            latency_ms=reply.latency_ms,
            tokens=reply.input_tokens + reply.output_tokens,
            cached=reply.cached,
            scores=tuple(scores),
        )

    def _keep(self, spec: TrialSpec, index: int, turn: Turn, reply: Reply) -> None:
        self.journal.record(
            {
                "event": "reply",
                "task": spec.task.name,
                "task_key": spec.task.key,
                "candidate": spec.candidate.id,
                "repeat": spec.repeat,
                "turn": index,
                "prompt": turn.prompt,
                "reply": reply.text,
                "finish_reason": reply.finish_reason,
                "latency_ms": reply.latency_ms,
                "input_tokens": reply.input_tokens,
                "output_tokens": reply.output_tokens,
            }
        )


def _word_empty(reply: Reply) -> str:
    if reply.finish_reason == "length":
        return f"the agent returned no text: cut at the limit of {reply.output_tokens} tokens"
    return "the agent returned no text"


def _errored(turn: Turn, message: str, code: str, started: float) -> TurnResult:
    elapsed = (time.monotonic() - started) * 1000
    return TurnResult(turn.prompt, error=message, error_code=code, latency_ms=round(elapsed, 1))


def _not_attempted(turn: Turn) -> TurnResult:
    return TurnResult(
        turn.prompt, error="not attempted: an earlier turn failed", error_code="not_attempted"
    )


def _conclude(spec: TrialSpec, turns: tuple[TurnResult, ...]) -> Trial:
    status = trial_status(turns)
    trial = Trial(
        task=spec.task.name,
        task_key=spec.task.key,
        repeat=spec.repeat,
        status=status,
        score=None if status == "errored" else trial_score(turns),
        turns=turns,
        index=spec.index,
        category=spec.task.category,
    )
    return replace(trial, fatal=_find_fatal(turns)) if status == "errored" else trial


def _find_fatal(turns: tuple[TurnResult, ...]) -> str | None:
    for turn in turns:
        if turn.error_code in FATAL_CODES:
            return turn.error
        for score in turn.scores:
            for verdict in score.verdicts:
                if verdict.error_code in FATAL_CODES:
                    return verdict.reason
    return None
