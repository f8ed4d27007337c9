from itertools import product
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.statistics import (
    difference_interval,
    proportion_interval,
    score_interval,
    sign_flip_p,
    student_quantile,
)
from benchmarks.interval_coverage import METHODS, TASK_COUNTS, TRUE_SCORES, draw_scores, measure

fractions = st.builds(
    lambda met, asked: min(met, asked) / asked, st.integers(0, 6), st.integers(1, 6)
)
scores = st.lists(fractions | st.floats(0, 1), min_size=2, max_size=40)


@given(scores)
def test_the_interval_lies_in_bounds_and_holds_the_mean(task_scores: list[float]) -> None:
    low, high = score_interval(task_scores)

    assert 0 <= low <= fmean(task_scores) + 1e-12
    assert fmean(task_scores) - 1e-12 <= high <= 1
    assert high - low > 0.01


@given(scores)
def test_failing_what_passed_mirrors_the_interval(task_scores: list[float]) -> None:
    low, high = score_interval(task_scores)

    mirrored = score_interval([1 - score for score in task_scores])

    assert pytest.approx((1 - high, 1 - low), abs=1e-9) == mirrored


@given(scores, st.randoms())
def test_the_order_of_tasks_does_not_matter(task_scores: list[float], random: Random) -> None:
    shuffled = random.sample(task_scores, len(task_scores))

    assert pytest.approx(score_interval(task_scores)) == score_interval(shuffled)


@given(st.integers(2, 60), st.integers(0, 60))
def test_a_rate_is_the_score_of_all_or_nothing_tasks(trials: int, successes: int) -> None:
    successes = min(successes, trials)
    task_scores = [1.0] * successes + [0.0] * (trials - successes)

    assert pytest.approx(score_interval(task_scores)) == proportion_interval(successes, trials)


@pytest.mark.parametrize("task_scores", [[], [0.5], [1.0]])
def test_fewer_than_two_tasks_have_no_interval(task_scores: list[float]) -> None:
    assert score_interval(task_scores) is None
    assert proportion_interval(sum(task_scores), len(task_scores)) is None


@pytest.mark.parametrize(
    ("task_scores", "expected"),
    [
        ([1.0] * 5, (0.455, 1.0)),
        ([0.0] * 5, (0.0, 0.545)),
        ([0.75] * 5, (0.414, 0.927)),
        ([1.0, 1.0, 0.0], (0.129, 0.964)),
        ([1.0, 1.0, 0.75, 1.0, 0.5], (0.388, 0.981)),
        ([1.0] * 20, (0.822, 1.0)),
    ],
)
def test_known_scores(task_scores: list[float], expected: tuple[float, float]) -> None:
    assert pytest.approx(expected, abs=0.001) == score_interval(task_scores)


@pytest.mark.parametrize("count", [2, 5, 20, 200])
def test_a_score_just_below_perfect_is_no_surer_than_a_perfect_one(count: int) -> None:
    perfect, _ = score_interval([1.0] * count)

    almost, _ = score_interval([1.0] * (count - 1) + [0.999])

    assert perfect >= almost > perfect - 0.01


def test_more_tasks_of_the_same_kind_narrow_the_interval() -> None:
    intervals = [score_interval([1.0, 0.75, 0.5, 1.0] * times) for times in (1, 2, 4, 8, 16)]

    widths = [high - low for low, high in intervals]

    assert sorted(widths, reverse=True) == widths


@pytest.mark.parametrize(
    ("degrees", "table"),
    [
        (1, 12.706),
        (2, 4.3027),
        (3, 3.1824),
        (4, 2.7764),
        (6, 2.4469),
        (11, 2.2010),
        (21, 2.0796),
        (120, 1.9799),
    ],
)
def test_student_quantile_agrees_with_the_table(degrees: int, table: float) -> None:
    assert pytest.approx(table, rel=0.002) == student_quantile(degrees)


@pytest.mark.parametrize(("true_score", "tasks"), list(product(TRUE_SCORES, TASK_COUNTS)))
def test_the_interval_covers_the_truth_without_being_idle(true_score: float, tasks: int) -> None:
    random = Random(f"{true_score} {tasks}")
    cells = [
        [
            (draw_scores(random, true_score, tasks, criteria, correlation), criteria)
            for _ in range(400)
        ]
        for criteria, correlation in product(range(1, 7), (0.0, 0.3, 0.6))
    ]

    ours = [measure(METHODS["azd-eval"], cell, true_score) for cell in cells]
    safest = [measure(METHODS["Wilson, tasks"], cell, true_score) for cell in cells]

    chance = 3 * (0.93 * 0.07 / 400) ** 0.5
    assert fmean(coverage for coverage, _ in ours) >= 0.955
    assert min(coverage for coverage, _ in ours) >= 0.93 - chance
    assert fmean(width for _, width in ours) <= 1.25 * fmean(width for _, width in safest)


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([], 1.0),
        ([0.0, 0.0], 1.0),
        ([0.5], 1.0),
        ([1.0] * 3, 2 / 8),
        ([-1.0] * 3, 2 / 8),
        ([0.25] * 5, 2 / 32),
        ([0.25, 0.25, 0.25, 0.25, -0.25], 12 / 32),
        ([1.0, 0.5, 0.25, 0.0], 2 / 8),
        ([0.25] * 10 + [-0.25] * 10, 1.0),
    ],
)
def test_the_sign_flip_p_is_exact(differences: list[float], expected: float) -> None:
    assert pytest.approx(expected) == sign_flip_p(differences)


def test_many_differences_are_as_good_as_normal() -> None:
    exact = sign_flip_p([0.25] * 40 + [-0.25] * 24)
    normal = sign_flip_p([0.25] * 41 + [-0.25] * 24)

    assert 0.5 * exact < normal < exact


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_an_interval_of_a_difference_holds_its_mean_and_is_never_certain(
    differences: list[float],
) -> None:
    interval = difference_interval([differences])

    assert interval is not None
    low, high = interval
    assert -1 <= low < high <= 1
    assert low <= fmean(differences) + 1e-9
    assert high >= fmean(differences) - 1e-9


@pytest.mark.parametrize("groups", [[], [[0.5]], [[0.5], [0.25]]])
def test_without_two_of_a_group_there_is_no_interval(groups: list[list[float]]) -> None:
    assert difference_interval(groups) is None


def test_an_interval_of_these_tasks_is_not_widened_by_how_much_they_differ() -> None:
    uneven = [[1.0, 1.0], [0.0, 0.0], [0.5, 0.5]]

    of_others = difference_interval([[1.0, 0.0, 0.5]])
    of_these = difference_interval(uneven)

    assert of_others[0] < 0 < of_these[0]
