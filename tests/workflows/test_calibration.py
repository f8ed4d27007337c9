import pytest

from azd_eval.domain.score import Verdict
from azd_eval.workflows.calibration import calibrate
from tests.optimization_worlds import make_scored_trial, make_task, make_trial

TASKS = [make_task(f"task {number}", "criterion") for number in range(5)]


def test_counts_what_changed_and_says_what_cannot_be_seen() -> None:
    outcomes = [
        ("met", "met"),
        ("met", "unmet"),
        ("unmet", "unmet"),
        ("met", "met"),
        ("met", "met"),
    ]
    first, second = (
        [
            make_trial(task, Verdict("tone", pair[look]), repeat=look)  # type: ignore[arg-type]
            for task, pair in zip(TASKS, outcomes, strict=True)
        ]
        for look in range(2)
    )

    calibration = calibrate(first, second, tasks=5, looks=3)

    assert calibration is not None
    assert (5, 1, (0.8, 0.6)) == (calibration.verdicts, calibration.changed, calibration.scores)
    assert (
        "1 of 5 verdicts (20%) changed between two looks at the same instructions; "
        f"with 5 tasks a gain under {calibration.smallest_gain:.2f} cannot be seen"
    ) == calibration.words


@pytest.mark.parametrize("more", [{"tasks": 20}, {"looks": 12}])
def test_more_tasks_and_more_looks_show_smaller_gains(more: dict[str, int]) -> None:
    first = [make_scored_trial(task, 0.5) for task in TASKS]
    second = [make_scored_trial(task, 0.75, 1) for task in TASKS]
    size = {"tasks": 5, "looks": 3}

    few, many = calibrate(first, second, **size), calibrate(first, second, **size | more)

    assert few is not None
    assert many is not None
    assert many.smallest_gain < 0.7 * few.smallest_gain


def test_what_was_not_scored_twice_is_no_calibration() -> None:
    first = [make_scored_trial(TASKS[0], 0.5)]
    second = [make_scored_trial(TASKS[0], None, 1), make_scored_trial(TASKS[1], 1.0, 1)]

    assert calibrate(first, second, tasks=2, looks=3) is None
