"""Ask a model about criteria: one call each (the default), or all of a reply in one call."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from azd_eval.domain.chat import ChatRequest, Message, ReplySchema
from azd_eval.domain.criterion import Criterion
from azd_eval.domain.ports import ChatModel, Journal, JudgeRequest
from azd_eval.domain.score import Outcome, Verdict
from azd_eval.errors import ModelError
from azd_eval.evaluators.verdict_reader import (
    Decision,
    batch_reader,
    batch_schema,
    describe_scale,
    single_reader,
    single_schema,
)
from azd_eval.prompts import fill, template
from azd_eval.structured import ask

_LONGEST_RAW = 2000
# Line ends that JSON does not escape by itself.
_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}


@dataclass(frozen=True, slots=True)
class _Asker:
    """What both judges share: the model, its parameters, and where verdicts are kept."""

    model: ChatModel
    journal: Journal
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def chat_request(
        self, request: JudgeRequest, question: str, answer_format: str, schema: ReplySchema
    ) -> ChatRequest:
        return ChatRequest(
            messages=(
                Message("system", template("judge.md")),
                Message("user", _word_item(request, question, answer_format)),
            ),
            purpose="judge",
            schema=schema,
            parameters=self.parameters,
            repeat=request.item.spec.repeat,
        )

    def keep(self, request: JudgeRequest, verdict: Verdict) -> Verdict:
        spec = request.item.spec
        self.journal.record(
            {
                "event": "verdict",
                "task": spec.task.name,
                "task_key": spec.task.key,
                "candidate": spec.candidate.id,
                "repeat": spec.repeat,
                "turn": request.item.turn_index,
                "evaluator": request.evaluator,
                "criterion": verdict.criterion,
                "verdict": verdict.outcome,
                "reason": verdict.reason,
                "grade": verdict.grade,
                "raw": verdict.raw,
                "error_code": verdict.error_code,
            }
        )
        return verdict


@dataclass(frozen=True, slots=True)
class IndependentJudge(_Asker):
    """Decides each criterion in a call of its own, all at once, so that none sways another."""

    async def decide(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        verdicts = (self._decide_one(request, criterion) for criterion in request.criteria)
        return tuple(await asyncio.gather(*verdicts))

    async def _decide_one(self, request: JudgeRequest, criterion: Criterion) -> Verdict:
        may_not_apply = not criterion.always_applicable
        chat_request = self.chat_request(
            request,
            f"Criterion {_json(criterion.name)}:\n{criterion.instruction}",
            _word_answer("judge_single.md", graded=request.graded, may_not_apply=may_not_apply),
            single_schema(graded=request.graded, may_not_apply=may_not_apply),
        )
        try:
            answer = await ask(
                self.model, chat_request, single_reader(criterion, graded=request.graded)
            )
        except ModelError as error:
            return self.keep(request, _failed(criterion, error))
        if answer.value is None:
            return self.keep(request, _unreadable(criterion, answer.fault, answer.raw))
        return self.keep(request, _verdict(criterion, answer.value, graded=request.graded))


@dataclass(frozen=True, slots=True)
class BatchedJudge(_Asker):
    """Decides all criteria of a reply in one call: fewer calls, less independence."""

    async def decide(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        verdicts = await self._decide_all(request, request.criteria) if request.criteria else ()
        return tuple(self.keep(request, verdict) for verdict in verdicts)

    async def _decide_all(
        self, request: JudgeRequest, criteria: tuple[Criterion, ...]
    ) -> Sequence[Verdict]:
        may_not_apply = any(not criterion.always_applicable for criterion in criteria)
        chat_request = self.chat_request(
            request,
            f"Criteria:\n{_word_criteria(criteria)}",
            _word_answer("judge_batch.md", graded=request.graded, may_not_apply=may_not_apply),
            batch_schema(graded=request.graded, may_not_apply=may_not_apply),
        )
        try:
            answer = await ask(
                self.model, chat_request, batch_reader(criteria, graded=request.graded)
            )
        except ModelError as error:
            return [_failed(criterion, error) for criterion in criteria]
        if answer.value is None:
            return [_unreadable(criterion, answer.fault, answer.raw) for criterion in criteria]
        return [
            _verdict(criterion, decision, graded=request.graded)
            for criterion, decision in zip(criteria, answer.value, strict=True)
        ]


def _json(value: Any) -> str:
    """Write JSON on one line, whatever a reader takes for a line end, that UTF-8 can encode."""
    text = json.dumps(value, ensure_ascii=False).translate(_LINE_ENDS)
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


def _word_answer(name: str, *, graded: bool, may_not_apply: bool) -> str:
    scale, meaning = describe_scale(graded=graded, may_not_apply=may_not_apply)
    return fill(name, {"scale": scale, "meaning": meaning}).strip()


def _word_item(request: JudgeRequest, question: str, answer_format: str) -> str:
    # The part that the criteria of one reply share comes first: providers cache prompt prefixes.
    item = request.item
    conversation: dict[str, Any] = {}
    if item.history:
        conversation["earlier_turns"] = [
            {"user": exchange.prompt, "agent": exchange.reply} for exchange in item.history
        ]
    conversation["user"] = item.turn.prompt
    if item.spec.task.context and item.spec.task.context != request.grounding:
        conversation["context_given_to_the_agent"] = item.spec.task.context
    if request.expected is not None:
        conversation["expected_answer"] = request.expected
    sources = ""
    if request.grounding is not None:
        sources = fill("judge_sources.md", {"sources": _json(request.grounding)})
    return fill(
        "judge_item.md",
        {
            "conversation": _json(conversation),
            "sources": sources,
            "reply": _json(item.reply.text),
            "question": question,
            "answer_format": answer_format,
        },
    )


def _word_criteria(criteria: tuple[Criterion, ...]) -> str:
    return "\n".join(
        f"{number}. {_json(criterion.name)}: {criterion.instruction}"
        + ("" if criterion.always_applicable else " (may not apply)")
        for number, criterion in enumerate(criteria, start=1)
    )


def _verdict(criterion: Criterion, decision: Decision, *, graded: bool) -> Verdict:
    score, reason = decision
    outcome: Outcome = "not_applicable"
    if score is not None:
        # On the 1..5 scale a dimension counts as met from "just acceptable" up, the 0.5 of 0..1.
        outcome = "met" if score >= (3 if graded else 1) else "unmet"
    grade = score if graded else None
    return Verdict(criterion.name, outcome, reason, criterion.weight, grade)


def _failed(criterion: Criterion, error: ModelError) -> Verdict:
    return Verdict(
        criterion.name,
        "unusable",
        f"the judge failed: {error.message}",
        criterion.weight,
        error_code=error.code,
    )


def _unreadable(criterion: Criterion, fault: str | None, raw: str) -> Verdict:
    reason = f"the judge's answer could not be used: {fault}"
    return Verdict(criterion.name, "unusable", reason, criterion.weight, raw=raw[:_LONGEST_RAW])
