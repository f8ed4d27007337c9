import pytest

from azd_eval.domain.score import Verdict
from azd_eval.workflows.acceptance import Decision, accept
from tests.optimization_worlds import make_measurement, make_scored, make_task, make_trial


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
        pytest.param({"a": 0.5, "b": None}, {"a": 0.75, "b": 0.0}, False, id="lower over all"),
        pytest.param({"a": 0.5, "b": None}, {"a": None, "b": 1.0}, False, id="other tasks"),
        pytest.param({"a": 0.5}, {"a": None}, False, id="nothing scored"),
    ],
)
def test_accepts_only_what_is_higher_on_the_same_tasks(
    incumbent: dict[str, float | None], child: dict[str, float | None], accepted: bool
) -> None:
    decision = accept(make_scored("baseline", incumbent), make_scored("candidate_1", child))

    assert accepted is decision.accepted


def test_order_of_trials_does_not_make_a_tie_a_gain() -> None:
    scores = {f"task_{number}": number / 10 for number in range(1, 10)}
    mirrored = {f"task_{number}": (10 - number) / 10 for number in range(1, 10)}

    assert not accept(make_scored("baseline", scores), make_scored("c", mirrored)).accepted
    assert not accept(make_scored("baseline", mirrored), make_scored("c", scores)).accepted


def test_pairs_tasks_by_content_not_by_position() -> None:
    scores = {"a": 0.25, "b": 1.0, "c": 0.5}
    backwards = dict(reversed(scores.items()))

    assert not accept(make_scored("baseline", scores), make_scored("c", backwards)).accepted


def test_repeats_are_averaged_within_the_task_first() -> None:
    task, other = make_task("a", "x"), make_task("b", "x")
    met, unmet = Verdict("x", "met"), Verdict("x", "unmet")
    before = make_measurement("baseline", make_trial(task, met), make_trial(other, unmet))
    again = (make_trial(task, met),) * 3
    after = make_measurement("candidate_1", *again, make_trial(other, unmet))

    assert not accept(before, after).accepted


def test_reason_names_what_was_fixed_and_broken() -> None:
    task = make_task("a", "tone", "dates", "links")
    before = make_trial(
        task, Verdict("tone", "met"), Verdict("dates", "unmet"), Verdict("links", "unmet")
    )
    after = make_trial(
        task, Verdict("tone", "unmet"), Verdict("dates", "met"), Verdict("links", "met")
    )

    expected = Decision(True, "better: 0.333 to 0.667; 2 fixed (dates, links), 1 broken (tone)")
    actual = accept(make_measurement("baseline", before), make_measurement("candidate_1", after))
    assert expected == actual
