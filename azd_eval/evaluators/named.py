"""The evaluators that evaluation documents name, by their exact names."""

from collections.abc import Mapping
from typing import Any

from azd_eval.domain.criterion import Criterion, Rubric
from azd_eval.domain.ports import Evaluator, Judge
from azd_eval.evaluators.citations import count_citations
from azd_eval.evaluators.findings import Rule, RuleEvaluator
from azd_eval.evaluators.graded import GRADED, describe_graded, grade_named
from azd_eval.evaluators.retrieval import check_query, check_result
from azd_eval.evaluators.text_match import match_exactly, match_partly
from azd_eval.evaluators.tool_calls import check_execution, check_selection

_RULES: Mapping[str, tuple[Rule, str]] = {
    "Citations": (
        count_citations,
        "The reply cites its sources, with the markers that the agent's platform knows",
    ),
    "ExactMatch": (match_exactly, "The reply holds the expected answer, word for word"),
    "PartialMatch": (match_partly, "The reply has the words of the expected answer, and few more"),
    "RetrievalQuery": (check_query, "The agent searches with the terms that the task asks for"),
    "RetrievalResult": (check_result, "The agent's search finds what the task asks for"),
    "ToolCallSelection": (check_selection, "The agent chooses the functions that the task needs"),
    "ToolCallExecution": (check_execution, "The agent runs with success what the task needs"),
}


def build_named(judge: Judge, of_run: Mapping[str, Mapping[str, Any]]) -> tuple[Evaluator, ...]:
    """Make all of them; those that are not in `of_run`, with its options, wait for turns to ask."""
    return (
        *(grade_named(name, judge, of_run.get(name)) for name in GRADED),
        *(RuleEvaluator(name, rule, of_run.get(name)) for name, (rule, _) in _RULES.items()),
    )


def describe_named() -> tuple[Rubric, ...]:
    """Say what each of them asks of a reply, as the rubric of one dimension that it is."""
    described = {name: _shorten(describe_graded(name)) for name in GRADED}
    described |= {name: text for name, (_, text) in _RULES.items()}
    return tuple(Rubric(name, (Criterion(name, text),)) for name, text in described.items())


def _shorten(asked: str) -> str:
    """Keep the question and what the best grade means."""
    question, *lines = asked.split("\n")
    return " ".join([question, *(line for line in lines if line.startswith("5: "))])
