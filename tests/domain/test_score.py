"""The arithmetic from verdicts to the score and status of a trial."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.score import (
    OUTCOMES,
    Score,
    TurnResult,
    Verdict,
    mean,
    trial_score,
    trial_status,
    weighted_mean,
)
from tests.factories import make_grade, make_verdict


def _verdicts(*outcomes, **fields):
    return tuple(
        make_grade(each, **fields) if isinstance(each, int) else make_verdict(each, **fields)
        for each in outcomes
    )


def _turn(error=None, **verdicts):
    """Make a turn with one score per evaluator; each passes when all its verdicts are met."""
    scores = tuple(
        Score(
            name, weighted_mean(group), all(v.value == 1 for v in group) if group else None, group
        )
        for name, group in verdicts.items()
    )
    return TurnResult("hello", None if error else "hi", error, scores=scores)


@pytest.mark.parametrize(
    ("verdict", "value"),
    [
        *[(make_verdict(outcome), None) for outcome in OUTCOMES[2:]],
        (make_verdict("met"), 1.0),
        (make_verdict("unmet"), 0.0),
        (make_grade(1), 0.0),
        (make_grade(2), 0.25),
        (make_grade(3), 0.5),
        (make_grade(4), 0.75),
        (make_grade(5), 1.0),
    ],
)
def test_only_met_and_unmet_are_numbers(verdict, value):
    assert value == verdict.value


@pytest.mark.parametrize(
    ("verdicts", "wanted"),
    [
        (_verdicts("met", "met", "met", "unmet"), 0.75),
        (_verdicts("met", "unmet", "unusable", "not_applicable", "undecided"), 0.5),
        ((*_verdicts("met", weight=3.0), *_verdicts("unmet", weight=1.0)), 0.75),
        ((*_verdicts("unmet", weight=0.0), *_verdicts("met")), 1.0),
        (_verdicts("met", weight=0.0), None),
        (_verdicts(5, 4), 0.875),
        (_verdicts("unusable"), None),
        ((), None),
    ],
)
def test_verdicts_are_averaged_by_weight(verdicts, wanted):
    assert wanted == weighted_mean(verdicts)


@pytest.mark.parametrize(
    ("turns", "wanted"),
    [
        # Per evaluator first, so that a rubric of four dimensions does not outweigh one criterion.
        ([_turn(own=_verdicts("unmet"), rubric=_verdicts("met", "met", "met", "met"))], 0.5),
        # Over turns the criteria of one evaluator count together.
        ([_turn(own=_verdicts("met", "met", "met")), _turn(own=_verdicts("unmet"))], 0.75),
        # An evaluator that decided nothing leaves the mean.
        ([_turn(own=_verdicts("met", "unmet"), rubric=_verdicts("not_applicable"))], 0.5),
        ([_turn(own=(), rubric=_verdicts("met"))], 1.0),
        ([_turn(own=_verdicts("undecided"))], None),
        ([_turn()], None),
        ([], None),
    ],
)
def test_a_trial_is_the_mean_over_its_evaluators(turns, wanted):
    assert wanted == trial_score(turns)


@pytest.mark.parametrize(
    ("turns", "wanted"),
    [
        ([_turn(own=_verdicts("met", "met"))], "passed"),
        ([_turn(own=_verdicts("met", "unmet"))], "failed"),
        ([_turn(own=_verdicts("met"), rubric=_verdicts("unmet"))], "failed"),
        ([_turn(own=_verdicts("met")), _turn(own=_verdicts("unmet"))], "failed"),
        ([_turn(own=_verdicts("met")), _turn()], "passed"),
        ([_turn(own=_verdicts("met", "unusable"))], "errored"),
        ([_turn(own=_verdicts("unmet")), _turn(error="no answer")], "errored"),
        ([_turn(error="no answer")], "errored"),
        ([_turn()], "skipped"),
        ([], "skipped"),
    ],
)
def test_status_of_a_trial(turns, wanted):
    assert wanted == trial_status(turns)


_weights = st.floats(0.01, 1000)
_any_verdict = st.builds(
    Verdict, st.just("polite"), st.sampled_from(OUTCOMES), weight=_weights
) | st.builds(make_grade, st.integers(1, 5), weight=_weights)
_numbers = st.builds(
    Verdict, st.just("polite"), st.sampled_from(["met", "unmet"]), weight=_weights
) | st.builds(make_grade, st.integers(1, 5), weight=_weights)


@given(st.lists(st.lists(_any_verdict), max_size=4))
def test_scores_lie_in_0_to_1(groups):
    turn = _turn(**{f"evaluator {number}": tuple(each) for number, each in enumerate(groups)})

    score = trial_score([turn, turn])

    assert score is None or 0 <= score <= 1
    numbers = [v for group in groups for v in group if v.value is not None]
    assert (score is None) == (not numbers)


@given(st.lists(_numbers, min_size=1), st.lists(_any_verdict), st.data())
def test_a_better_verdict_never_lowers_a_score(verdicts, others, data):
    place = data.draw(st.integers(0, len(verdicts) - 1))
    worse = verdicts[place]
    better = make_verdict("met", weight=worse.weight)
    improved = (*verdicts[:place], better, *verdicts[place + 1 :])

    before = trial_score([_turn(own=tuple(verdicts), rubric=tuple(others))])
    after = trial_score([_turn(own=improved, rubric=tuple(others))])

    assert before <= after


@given(st.lists(st.floats(0, 1), min_size=1), st.randoms())
def test_a_mean_is_the_same_in_any_order(values, random):
    shuffled = random.sample(values, len(values))

    assert mean(values) == mean(shuffled)
    assert min(values) - 1e-12 <= mean(values) <= max(values) + 1e-12
