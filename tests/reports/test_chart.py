"""Where the points of the score chart stand."""

from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.chat import Usage
from azd_eval.domain.optimization_summary import CandidateResult, OptimizationSummary
from azd_eval.domain.summary import ScoreWithInterval
from azd_eval.reports.chart import draw_scores

_NONE = ScoreWithInterval(None, None)


def _summary(scores: list[float | None]) -> OptimizationSummary:
    candidates = tuple(
        CandidateResult(str(number), None, score, number % 2 == 0, "", 1)
        for number, score in enumerate(scores)
    )
    return OptimizationSummary(
        "id",
        "now",
        "agent",
        None,
        "data",
        {},
        "reflect",
        {},
        _NONE,
        "0",
        _NONE,
        None,
        candidates,
        1,
        1,
        "",
        "",
        Usage(),
        1,
    )


@given(st.lists(st.none() | st.floats(), min_size=1, max_size=60))
def test_every_point_lies_inside_the_drawing_in_order(scores):
    chart = draw_scores(_summary(scores))

    xs = [point.x for point in chart.points]
    assert sorted(set(xs)) == xs
    assert all(chart.left < point.x < chart.width for point in chart.points)
    assert all(0 < point.y < chart.height for point in chart.points)


def test_higher_scores_stand_higher():
    low, high = draw_scores(_summary([0.2, 0.9])).points

    assert high.y < low.y


def test_the_course_steps_from_one_accepted_score_to_the_next():
    chart = draw_scores(_summary([0.2, 0.5, 0.9]))
    first, second, third = chart.points

    steps = [(first.x, first.y), (second.x, first.y), (third.x, first.y), (third.x, third.y)]
    assert " ".join(f"{x:g},{y:g}" for x, y in steps) == chart.course


def test_a_long_search_has_few_labels_on_its_axis():
    points = draw_scores(_summary([0.5] * 1000)).points

    assert 20 >= sum(bool(point.tick) for point in points)
