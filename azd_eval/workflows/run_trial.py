"""Put one task to the target, turn by turn, and score each reply."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from azd_eval.domain.ports import Evaluator, Journal, Target, TargetRequest, TurnUnderTest
from azd_eval.domain.score import Trial, TrialSpec, TurnResult, trial_score, trial_status
from azd_eval.domain.suspicion import find_suspicious_words
from azd_eval.domain.task import Exchange, Reply, Turn
from azd_eval.errors import FATAL_CODES, ModelError, TargetError

RecallReply = Callable[[TrialSpec, int], Reply | None]


def _recall_nothing(_: TrialSpec, __: int) -> Reply | None:
    return None


def recall_recorded(spec: TrialSpec, turn_index: int) -> Reply | None:
    """Give the reply that the task itself holds; a blank one is none."""
    reply = spec.task.turns[turn_index].recorded
    return reply if reply is not None and reply.text.strip() else None


@dataclass(frozen=True, slots=True)
class Bench:
    """What a trial needs: the agent, its evaluators, and where replies are kept.

    `recall_reply` gives the reply that an earlier session of the run has for a turn, or None.
    """

    target: Target
    evaluators: Sequence[Evaluator]
    journal: Journal
    recall_reply: RecallReply = _recall_nothing

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
        reply = self.recall_reply(spec, index)
        if reply is None:
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
        scores = await asyncio.gather(
            *(each.score(item) for each in self.evaluators if each.scores(turn))
        )
        return TurnResult(
            prompt=turn.prompt,
            reply=reply.text,
            finish_reason=reply.finish_reason,
            latency_ms=reply.latency_ms,
            tokens=reply.input_tokens + reply.output_tokens,
            cached=reply.cached,
            scores=tuple(scores),
            evidence=reply.evidence,
            suspicious=find_suspicious_words(reply.text),
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
                **({"evidence": dict(reply.evidence)} if reply.evidence else {}),
            }
        )


def _word_empty(reply: Reply) -> str:
    what = "no text after its reasoning" if reply.evidence.get("reasoning") else "no text"
    if reply.finish_reason == "length":
        return f"the agent returned {what}: cut at the limit of {reply.output_tokens} tokens"
    return f"the agent returned {what}"


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
    if status != "errored":
        return trial
    errors = dict(_list_errors(turns))
    fatal = next((reason for code, reason in errors.items() if code in FATAL_CODES), None)
    return replace(trial, fatal=fatal, is_stopped="stopped" in errors)


def _list_errors(turns: tuple[TurnResult, ...]) -> Iterator[tuple[str | None, str | None]]:
    for turn in turns:
        yield turn.error_code, turn.error
        for score in turn.scores:
            for verdict in score.verdicts:
                yield verdict.error_code, verdict.reason
