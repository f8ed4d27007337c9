"""What a run adds to items, against the vendor's own example of every status."""

import json
from pathlib import Path

import pytest

from azd_eval.domain.score import Score, Trial, TurnResult, Verdict
from azd_eval.formats.document_results import SCORES
from azd_eval.formats.document_scores import (
    name_score,
    write_score,
    write_thread_summary,
    write_turn_result,
)
from azd_eval.formats.schema import Schema

SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "m365"
SCENARIOS = SAMPLES / "repo/schema/v1/examples/valid/scenarios-with-mixed-errors.json"
TIMEOUT = "Connection timeout to Azure OpenAI endpoint after 30s"
RATE = "Service rate limit exceeded after 3 retries"


def grade(evaluator, number, reason=""):
    """Say what a graded evaluator found; a text is why it failed."""
    if isinstance(number, str):
        code = "timeout" if number == TIMEOUT else "rate_limited"
        verdict = Verdict(evaluator, "unusable", number, error_code=code)
        return Score(evaluator, None, None, (verdict,))
    verdict = Verdict(evaluator, "met" if number >= 3 else "unmet", reason, grade=number)
    return Score(evaluator, verdict.value, number >= 3, (verdict,), number, 3)


def answered(turn, relevance, coherence):
    reasons = [turn["scores"][key].get("reason", "") for key in ("relevance", "coherence")]
    scores = (grade("Relevance", relevance, reasons[0]), grade("Coherence", coherence, reasons[1]))
    return TurnResult(turn["prompt"], turn["response"], scores=scores)


def unanswered(turn, error, code):
    return TurnResult(turn["prompt"], error=error, error_code=code)


HAPPENED = {
    1: lambda item: [answered(item, 5, 5)],
    2: lambda item: [answered(item, 2, 2)],
    3: lambda item: [answered(item, 4, 2)],
    4: lambda item: [answered(item, 1, TIMEOUT)],
    5: lambda item: [answered(item, RATE, TIMEOUT)],
    6: lambda item: [unanswered(item, "HTTP 503 Service Unavailable", "server_error")],
    7: lambda item: [
        answered(item["turns"][0], 5, 5),
        answered(item["turns"][1], 5, TIMEOUT),
        answered(item["turns"][2], 1, 2),
    ],
    8: lambda item: [
        answered(item["turns"][0], 5, 5),
        unanswered(item["turns"][1], "DNS resolution failed for agent endpoint", "unreachable"),
        unanswered(item["turns"][2], "not attempted: an earlier turn failed", "not_attempted"),
    ],
}


def leave_out_codes(result):
    """Take out the codes of evaluators, which came after the example was written."""
    scores = {
        key: {name: value for name, value in entry.items() if name != "code"}
        for key, entry in result["scores"].items()
    }
    return {**result, "scores": scores}


@pytest.mark.skipif(not SCENARIOS.is_file(), reason="the vendor's samples are not here")
@pytest.mark.parametrize("number", HAPPENED)
def test_the_scenarios_of_the_vendor_are_reproduced(number):
    item = json.loads(SCENARIOS.read_text(encoding="utf-8"))["items"][number - 1]
    turns = HAPPENED[number](item)
    trial = Trial("t", "key", 0, "failed", None, tuple(turns))
    parts = item.get("turns", [item])

    expected = [
        {key: part[key] for key in ("response", "scores", "status", "error") if key in part}
        for part in parts
    ]
    assert expected == [leave_out_codes(write_turn_result(turn)) for turn in turns]
    if "turns" in item:
        assert item["summary"] == write_thread_summary(trial)


@pytest.mark.parametrize(
    ("code", "official"),
    [
        ("wrong_key", "agentAuthenticationError"),
        ("rate_limited", "agentRateLimited"),
        ("no_credit", "agentRateLimited"),
        ("timeout", "agentTimeout"),
        ("unreadable_reply", "agentResponseUnparseable"),
        ("empty_reply", "agentRequestFailed"),
        ("agent_error", "agentRequestFailed"),
        ("connection", "agentRequestFailed"),
        ("not_attempted", "turnSkipped"),
    ],
)
def test_failures_of_the_agent_have_official_codes(code, official):
    result = write_turn_result(TurnResult("hello", error="it broke", error_code=code))

    assert ("error", official, "") == (
        result["status"],
        result["error"]["code"],
        result["response"],
    )


