"""From trials to the numbers of a summary, whatever finished first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.score import OUTCOMES
from azd_eval.domain.statistics import proportion_interval
from azd_eval.domain.summary import CategoryResult, CriterionResult, TaskCounts, TaskResult
from azd_eval.domain.tally import (
    MOST_CRITERIA,
    Tally,
    count_tasks,
    group_by_category,
    overall_score,
    score_with_errors_as_zero,
)
from tests.factories import make_trial, make_verdict

NEVER_SCORED = {"errored": None, "skipped": None}


def _tally(*trials, repeats=1):
    tally = Tally(repeats)
    for trial in trials:
        tally.add(trial)
    return tally


def _repeat(statuses, index=0):
    """Make the trials of one task, a letter each: passed, failed, errored or skipped."""
    full = {
        "p": ("passed", 1.0),
        "f": ("failed", 0.5),
        "e": ("errored", None),
        "s": ("skipped", None),
    }
    return [
        make_trial(*full[letter], index=index, repeat=repeat)
        for repeat, letter in enumerate(statuses)
    ]


def test_of_very_many_criteria_the_rare_ones_are_counted_together():
    once = [make_verdict("unmet", f"once {number:05}") for number in range(MOST_CRITERIA + 2)]
    often = make_verdict("met", "often")
    tally = _tally(make_trial(verdicts=(*once, often)), make_trial(index=1, verdicts=(often,)))

    rows = tally.criteria()

    assert MOST_CRITERIA + 1 == len(rows)
    together, first, last = rows[0], rows[1], rows[-1]
    assert ("3 other criteria", 0, 3) == (together.name, together.met, together.unmet)
    assert ("often", 2, "once 09998") == (first.name, first.met, last.name)
    assert len(once) + 2 == sum(row.met + row.unmet for row in rows)


def test_two_perfect_tasks_of_three_make_two_thirds():
    scores = [("passed", 1.0), ("passed", 1.0), ("failed", 0.0)]
    trials = [make_trial(*each, index=index) for index, each in enumerate(scores)]

    score, interval = overall_score(_tally(*trials).results())

    assert 0.67 == round(score, 2)
    assert interval is not None
    assert interval[0] < score < interval[1]


def test_repeats_average_within_the_task_first():
    # Three repeats of one task must not outweigh one of the other.
    trials = [*_repeat("fff"), make_trial(index=1)]

    assert 0.75 == overall_score(_tally(*trials, repeats=3).results())[0]


def test_one_task_has_no_interval():
    assert (1.0, None) == overall_score(_tally(make_trial()).results())


@pytest.mark.parametrize(
    ("statuses", "status", "score", "as_zero"),
    [
        ("p", "passed", 1.0, 1.0),
        ("f", "failed", 0.5, 0.5),
        ("e", "errored", None, None),
        ("s", "skipped", None, None),
        ("ppf", "passed", 2.5 / 3, 2.5 / 3),
        ("pff", "failed", 2.0 / 3, 2.0 / 3),
        ("pf", "failed", 0.75, 0.75),
        ("ppe", "passed", 1.0, 2.0 / 3),
        ("pe", "errored", 1.0, 0.5),
        ("fe", "errored", 0.5, 0.25),
        ("pee", "errored", 1.0, 1.0 / 3),
        ("pfe", "failed", 0.75, 0.5),
        ("ps", "passed", 1.0, 1.0),
        ("es", "errored", None, None),
        ("pse", "errored", 1.0, 0.5),
    ],
)
def test_a_task_is_the_majority_of_its_repeats(statuses, status, score, as_zero):
    results = _tally(*_repeat(statuses), repeats=len(statuses)).results()

    assert (status, score) == (results[0].status, results[0].score)
    assert pytest.approx(as_zero) == score_with_errors_as_zero(results)


def test_errors_are_counted_apart_and_as_zero_beside():
    # 6 pass, 2 fail, 2 agent errors: 7 of 8 points, or 7 of 10 tasks.
    trials = [trial for index, each in enumerate("ppppppffee") for trial in _repeat(each, index)]

    tally = _tally(*trials)

    results = tally.results()
    assert TaskCounts(10, passed=6, failed=2, errored=2) == count_tasks(results)
    assert 0.875 == overall_score(results)[0]
    assert 0.7 == score_with_errors_as_zero(results)
    assert (10, 2) == (tally.trials, tally.errored_trials)


def test_skipped_tasks_are_counted_but_never_averaged():
    trials = [trial for index, each in enumerate("psse") for trial in _repeat(each, index)]

    results = _tally(*trials).results()

    assert TaskCounts(4, passed=1, errored=1, skipped=2) == count_tasks(results)
    assert (1.0, 0.5) == (overall_score(results)[0], score_with_errors_as_zero(results))


def test_nothing_scored_is_no_score():
    for statuses in ("", "ee", "ss"):
        trials = [trial for index, each in enumerate(statuses) for trial in _repeat(each, index)]
        results = _tally(*trials).results()

        assert (None, None) == overall_score(results)
        assert score_with_errors_as_zero(results) is None


def test_criteria_are_counted_by_outcome():
    outcomes = ["met", "met", "unmet", "unusable", "not_applicable", "undecided"]
    trials = [
        make_trial(index=index, verdicts=[make_verdict(outcome), make_verdict("unmet", "a")])
        for index, outcome in enumerate(outcomes)
    ]

    first, second = _tally(*trials).criteria()

    assert CriterionResult("quality", "a", unmet=6, rate=0.0, interval=first.interval) == first
    assert second == CriterionResult(
        "quality", "polite", 2, 1, 1, 1, 1, rate=2 / 3, interval=proportion_interval(2, 3)
    )


def test_repeats_of_a_criterion_are_one_observation():
    trials = [
        make_trial(index=index, repeat=repeat, verdicts=[make_verdict()])
        for index in range(4)
        for repeat in range(5)
    ]

    [criterion] = _tally(*trials, repeats=5).criteria()

    assert (20, proportion_interval(4, 4)) == (criterion.met, criterion.interval)


def test_tasks_count_their_criteria():
    verdicts = [make_verdict(outcome, outcome) for outcome in OUTCOMES]

    [result] = _tally(make_trial("failed", 0.5, verdicts=verdicts, category="tone")).results()

    assert TaskResult("task 0", "failed", 0.5, "tone", met=1, asked=2) == result


def test_categories_come_in_order_of_the_dataset():
    trials = [
        make_trial(index=0, category="tone"),
        make_trial("failed", 0.0, index=1, category="facts"),
        make_trial("errored", None, index=2, category="tone"),
        make_trial(index=3),
    ]

    assert group_by_category(_tally(*trials).results()) == (
        CategoryResult("tone", TaskCounts(2, passed=1, errored=1), 1.0),
        CategoryResult("facts", TaskCounts(1, failed=1), 0.0),
    )


_trials = st.lists(
    st.tuples(
        st.sampled_from(["passed", "failed", "errored", "skipped"]),
        st.floats(0, 1),
        st.lists(st.sampled_from(OUTCOMES), max_size=3),
    ),
    max_size=30,
).map(
    lambda rows: [
        make_trial(
            status,
            NEVER_SCORED.get(status, score),
            index=place // 3,
            repeat=place % 3,
            verdicts=[
                make_verdict(each, f"criterion {number}") for number, each in enumerate(outcomes)
            ],
        )
        for place, (status, score, outcomes) in enumerate(rows)
    ]
)


@given(_trials, st.randoms())
def test_numbers_never_depend_on_who_finished_first(trials, random):
    first = _tally(*trials, repeats=3)
    second = _tally(*random.sample(trials, len(trials)), repeats=3)

    assert (first.results(), first.criteria()) == (second.results(), second.criteria())


@given(_trials)
def test_the_parts_add_up(trials):
    results = _tally(*trials, repeats=3).results()

    counts = count_tasks(results)
    score, as_zero = overall_score(results)[0], score_with_errors_as_zero(results)
    assert counts.total == counts.passed + counts.failed + counts.errored + counts.skipped
    assert (score is None) == (as_zero is None)
    assert score is None or 0 <= as_zero <= score + 1e-12 <= 1 + 2e-12
