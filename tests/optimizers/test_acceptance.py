from collections.abc import Mapping, Sequence

import pytest

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.criterion import Criterion
from azd_eval.domain.score import Trial, Verdict
from azd_eval.domain.task import Task
from azd_eval.optimizers.acceptance import Challenge
from tests.optimization_worlds import make_bench, make_scored_trial, make_task, make_trial

INCUMBENT, CHILD = Candidate("baseline", "Help the user."), Candidate("candidate_1", "Help.")
Scores = Mapping[str, float | None]


def challenge(
    before: Sequence[Trial],
    after: Sequence[Trial],
    tasks: Sequence[Task] = (),
    believed: float = 0.1,
) -> Challenge:
    bench = make_bench(tasks)
    bench.ledger.add(INCUMBENT, before)
    bench.ledger.add(CHILD, after)
    return Challenge(bench, INCUMBENT, CHILD, believed, wanted=0.02)


def make_trials(*looks: Scores) -> list[Trial]:
    return [
        make_scored_trial(make_task(name, "criterion"), score, repeat)
        for repeat, scores in enumerate(looks)
        for name, score in scores.items()
    ]


@pytest.mark.parametrize(
    ("believed", "accepted"), [(0.1, True), (0.02, False), (0.0, False), (-0.1, False)]
)
def test_accepts_what_is_believed_to_be_better_by_more_than_is_wanted(
    believed: float, accepted: bool
) -> None:
    trial = challenge(make_trials({"a": 0.5}), make_trials({"a": 0.75}), believed=believed)

    assert accepted is trial.is_promising is trial.decide().accepted


@pytest.mark.parametrize(
    ("incumbent", "child", "accepted"),
    [
        pytest.param({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.75}, True, id="all scored"),
        pytest.param({"a": 0.5, "b": 0.5}, {"a": 1.0, "b": None}, False, id="lost a task"),
        pytest.param({"a": 0.5, "b": None}, {"a": 0.75, "b": 1.0}, True, id="gained a task"),
        pytest.param({"a": 0.5, "b": None}, {"a": None, "b": 1.0}, False, id="other tasks"),
        pytest.param({"a": 0.5}, {"a": None}, False, id="nothing scored"),
    ],
)
def test_accepts_only_what_was_scored_on_the_same_tasks(
    incumbent: Scores, child: Scores, accepted: bool
) -> None:
    decision = challenge(make_trials(incumbent), make_trials(child)).decide()

    assert accepted is decision.accepted


def test_looks_on_while_nothing_is_scored() -> None:
    trial = challenge(make_trials({"a": 0.5}), make_trials({"a": None}), believed=0.0)

    assert trial.is_promising
    assert "could not be measured: " in trial.decide().reason


def test_says_what_was_fixed_and_broken_and_how_sure_it_is() -> None:
    task, other = make_task("a", "tone", "dates", "links"), make_task("b", "tone")
    before = [
        make_trial(
            task, Verdict("tone", "met"), Verdict("dates", "unmet"), Verdict("links", "unmet")
        ),
        make_trial(other, Verdict("tone", "met")),
    ]
    after = [
        make_trial(
            task, Verdict("tone", "unmet"), Verdict("dates", "met"), Verdict("links", "met")
        ),
        make_trial(other, Verdict("tone", "met")),
    ]

    decision = challenge(before, after, [task, other]).decide()

    assert (
        "better: +0.17 on 2 of 2 tasks, +0.10 believed, "
        "2 fixed (dates, links), 1 broken (tone)" == decision.reason
    )
    assert pytest.approx(1 / 6) == decision.difference
    assert decision.interval is not None
    assert decision.interval[0] < 0 < decision.interval[1]


@pytest.mark.parametrize(
    ("lost", "looks", "accepted"), [(1, 2, True), (2, 2, False), (1, 1, False), (0, 1, True)]
)
def test_a_must_may_be_lost_by_chance_once_but_not_where_there_is_none(
    lost: int, looks: int, accepted: bool
) -> None:
    task = make_task("a", Criterion("safe", "Is safe", must=True), "one", "two")
    others = (Verdict("one", "unmet"), Verdict("two", "unmet"))
    better = (Verdict("one", "met"), Verdict("two", "met"))
    before = [make_trial(task, Verdict("safe", "met"), *others)]
    after = [
        make_trial(task, Verdict("safe", "unmet" if look < lost else "met"), *better, repeat=look)
        for look in range(looks)
    ]

    decision = challenge(before, after, [task]).decide()

    assert accepted is decision.accepted
    assert accepted or "`must` is met less often (safe)" in decision.reason
