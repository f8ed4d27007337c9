"""RetrievalQuery and RetrievalResult: what the agent says that it searched for and found."""

from typing import Any

import pytest

from azd_eval.domain.task import Reply
from azd_eval.evaluator_options import RetrievalQueryOptions, RetrievalResultOptions
from azd_eval.evaluators.findings import Finding
from azd_eval.evaluators.retrieval import check_query, check_result
from tests.factories import make_item


def make_execution(*queries: str, **fields: Any) -> dict[str, Any]:
    return {
        "capability": "Email",
        "status": "success",
        "queries": [{"queryString": query, "filterExpression": "budget"} for query in queries],
        **fields,
    }


def make_hits(*texts: str, **fields: Any) -> dict[str, Any]:
    hits = [
        {
            "rank": rank,
            "webUrl": f"https://a.example/{rank}",
            "extracts": [{"text": text}],
            **fields,
        }
        for rank, text in enumerate(texts, start=1)
    ]
    return make_execution("q", retrievalHits=hits)


def query(executions: Any, **options: Any) -> Finding:
    wanted = {"capability": "Email", "selector": "Budget", **options}
    return check_query(_item(executions), RetrievalQueryOptions.model_validate(wanted))


def result(executions: Any, *expected: str, **options: Any) -> Finding:
    wanted: dict[str, Any] = {"capability": "Email", **options}
    if expected:
        wanted["expected_items"] = [{"retrievalExtract_contains": text} for text in expected]
    return check_result(_item(executions), RetrievalResultOptions.model_validate(wanted))


def _item(executions: Any) -> Any:
    return make_item(Reply("so", evidence={"diagnostics": {"retrieval_executions": executions}}))


@pytest.mark.parametrize(
    ("executions", "options", "code"),
    [
        ([make_execution("the BUDGET  of 2026")], {}, "pass"),
        ([make_execution("budget"), make_execution("budget 2026")], {"includes": ["2026"]}, "pass"),
        ([make_execution("plans")], {}, "no_matching_query"),
        ([], {}, "no_matching_query"),
        ([make_execution("budget", capability="Teams")], {}, "no_matching_query"),
        ([make_execution("budget", status="failed")], {}, "retrieval_failure"),
        ([make_execution("budget", status=None)], {}, "pass"),
        (
            [make_execution("budget", status="failed"), make_execution("budget")],
            {},
            "pass",
        ),
        ([make_execution("budget")], {"includes": ["profit"]}, "required_terms_missing"),
        ([make_execution("budget type:One")], {"excludes": ["Type:"]}, "excluded_terms_found"),
        (
            [make_execution("budget draft")],
            {"includes": ["profit"], "excludes": ["draft"]},
            "mixed_term_failure",
        ),
    ],
)
def test_queries_are_held_against_terms(executions, options, code):
    finding = query(executions, **options)

    assert code == finding.details["diagnostic_code"]
    assert ("met" if code == "pass" else "unmet") == finding.outcome
    assert (float(code == "pass"), 1.0) == (finding.native, finding.threshold)
    assert finding.reason


def test_what_was_found_of_the_queries_is_told():
    finding = query(
        [make_execution("Budget draft", "plans")], includes=["profit", "draft"], excludes=["draft"]
    )

    assert {
        "diagnostic_code": "mixed_term_failure",
        "matched_queries": ["Budget draft"],
        "includes_missing": ["profit"],
        "excludes_found": ["draft"],
    } == finding.details


@pytest.mark.parametrize(
    ("executions", "expected", "options", "code", "native", "share"),
    [
        ([make_hits("an Update", "the budget")], ("update", "Budget"), {}, "pass", 1, 1),
        ([make_hits("an update")], ("update", "budget"), {}, "not_retrieved", 0.5, 0.5),
        ([make_hits("a", "b", "budget")], ("budget",), {"max_rank": 2}, "not_retrieved", 0, 0),
        ([make_hits("x", rank=None)], ("x",), {"max_rank": 1}, "pass", 1, 1),
        ([make_hits("a", "b")], (), {"min_expected_count": 2}, "pass", 1, 1),
        ([make_hits("a", "b")], (), {"min_expected_count": 4}, "count_below_minimum", 0, 0),
        ([make_hits("a")], ("a",), {"min_expected_count": 2}, "count_below_minimum", 1, 0.5),
        ([], ("a",), {}, "not_retrieved", 0, 0),
        ([{"capability": "Email", "retrievalHits": "?"}], ("a",), {}, "not_retrieved", 0, 0),
    ],
)
def test_expected_items_are_looked_for_in_the_best_hits(
    executions, expected, options, code, native, share
):
    finding = result(executions, *expected, **options)

    assert code == finding.details["diagnostic_code"]
    assert (native, share, 1.0) == (finding.native, finding.share, finding.threshold)
    assert ("met" if code == "pass" else "unmet") == finding.outcome


def test_what_was_found_of_the_items_is_told_with_the_best_rank():
    finding = result([make_hits("b", "a b"), make_hits("a")], "a", "c")

    assert {
        "diagnostic_code": "not_retrieved",
        "results_evaluated": 3,
        "matched_items": [
            {"extractMatch": "a", "matchedHitUrl": "https://a.example/1", "matchedHitRank": 1}
        ],
        "missing_items": [{"extractMatch": "c"}],
        "extract_failures": [{"extractMatch": "c"}],
    } == finding.details


@pytest.mark.parametrize(
    "evidence",
    [{}, {"diagnostics": None}, {"diagnostics": []}, {"diagnostics": {"retrieval_executions": 3}}],
)
def test_without_evidence_nothing_is_decided(evidence):
    item = make_item(Reply("so", evidence=evidence))

    findings = [
        check_query(item, RetrievalQueryOptions(capability="Email", selector="a")),
        check_result(item, RetrievalResultOptions(capability="Email", min_expected_count=1)),
    ]

    assert [("unusable", "missing_evidence")] * 2 == [(f.outcome, f.error_code) for f in findings]
