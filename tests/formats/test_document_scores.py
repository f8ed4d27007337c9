"""What a run adds to items, against the vendor's own example of every status."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.ports import TurnUnderTest
from azd_eval.domain.score import Score, Trial, TrialSpec, TurnResult, Verdict
from azd_eval.domain.task import Reply, Task, Turn
from azd_eval.evaluators.named import build_named
from azd_eval.formats.document_results import SCORES
from azd_eval.formats.document_schema import find_schema_faults
from azd_eval.formats.document_scores import (
    name_score,
    write_score,
    write_thread_summary,
    write_turn_result,
)
from azd_eval.formats.schema import Schema
from tests.factories import BASELINE, ScriptedJudge

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


texts = st.text(max_size=40)
names = st.sampled_from(["Mail", "send", "", "read"])
tools = st.fixed_dictionaries({"plugin_name": names, "function_name": names})
hits = st.fixed_dictionaries(
    {},
    optional={
        "rank": st.one_of(st.none(), st.integers(1, 9)),
        "webUrl": st.one_of(st.none(), texts),
        "extracts": st.lists(st.fixed_dictionaries({"text": texts}), max_size=2),
    },
)
retrievals = st.fixed_dictionaries(
    {"capability": st.sampled_from(["Email", "People"])},
    optional={
        "status": st.sampled_from(["success", "failed"]),
        "queries": st.lists(st.fixed_dictionaries({"queryString": texts}), max_size=2),
        "retrievalHits": st.lists(hits, max_size=3),
    },
)
evidence = st.fixed_dictionaries(
    {},
    optional={
        "citations": st.lists(st.fixed_dictionaries({"index": st.integers(1, 9)}), max_size=2),
        "diagnostics": st.fixed_dictionaries(
            {},
            optional={
                "retrieval_executions": st.lists(retrievals, max_size=2),
                "tool_calls": st.fixed_dictionaries(
                    {
                        "selected_functions": st.one_of(st.none(), st.lists(tools, max_size=2)),
                        "executions": st.one_of(
                            st.none(),
                            st.lists(
                                tools.map(lambda tool: {**tool, "response_status": 200}), max_size=2
                            ),
                        ),
                    }
                ),
            },
        ),
    },
)
OPTIONS = {
    **{name: {"threshold": 4} for name in ("Relevance", "Coherence", "Groundedness", "Similarity")},
    "Citations": {"citation_format": "mixed", "threshold": 2},
    "ExactMatch": {},
    "PartialMatch": {"threshold": 0.3},
    "RetrievalQuery": {"capability": "Email", "selector": "a", "includes": ["b"]},
    "RetrievalResult": {
        "capability": "Email",
        "expected_items": [{"retrievalExtract_contains": "a"}],
    },
    "ToolCallSelection": {"calls": [{"tool": {"plugin_name": "Mail", "function_name": "send"}}]},
    "ToolCallExecution": {"calls": [{"tool": {"plugin_name": "Mail", "function_name": "send"}}]},
}


@given(
    texts, texts, evidence, st.one_of(st.integers(1, 5), st.sampled_from(["unusable", "undecided"]))
)
def test_every_evaluator_writes_what_the_official_schema_takes(reply, expected, beside, decision):
    judge = ScriptedJudge(dict.fromkeys(OPTIONS, decision))
    task = Task("t", (Turn("Who?", expected=expected),))
    item = TurnUnderTest(TrialSpec(task, BASELINE), 0, task.turns[0], Reply(reply, evidence=beside))

    scores = [asyncio.run(each.score(item)) for each in build_named(judge, OPTIONS)]

    result = write_turn_result(TurnResult("Who?", reply, scores=tuple(scores), evidence=beside))
    document = {"schemaVersion": "1.11.0", "items": [{"prompt": "Who?", **result}]}
    assert [] == [str(fault) for fault in find_schema_faults(document)]
    assert len(OPTIONS) == len(result["scores"])
