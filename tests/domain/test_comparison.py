from collections.abc import Sequence

import pytest

from azd_eval.domain.comparison import Comparison, compare_trials
from azd_eval.domain.score import Trial, Verdict
from azd_eval.domain.task import Task
from tests.optimization_worlds import make_errored_trial, make_task, make_trial

Looks = Sequence[float | None]


def make_trials(*tasks: Looks) -> list[Trial]:
    return [
        make_quarters(make_task(f"task {number}"), score, look)
        for number, looks in enumerate(tasks)
        for look, score in enumerate(looks)
    ]


def make_quarters(task: Task, score: float | None, look: int) -> Trial:
    """Make a trial with so many quarters of four criteria met; None is an error."""
    if score is None:
        return make_errored_trial(task, repeat=look)
    verdicts = (Verdict(f"c{i}", "met" if i < 4 * score else "unmet") for i in range(4))
    return make_trial(task, *verdicts, repeat=look)


def compare(before: Sequence[Looks], after: Sequence[Looks], *, unseen: bool = True) -> Comparison:
    comparison = compare_trials(make_trials(*before), make_trials(*after), is_unseen=unseen)
    assert comparison is not None
    return comparison


@pytest.mark.parametrize(
    ("before", "after", "unseen", "label"),
    [
        pytest.param([(0.0, 0.0)] * 3, [(1.0, 1.0)] * 3, False, "confirmed", id="all"),
        pytest.param([(1.0, 1.0)] * 3, [(0.0, 0.0)] * 3, False, "worse", id="all lost"),
        pytest.param([(0.5, 0.5)] * 9, [(0.5, 0.5)] * 9, True, "not distinguishable", id="same"),
        pytest.param([(0.5,)] * 2, [(0.75,), (0.5,)], True, "not distinguishable", id="one of two"),
        pytest.param(
            [(0.0, 0.0)] * 5, [(1.0, 1.0)] + [(0.25, 0.0)] * 4, True, "likely", id="uneven gains"
        ),
        pytest.param(
            [(0.5, 0.5)] * 6,
            [(1.0, 1.0), *[(0.5, 0.5)] * 5],
            False,
            "not distinguishable",
            id="two verdicts of these, the same at every look",
        ),
        pytest.param(
            [(0.5, 0.5, 0.5)] * 6,
            [(1.0, 1.0, 1.0)] * 2 + [(0.5, 0.5, 0.5)] * 4,
            False,
            "likely",
            id="four verdicts of these, the same at every look",
        ),
        pytest.param(
            [(0.5, 0.5)] * 6,
            [(1.0, 1.0)] * 3 + [(0.5, 0.5)] * 3,
            False,
            "confirmed",
            id="six verdicts of these, the same at every look",
        ),
        pytest.param(
            [(0.5, 0.5)] * 6,
            [(1.0, 1.0)] * 3 + [(0.25, 0.25)] * 3,
            False,
            "not distinguishable",
            id="six fixed and three broken, the same at every look",
        ),
        pytest.param(
            [(0.5, 0.5)] * 6,
            [(1.0, 1.0), *[(0.5, 0.5)] * 5],
            True,
            "not distinguishable",
            id="one of others",
        ),
    ],
)
def test_one_word_says_whether_it_is_better(
    before: Sequence[Looks], after: Sequence[Looks], unseen: bool, label: str
) -> None:
    comparison = compare(before, after, unseen=unseen)

    assert label == comparison.label
    assert (label in ("confirmed", "likely")) is comparison.is_better


def test_tasks_are_paired_and_errors_are_missing() -> None:
    comparison = compare([(0.5, None), (1.0, 1.0), (None, None)], [(0.75, 0.0), (1.0, 1.0), (1.0,)])

    assert (2, 2, 0.125) == (comparison.tasks, comparison.looks, comparison.difference)
    assert (0.75, 0.6875) == (comparison.baseline.score, comparison.best.score)


def test_nothing_in_common_is_no_comparison() -> None:
    before, after = make_trials((0.5,)), make_trials((None,), (1.0,))

    assert compare_trials(before, after, is_unseen=True) is None


def test_words_say_where_it_was_measured_and_what_that_does_not_tell() -> None:
    unseen, seen = (
        compare([(0.0, 0.0)] * 3, [(1.0, 1.0)] * 3, unseen=unseen) for unseen in (True, False)
    )

    assert "confirmed: +1.00 (95 % interval +0." in unseen.words
    assert "on the 3 tasks held out, 2 fresh looks each; verdicts fixed: " in unseen.words
    assert "on the 3 tasks it was revised for" in seen.words
    assert unseen.meaning == "better by more than chance"
    assert seen.meaning == "better by more than chance; of other questions it says nothing"
