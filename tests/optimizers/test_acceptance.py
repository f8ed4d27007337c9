from collections.abc import Mapping, Sequence

import pytest

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.criterion import Criterion
from azd_eval.domain.score import Trial, Verdict
from azd_eval.domain.search import SearchPolicy
from azd_eval.domain.task import Task
from azd_eval.optimizers.acceptance import Challenge
from tests.optimization_worlds import make_bench, make_scored_trial, make_task, make_trial

INCUMBENT, CHILD = Candidate("baseline", "Help the user."), Candidate("candidate_1", "Help.")
Scores = Mapping[str, float | None]


def challenge(
    before: Sequence[Trial],
    after: Sequence[Trial],
    tasks: Sequence[Task] = (),
    policy: SearchPolicy | None = None,
) -> Challenge:
    bench = make_bench(tasks, policy=policy or SearchPolicy())
    bench.ledger.add(INCUMBENT, before)
    bench.ledger.add(CHILD, after)
    return Challenge(bench, INCUMBENT, CHILD)


def make_trials(*looks: Scores) -> list[Trial]:
    return [
        make_scored_trial(make_task(name, "criterion"), score, repeat)
        for repeat, scores in enumerate(looks)
        for name, score in scores.items()
    ]


@pytest.mark.parametrize(
    ("incumbent", "child", "accepted"),
    [
        pytest.param({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.75}, True, id="higher"),
        pytest.param({"a": 0.5, "b": 1.0}, {"a": 1.0, "b": 0.75}, True, id="higher on the whole"),
        pytest.param({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5}, False, id="tie"),
        pytest.param({"a": 0.25, "b": 0.75}, {"a": 0.75, "b": 0.25}, False, id="tie by exchange"),
        pytest.param({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.25}, False, id="lower"),
        pytest.param({"a": 0.5, "b": 0.5}, {"a": 1.0, "b": None}, False, id="lost a task"),
        pytest.param({"a": 0.5, "b": None}, {"a": 0.75, "b": 1.0}, True, id="gained a task"),
        pytest.param({"a": 0.5, "b": None}, {"a": 0.5, "b": 1.0}, False, id="gained by task alone"),
        pytest.param({"a": 0.5, "b": None}, {"a": None, "b": 1.0}, False, id="other tasks"),
        pytest.param({"a": 0.5}, {"a": None}, False, id="nothing scored"),
    ],
)
def test_accepts_only_what_is_higher_on_the_same_tasks(
    incumbent: Scores, child: Scores, accepted: bool
) -> None:
    decision = challenge(make_trials(incumbent), make_trials(child)).decide()

    assert accepted is decision.accepted


@pytest.mark.parametrize(("second", "accepted"), [(0.25, True), (0.0, False)])
def test_decides_by_the_mean_over_all_looks(second: float, accepted: bool) -> None:
    before = make_trials({"a": 0.5, "b": 0.0}, {"a": 0.0, "b": 0.0})
    after = make_trials({"a": 0.5, "b": 0.0}, {"a": second, "b": 0.0})

    decision = challenge(before, after).decide()

    assert accepted is decision.accepted


def test_order_of_trials_does_not_make_a_tie_a_gain() -> None:
    scores = {f"task_{number}": number / 10 for number in range(1, 10)}
    mirrored = {f"task_{number}": (10 - number) / 10 for number in range(1, 10)}

    for one, other in ((scores, mirrored), (mirrored, scores)):
        assert not challenge(make_trials(one), make_trials(other)).decide().accepted


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

    decision = challenge(before, after).decide()

    assert "better: +0.17, 2 fixed (dates, links), 1 broken (tone)" == decision.reason
    assert pytest.approx(1 / 6) == decision.difference
    assert decision.interval is not None
    assert decision.interval[0] < 0 < decision.interval[1]


@pytest.mark.parametrize(("score", "dropped"), [(0.5, False), (0.25, True), (0.0, True)])
def test_is_dropped_early_when_it_is_no_gain_on_what_was_tried(score: float, dropped: bool) -> None:
    trial = challenge(make_trials({"a": 0.25, "b": 1.0}), make_trials({"a": score}))

    assert dropped is (trial.find_early_rejection(is_whole=False) is not None)


@pytest.mark.parametrize(("score", "dropped"), [(0.5, False), (0.25, False), (0.0, True)])
def test_a_further_look_must_not_be_lower_by_itself(score: float, dropped: bool) -> None:
    first, look = make_trials({"a": 1.0}), make_trials({"a": score})
    trial = challenge(make_trials({"a": 0.25}), first)

    assert dropped is (trial.find_late_rejection(look) is not None)


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


def test_a_tie_is_accepted_only_where_the_policy_says_so_and_the_text_is_shorter() -> None:
    same = make_trials({"a": 0.5})

    decision = challenge(same, same, policy=SearchPolicy(accepts_ties=True)).decide()

    assert (True, "equal and shorter") == (decision.accepted, decision.reason.partition(":")[0])
    assert not challenge(same, same).decide().accepted
