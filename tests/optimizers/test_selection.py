from collections.abc import Mapping
from dataclasses import replace

import pytest

from azd_eval.domain.candidate import Candidate
from azd_eval.optimizers.selection import choose_best, choose_parent
from azd_eval.workflows.search_bench import GuardedBench
from tests.optimization_worlds import make_bench, make_scored_trial, make_task

TASKS = [make_task(name, "criterion") for name in "abcd"]
BASELINE = Candidate("baseline", "Help the user.")
LONG, SHORT = Candidate("candidate_1", "Help. " * 9), Candidate("candidate_2", "Help. " * 3)


def make_known(*looks: tuple[Candidate, Mapping[str, float | None]]) -> GuardedBench:
    """Make a bench that knows looks: of a candidate, by the name of the task."""
    bench = make_bench(TASKS)
    for number, (candidate, scores) in enumerate(looks):
        bench.ledger.add(
            candidate,
            [
                make_scored_trial(task, scores[task.name], number)
                for task in TASKS
                if task.name in scores
            ],
        )
    return bench


def flat(score: float | None) -> dict[str, float | None]:
    return dict.fromkeys("abcd", score)


@pytest.mark.parametrize(
    ("long", "short", "best"),
    [
        (0.75, 0.5, "candidate_1"),
        (0.5, 0.75, "candidate_2"),
        (0.75, 0.75, "candidate_2"),
        (0.5, 0.5, "baseline"),
        (0.25, 0.5, "baseline"),
        (None, None, "baseline"),
    ],
)
def test_the_highest_mean_wins_the_baseline_ties_and_the_shorter_one_of_equals(
    long: float | None, short: float | None, best: str
) -> None:
    bench = make_known((BASELINE, flat(0.5)), (LONG, flat(long)), (SHORT, flat(short)))

    assert best == choose_best(bench, [LONG, SHORT]).id


def test_what_looks_cannot_tell_apart_is_equal() -> None:
    noisy = [(LONG, {**flat(0.75), "a": score}) for score in (1.0, 0.0, 1.0)]
    bench = make_known((BASELINE, flat(0.25)), *noisy, (SHORT, {**flat(0.75), "a": 0.5}))

    assert "candidate_2" == choose_best(bench, [LONG, SHORT]).id
    certain = replace(bench.policy, equal_within=0.0)
    bench._job = replace(bench._job, policy=certain)
    assert "candidate_1" == choose_best(bench, [LONG, SHORT]).id


def test_a_candidate_with_gaps_does_not_win_by_its_easy_tasks() -> None:
    bench = make_known((BASELINE, flat(0.5)), (LONG, {"a": 1.0, "b": 1.0, "c": None, "d": None}))

    assert "baseline" == choose_best(bench, [LONG]).id


def test_another_parent_is_one_that_nobody_beats_somewhere() -> None:
    bench = make_known(
        (BASELINE, flat(0.0)),
        (LONG, {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0}),
        (SHORT, {"a": 0.0, "b": 0.0, "c": 1.0, "d": 0.0}),
    )

    drawn = {choose_parent(bench, LONG, [LONG, SHORT]).id for _ in range(20)}
    alone = choose_parent(bench, LONG, [LONG])

    assert {"candidate_2"} == drawn
    assert "candidate_1" == alone.id
