"""ToolCallSelection and ToolCallExecution: which functions the agent says that it chose and ran."""

from typing import Any

import pytest

from azd_eval.domain.task import Reply
from azd_eval.evaluator_options import ToolCallExecutionOptions, ToolCallSelectionOptions
from azd_eval.evaluators.tool_calls import check_execution, check_selection
from tests.factories import make_item

SEND, FIND = ("mail", "send"), ("mail", "find")


def make_options(kind: Any, *tools: tuple[str, str], **options: Any) -> Any:
    calls = [{"tool": {"plugin_name": plugin, "function_name": name}} for plugin, name in tools]
    return kind.model_validate({"calls": calls, **options})


def make_runs(*runs: tuple[str | None, str | None, int | None]) -> list[dict[str, Any]]:
    keys = ("plugin_name", "function_name", "response_status")
    return [dict(zip(keys, run, strict=True)) for run in runs]


def make_reply(**tool_calls: Any) -> Any:
    return make_item(Reply("so", evidence={"diagnostics": {"tool_calls": tool_calls}}))


@pytest.mark.parametrize(
    ("chosen", "expected", "others", "outcome"),
    [
        ([SEND], [SEND], True, "met"),
        ([SEND, SEND], [SEND], False, "met"),
        ([SEND], [SEND, SEND], True, "met"),
        ([SEND, FIND], [SEND], True, "met"),
        ([SEND, FIND], [SEND], False, "unmet"),
        ([FIND], [SEND], True, "unmet"),
        ([("Mail", "send")], [SEND], True, "unmet"),
        ([], [SEND], True, "unmet"),
        ([SEND, (None, None)], [SEND], True, "met"),
        ([SEND, (None, None)], [SEND], False, "unusable"),
        ([(None, "send")], [SEND], True, "unusable"),
    ],
)
def test_the_functions_chosen_are_a_set(chosen, expected, others, outcome):
    item = make_reply(selected_functions=make_runs(*((*tool, None) for tool in chosen)))
    options = make_options(ToolCallSelectionOptions, *expected, allow_additional_calls=others)

    finding = check_selection(item, options)

    assert outcome == finding.outcome
    assert ("indeterminate_evidence" if outcome == "unusable" else None) == finding.error_code
    assert finding.reason


@pytest.mark.parametrize(
    ("runs", "expected", "outcome"),
    [
        ([(*SEND, 200)], [SEND], "met"),
        ([(*SEND, 204), (*FIND, 500)], [SEND], "met"),
        ([(*SEND, 500), (*SEND, 201)], [SEND], "met"),
        ([(*SEND, 200)], [SEND, SEND], "unmet"),
        ([(*SEND, 200), (*SEND, 200)], [SEND, SEND], "met"),
        ([(*SEND, 404)], [SEND], "unmet"),
        ([(*SEND, None)], [SEND], "unmet"),
        ([], [SEND], "unmet"),
        ([(None, None, 200)], [SEND], "unusable"),
    ],
)
def test_each_expected_call_has_a_successful_run_of_its_own(runs, expected, outcome):
    item = make_reply(executions=make_runs(*runs))

    finding = check_execution(item, make_options(ToolCallExecutionOptions, *expected))

    assert outcome == finding.outcome
    native = None if outcome == "unusable" else float(outcome == "met")
    assert native == finding.native


@pytest.mark.parametrize(
    ("tool_calls", "code"),
    [
        ({}, "missing_evidence"),
        ({"selected_functions": None, "executions": None}, "missing_evidence"),
        ({"selected_functions": "?", "executions": {}}, "missing_evidence"),
        (
            {"selected_functions": [], "executions": [], "evidence_error": "two artifacts"},
            "indeterminate_evidence",
        ),
    ],
)
def test_without_evidence_nothing_is_decided(tool_calls, code):
    item = make_reply(**tool_calls)

    findings = [
        check_selection(item, make_options(ToolCallSelectionOptions, SEND)),
        check_execution(item, make_options(ToolCallExecutionOptions, SEND)),
    ]

    assert [("unusable", code)] * 2 == [(f.outcome, f.error_code) for f in findings]
