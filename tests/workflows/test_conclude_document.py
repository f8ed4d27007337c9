"""The summary of a document."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.chat import Usage
from azd_eval.domain.document_summary import EvaluatorResult, ItemCounts
from azd_eval.domain.score import Score, Trial, TurnResult, Verdict, trial_score, trial_status
from azd_eval.domain.tally import Tally
from azd_eval.workflows.conclude_document import DocumentFacts, conclude_document, group_items
from azd_eval.workflows.conclude_run import RunEnd, RunFacts, conclude_run


def grade(number, evaluator="Relevance"):
    if number is None:
        return Score(evaluator, None, None, (Verdict(evaluator, "unusable", "no"),))
    verdict = Verdict(evaluator, "met" if number >= 3 else "unmet", grade=number)
    return Score(evaluator, verdict.value, number >= 3, (verdict,), number, 3)


def make_trial(*turns, index=0, category=None):
    """Make a trial whose turns have these grades; None is an evaluator that failed."""
    results = tuple(
        TurnResult("hello", error="no", error_code="timeout")
        if grades == "error"
        else TurnResult("hello", "Good day.", scores=tuple(map(grade, grades)))
        for grades in turns
    )
    status = trial_status(results)
    score = None if status == "errored" else trial_score(results)
    return Trial(f"t{index}", f"k{index}", 0, status, score, results, index, category)


def conclude(*trials, items=None, **facts):
    tally = Tally()
    for trial in trials:
        tally.add(trial)
    planned = len(trials) if items is None else items
    run = conclude_run(
        RunFacts(
            run_id="r",
            name="n",
            created_at="now",
            agent="a",
            config=None,
            dataset="evals.json",
            evaluators=("Relevance",),
            models={"judge": "m"},
            planned_tasks=planned,
        ),
        tally,
        RunEnd("completed", Usage(), 1.0),
    )
    return conclude_document(DocumentFacts(planned, **facts), trials, run)


def test_items_are_counted_by_their_status():
    trials = [
        make_trial([5]),
        make_trial([1], index=1),
        make_trial([None], index=2),
        make_trial("error", index=3),
    ]

    summary = conclude(*trials, items=6)

    assert ItemCounts(6, 1, 1, 1, 1, 2) == summary.items
    assert ("2 of 6 items were not run", "3 of 6 items did not pass") == summary.gate.reasons


def test_evaluators_are_added_up_over_turns_on_their_own_scale():
    summary = conclude(make_trial([5], [2]), make_trial([None], [4], index=1))

    expected = EvaluatorResult("Relevance", 4, 2, 1, 1, pytest.approx(11 / 3), 2 / 3)
    assert (expected,) == summary.evaluators


def test_categories_have_counts_scores_and_evaluators_of_their_own():
    summary = conclude(
        make_trial([5], category="tools"),
        make_trial([1], index=1, category="knowledge"),
        make_trial([3], index=2, category="tools"),
        make_trial([3], index=3),
    )

    assert ["tools", "knowledge"] == [group.name for group in summary.categories]
    tools, knowledge = summary.categories
    assert (ItemCounts(2, 2), 0.75) == (tools.items, tools.score)
    assert (ItemCounts(1, 0, 1), 0.0) == (knowledge.items, knowledge.score)
    assert [(2, 4.0)] == [(each.count, each.mean) for each in tools.evaluators]


@pytest.mark.parametrize(
    ("grades", "fail_under", "passed"),
    [([5, 5], None, True), ([5, 1], None, False), ([5, 1], 0.5, True), ([5, 1], 0.51, False)],
)
def test_the_gate_is_that_of_a_run(grades, fail_under, passed):
    trials = [make_trial([number], index=index) for index, number in enumerate(grades)]

    assert passed == conclude(*trials, fail_under=fail_under).gate.passed


def test_what_could_not_be_measured_misses_the_gate():
    assert not conclude(make_trial([5]), make_trial([5, None], index=1)).gate.passed
    assert not conclude().gate.passed


turns = st.one_of(
    st.just("error"), st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=1, max_size=3)
)


@given(st.lists(st.lists(turns, min_size=1, max_size=3), max_size=5), st.integers(0, 3))
def test_the_parts_add_up(items, unreached):
    trials = [make_trial(*item, index=index) for index, item in enumerate(items)]

    counts = group_items("", trials, len(trials) + unreached).items

    parts = replace(counts, total=0)
    assert (
        counts.total
        == len(trials) + unreached
        == parts.unmeasured + sum((parts.passed, parts.failed, parts.not_run))
    )
