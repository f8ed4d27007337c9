"""A finished run or optimization as one HTML page that needs nothing from outside.

Everything that users, agents and models wrote is shown as text: escaped, and with characters that
a page may not hold made visible. The page has no scripts; its policy forbids any request.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from azd_eval.domain.difference import describe_difference
from azd_eval.domain.optimization_summary import CandidateResult, OptimizationSummary
from azd_eval.domain.score import Status, Trial
from azd_eval.domain.summary import CriterionResult, RunSummary, TaskResult
from azd_eval.prompts import template
from azd_eval.reports.chart import draw_scores
from azd_eval.reports.wording import FILTERS, NOTHING, is_finite, make_visible

MOST_LISTED = 500
MOST_CRITERIA = 25

_FAILING_FIRST: tuple[Status, ...] = ("failed", "errored", "skipped", "passed")
_MARKS = {
    "passed": ("✓", "good"),
    "failed": ("✗", "bad"),
    "errored": ("!", "warn"),
    "skipped": (NOTHING, "soft"),
    "met": ("✓", "good"),
    "unmet": ("✗", "bad"),
    "not_applicable": (NOTHING, "soft"),
    "undecided": ("?", "soft"),
    "unusable": ("!", "warn"),
}


@dataclass(frozen=True, slots=True)
class _TaskView:
    result: TaskResult
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class _CandidateView:
    result: CandidateResult
    is_best: bool
    diff: str
    instructions: str


def render_run(summary: RunSummary, trials: Iterable[Trial]) -> str:
    """Write the page of a run; `trials` in any order.

    Details are given of the first 500 tasks, failing ones first, and of as many criteria; the page
    says what it leaves out.
    """
    shown = _view_tasks(summary.results, trials)
    criteria = sorted(summary.criteria, key=_lowest_rate_first)
    return _render(
        "report_run.html",
        summary=summary,
        criteria=criteria[:MOST_LISTED],
        criteria_left_out=len(criteria[MOST_LISTED:]),
        tasks=shown,
        statuses=_count_statuses(shown),
        left_out=len(summary.results) - len(shown),
    )


def render_optimization(summary: OptimizationSummary, instructions: Mapping[str, str]) -> str:
    """Write the page of an optimization; `instructions` are the candidates' texts, by their id."""
    return _render(
        "report_optimization.html",
        summary=summary,
        gain=_subtract(summary.best.score, summary.baseline.score),
        candidates=[_view_candidate(one, summary, instructions) for one in summary.candidates],
        chart=draw_scores(summary),
    )


def _view_tasks(results: Iterable[TaskResult], trials: Iterable[Trial]) -> list[_TaskView]:
    ordered = sorted(results, key=lambda result: _FAILING_FIRST.index(result.status))
    groups: dict[int, list[Trial]] = {result.index: [] for result in ordered[:MOST_LISTED]}
    for trial in trials:
        # A large run is not in memory as a whole.
        if trial.index in groups:
            groups[trial.index].append(trial)
    return [
        _TaskView(result, tuple(sorted(groups[result.index], key=lambda trial: trial.repeat)))
        for result in ordered[:MOST_LISTED]
    ]


def _count_statuses(tasks: Iterable[_TaskView]) -> dict[str, int]:
    counts = Counter(task.result.status for task in tasks)
    return {status: counts[status] for status in _FAILING_FIRST if counts[status]}


def _lowest_rate_first(criterion: CriterionResult) -> tuple[float, str, str]:
    rate = criterion.rate if is_finite(criterion.rate) else 2.0
    return (rate, criterion.evaluator, criterion.name)


def _view_candidate(
    candidate: CandidateResult, summary: OptimizationSummary, instructions: Mapping[str, str]
) -> _CandidateView:
    text = instructions.get(candidate.id, "")
    parent = instructions.get(candidate.parent) if candidate.parent else None
    return _CandidateView(
        result=candidate,
        is_best=candidate.id == summary.best_id,
        diff=describe_difference(parent, text) if parent is not None and text else "",
        instructions=text,
    )


def _subtract(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def _render(name: str, **values: Any) -> str:
    style = template("report.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        _environment()
        .get_template(name)
        .render(
            values,
            style=style,
            style_digest=f"sha256-{digest}",
            marks=_MARKS,
            most_criteria=MOST_CRITERIA,
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(template),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=make_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    environment.tests["finite"] = is_finite
    return environment