@pytest.mark.parametrize(
    ("verdict", "official"),
    [
        (Verdict("E", "unusable", "r", raw="maybe"), "judgeOutputUnparseable"),
        (Verdict("E", "unusable", "r", error_code="unreadable_reply"), "judgeOutputUnparseable"),
        (Verdict("E", "unusable", "r", error_code="wrong_key"), "judgeAuthenticationError"),
        (Verdict("E", "unusable", "r", error_code="no_credit"), "judgeRateLimited"),
        (Verdict("E", "unusable", "r", error_code="timeout"), "judgeTimeout"),
        (Verdict("E", "unusable", "r", error_code="server_error"), "evaluatorError"),
        (Verdict("E", "unusable", "", error_code="missing_evidence"), "evaluatorError"),
        (
            Verdict("E", "unusable", "r", error_code="indeterminate_evidence"),
            "toolCallEvidenceIndeterminate",
        ),
        (
            Verdict("E", "unusable", "r", error_code="missing_expected"),
            "evaluatorConfigurationError",
        ),
        (Verdict("E", "undecided", "rules"), "evaluatorConfigurationError"),
    ],
)
def test_failures_of_evaluators_have_official_codes(verdict, official):
    entry = write_score(Score("E", None, None, (verdict,)))

    reason = verdict.reason or "it gave no verdict"
    assert {
        "result": "error",
        "error": f"Evaluator failed: {reason}",
        "code": official,
    } == entry


def found(evaluator, outcome, **fields):
    verdict = Verdict(evaluator, outcome, "because")
    return Score(evaluator, verdict.value, outcome == "met", (verdict,), **fields)


@pytest.mark.parametrize(
    ("score", "entry"),
    [
        (grade("Similarity", 4, "close"), {"score": 4, "threshold": 3, "reason": "close"}),
        (found("ExactMatch", "met"), {"match": True, "reason": "because"}),
        (
            found("PartialMatch", "met", native=0.75, threshold=0.5),
            {"score": 0.75, "threshold": 0.5, "reason": "because"},
        ),
        (
            found(
                "Citations", "met", native=2, threshold=1, details={"count": 2, "format": "bracket"}
            ),
            {"count": 2, "threshold": 1, "reason": "because", "format": "bracket"},
        ),
        (
            found(
                "RetrievalQuery",
                "met",
                native=1.0,
                threshold=1.0,
                details={"diagnostic_code": "pass", "matched_queries": ["q"]},
            ),
            {
                "score": 1.0,
                "threshold": 1.0,
                "reason": "because",
                "diagnostic_code": "pass",
                "matched_queries": ["q"],
            },
        ),
        (
            found("ToolCallSelection", "met", native=1.0, threshold=1.0),
            {"score": 1.0, "threshold": 1.0, "reason": "because"},
        ),
    ],
)
def test_scores_are_written_as_the_official_schema_has_them(score, entry):
    written = write_score(score)

    assert {"result": "pass", **entry} == written
    assert [] == list(Schema(SCORES[name_score(score.evaluator)]).read(written)[1])


def test_a_custom_evaluator_keeps_its_name_and_scale():
    score = found("tone_of_voice", "unmet", native=7.5, threshold=8)

    assert "tone_of_voice" == name_score(score.evaluator)
    assert {"score": 7.5, "result": "fail", "threshold": 8, "reason": "because"} == write_score(
        score
    )


def test_evidence_of_the_agent_stands_beside_the_response():
    executions = {"retrieval_executions": [{"capability": "Email"}]}
    evidence = {"citations": [{"index": 1}], "diagnostics": executions, "reasoning": "hm"}

    result = write_turn_result(TurnResult("hello", "Good day.", evidence=evidence))

    assert [{"index": 1}] == result["citations"]
    assert executions == result["diagnostics"]
    assert "reasoning" not in result


def test_evidence_that_the_official_schema_does_not_take_is_left_out():
    evidence = {"citations": [{"index": 0}], "diagnostics": {"tool_calls": "none"}}

    result = write_turn_result(TurnResult("hello", "Good day.", evidence=evidence))

    assert {"response", "scores", "status"} == result.keys()
