"""What a run adds to the items of an evaluation document, in the words of its official schema."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from azd_eval.domain.item_status import has_failed_to_run, judge_thread, judge_turn
from azd_eval.domain.score import Score, Trial, TurnResult, Verdict
from azd_eval.evaluator_options import OPTIONS
from azd_eval.formats.document_results import Citation, Diagnostics
from azd_eval.formats.schema import Schema

_AGENT_ERRORS = {
    "wrong_key": "agentAuthenticationError",
    "rate_limited": "agentRateLimited",
    "no_credit": "agentRateLimited",
    "timeout": "agentTimeout",
    "unreadable_reply": "agentResponseUnparseable",
    "not_attempted": "turnSkipped",
}
_EVALUATOR_ERRORS = {
    "wrong_key": "judgeAuthenticationError",
    "rate_limited": "judgeRateLimited",
    "no_credit": "judgeRateLimited",
    "timeout": "judgeTimeout",
    "unreadable_reply": "judgeOutputUnparseable",
    "empty_reply": "judgeOutputUnparseable",
    "cut_off": "judgeOutputUnparseable",
    "missing_expected": "evaluatorConfigurationError",
    "invalid_result": "invalidEvaluatorResult",
    "indeterminate_evidence": "toolCallEvidenceIndeterminate",
}
_SKIPPED = "Turn not attempted: preceding turn failed"
# An agent may report anything; what the official schema does not take stays in `trials.jsonl`.
_EVIDENCE: Mapping[str, Schema[Any]] = {
    "citations": Schema(list[Citation]),
    "diagnostics": Schema(Diagnostics),
}


def name_score(evaluator: str) -> str:
    """Give the key of an evaluator in `scores`; one of the user's own keeps its name."""
    return evaluator[0].lower() + evaluator[1:] if evaluator in OPTIONS else evaluator


def write_turn_result(turn: TurnResult) -> dict[str, Any]:
    """Give the fields that a run adds to an item of a single turn, or to a turn of a thread."""
    status = judge_turn(turn)
    fields: dict[str, Any] = {
        "response": turn.reply or "",
        **_write_evidence(turn),
        "scores": {name_score(each.evaluator): write_score(each) for each in turn.scores},
        "status": status,
    }
    if status == "error":
        fields["error"] = _write_agent_error(turn)
    elif status == "partial":
        failed = sum(map(has_failed_to_run, turn.scores))
        message = f"{failed} of {len(turn.scores)} evaluators failed to run."
        fields["error"] = {
            "code": "evaluatorsFailed",
            "message": f"Agent response obtained. {message}",
        }
    return fields


def write_thread_summary(trial: Trial) -> dict[str, Any]:
    """Give the `summary` of a thread."""
    statuses = [judge_turn(turn) for turn in trial.turns]
    counts = Counter(statuses)
    return {
        "turns_total": len(statuses),
        "turns_passed": counts["pass"],
        "turns_failed": counts["fail"],
        "turns_partial": counts["partial"],
        "turns_errored": counts["error"],
        "overall_status": judge_thread(statuses),
    }


def write_score(score: Score) -> dict[str, Any]:
    """Give the entry of one evaluator in `scores`."""
    if has_failed_to_run(score):
        return _write_errored(score)
    result = "pass" if score.passed else "fail"
    reason = "; ".join(each.reason for each in score.verdicts if each.reason)
    told = {"reason": reason} if reason else {}
    match score.evaluator:
        case "ExactMatch":
            return {"match": score.passed, "result": result, **told, **score.details}
        case "Citations":
            measured: Mapping[str, Any] = {"count": int(score.native or 0)}
        case _:
            measured = {"score": score.score if score.native is None else score.native}
    threshold = {} if score.threshold is None else {"threshold": score.threshold}
    return {**measured, "result": result, **threshold, **told, **score.details}


def _write_errored(score: Score) -> dict[str, Any]:
    nothing = Verdict(score.evaluator, "unusable", "it gave no verdict")
    worst = min(score.verdicts, key=lambda each: each.outcome != "unusable", default=nothing)
    return {
        "result": "error",
        "error": f"Evaluator failed: {worst.reason or nothing.reason}",
        "code": _name_error(worst),
    }


def _name_error(verdict: Verdict) -> str:
    if verdict.outcome != "unusable":
        return "evaluatorConfigurationError"
    if verdict.error_code is None:
        return "judgeOutputUnparseable"
    return _EVALUATOR_ERRORS.get(verdict.error_code, "evaluatorError")


def _write_evidence(turn: TurnResult) -> dict[str, Any]:
    return {
        key: turn.evidence[key]
        for key, schema in _EVIDENCE.items()
        if turn.evidence.get(key) and not schema.read(turn.evidence[key])[1]
    }


def _write_agent_error(turn: TurnResult) -> dict[str, str]:
    code = _AGENT_ERRORS.get(turn.error_code or "", "agentRequestFailed")
    message = _SKIPPED if code == "turnSkipped" else f"Agent request failed: {turn.error}"
    return {"code": code, "message": message}
