"""Look at the functions that the agent chose and ran: ToolCallSelection and ToolCallExecution."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from azd_eval.domain.ports import TurnUnderTest
from azd_eval.evaluator_options import ToolCallExecutionOptions, ToolCallSelectionOptions
from azd_eval.evaluators.evidence import (
    find,
    find_diagnostics,
    find_records,
    find_text,
    miss_evidence,
)
from azd_eval.evaluators.findings import DECIDED, Finding

_KEY = "tool_calls"
_SUCCESS = range(200, 300)

# The names of plugin and function.
_Tool = tuple[str, str]


def check_selection(item: TurnUnderTest, options: ToolCallSelectionOptions) -> Finding:
    """Compare which functions were chosen, however often."""
    if (fault := _find_fault(item, "selected_functions")) is not None:
        return fault
    expected = dict.fromkeys(_list_expected(options))
    chosen = dict.fromkeys(
        map(_identify, find_records(find_diagnostics(item.reply, _KEY), "selected_functions"))
    )
    missing = [tool for tool in expected if tool not in chosen]
    others = [tool for tool in chosen if tool not in expected]
    needless = [] if options.allow_additional_calls else others
    if not all(map(all, chosen)) and (missing or needless):
        return _leave_open("a function was chosen that has no name")
    return _conclude("chosen", missing, needless)


def check_execution(item: TurnUnderTest, options: ToolCallExecutionOptions) -> Finding:
    """Look for a successful run of its own for each call that is expected."""
    if (fault := _find_fault(item, "executions")) is not None:
        return fault
    runs = [
        _identify(run)
        for run in find_records(find_diagnostics(item.reply, _KEY), "executions")
        if find(run, "response_status") in _SUCCESS
    ]
    missing = list((Counter(_list_expected(options)) - Counter(runs)).elements())
    if missing and not all(map(all, runs)):
        return _leave_open("a function was run that has no name")
    return _conclude("run with success", missing, [])


def _find_fault(item: TurnUnderTest, key: str) -> Finding | None:
    evidence = find_diagnostics(item.reply, _KEY)
    if error := find_text(evidence, "evidence_error"):
        return _leave_open(error)
    return None if isinstance(find(evidence, key), list | tuple) else miss_evidence(_KEY)


def _leave_open(reason: str) -> Finding:
    return Finding("unusable", reason, error_code="indeterminate_evidence")


def _list_expected(options: ToolCallExecutionOptions) -> list[_Tool]:
    return [(call.tool.plugin_name, call.tool.function_name) for call in options.calls]


def _identify(record: Mapping[str, Any]) -> _Tool:
    return find_text(record, "plugin_name"), find_text(record, "function_name")


def _conclude(verb: str, missing: list[_Tool], needless: list[_Tool]) -> Finding:
    faults = [f"not {verb}: {_list(missing)}"] if missing else []
    faults += [f"not expected: {_list(needless)}"] if needless else []
    passed = not faults
    reason = "; ".join(faults) or f"every expected function was {verb}"
    return Finding(DECIDED[passed], reason, None, float(passed), 1.0)


def _list(tools: Iterable[_Tool]) -> str:
    return ", ".join(".".join(tool) for tool in tools)
