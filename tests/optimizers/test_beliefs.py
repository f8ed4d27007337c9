from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.ledger import Ledger
from azd_eval.domain.score import Trial
from azd_eval.optimizers.beliefs import Belief, _Estimate, _share, form_beliefs

BASELINE = Candidate("baseline", "")
FIRST = Candidate("first", "", "baseline")
SECOND = Candidate("second", "", "baseline")
GRANDCHILD = Candidate("grandchild", "", "first")
TASKS = "abcd"


def believe(
    scores: Mapping[Candidate, Mapping[str, Sequence[float]]], drift: float = 0.1
) -> dict[str, Belief]:
    ledger = Ledger()
    for candidate, by_task in scores.items():
        for task, values in by_task.items():
            for repeat, value in enumerate(values):
                ledger.add(candidate, [Trial(task, task, repeat, "failed", value, ())])
    return form_beliefs(ledger, list(scores), drift)


def on_all(*values: float) -> dict[str, Sequence[float]]:
    return dict.fromkeys(TASKS, values)


def test_a_baseline_alone_is_worth_its_mean() -> None:
    beliefs = believe({BASELINE: {"a": [1.0], "b": [0.5], "c": [0.5, 0.5]}})

    assert pytest.approx(2 / 3) == beliefs["baseline"].worth


def test_a_child_far_above_its_parent_is_believed_in_part() -> None:
    beliefs = believe({BASELINE: on_all(0.4, 0.4), FIRST: on_all(0.8)})

    assert 0.4 < beliefs["baseline"].worth < beliefs["first"].worth < 0.8


def test_what_is_seen_more_often_is_believed_more() -> None:
    once = believe({BASELINE: on_all(0.4, 0.4), FIRST: on_all(0.8)})
    thrice = believe({BASELINE: on_all(0.4, 0.4), FIRST: on_all(0.8, 0.8, 0.8)})

    assert once["first"].worth < thrice["first"].worth
    assert once["first"].error > thrice["first"].error


def test_a_lucky_parent_is_found_out_by_its_children() -> None:
    alone = believe({BASELINE: on_all(0.4), FIRST: on_all(0.8)})
    with_child = believe({BASELINE: on_all(0.4), FIRST: on_all(0.8), GRANDCHILD: on_all(0.4)})

    assert with_child["first"].worth < alone["first"].worth


def test_a_child_that_met_only_the_hard_tasks_is_not_thought_worse() -> None:
    beliefs = believe(
        {
            BASELINE: {"easy": [1.0, 1.0], "hard": [0.0, 0.0]},
            SECOND: {"easy": [1.0], "hard": [0.0]},
            FIRST: {"hard": [0.3]},
        }
    )

    assert beliefs["first"].worth > beliefs["baseline"].worth


def test_a_child_without_a_score_is_worth_its_parent() -> None:
    beliefs = believe({BASELINE: on_all(0.4), FIRST: {}})

    assert pytest.approx(beliefs["baseline"].worth) == beliefs["first"].worth
    assert beliefs["first"].error > beliefs["baseline"].error


estimates = st.builds(_Estimate, st.floats(0.1, 100), st.floats(-100, 100))


@given(st.lists(st.tuples(estimates, st.integers(0, 100)), min_size=1, max_size=8))
def test_shared_knowledge_is_that_of_the_joint_distribution(
    family: list[tuple[_Estimate, int]],
) -> None:
    own = [estimate for estimate, _ in family]
    parents = [0, *(draw % place for place, (_, draw) in enumerate(family[1:], start=1))]
    variance = 0.25

    known = _share(own, parents, variance)

    means = [each.weighted / each.precision for each in known]
    for place, mean in enumerate(means):
        neighbours = [other for other, parent in enumerate(parents) if other and parent == place]
        neighbours += [parents[place]] if place else []
        pull = sum(means[other] - mean for other in neighbours) / variance
        # The mean solves the normal equations of the whole family.
        assert own[place].weighted == pytest.approx(own[place].precision * mean - pull, abs=1e-6)
