"""What changed between two results."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.item_comparison import CHANGES, ItemOutcome, compare_outcomes
from azd_eval.domain.item_status import ITEM_STATUSES


def make_outcome(key="a", status="pass", score=1.0, **fields):
    return ItemOutcome(key, key, status, score, **fields)


def changes(comparison):
    return [item.change for item in comparison.items]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (("pass", 1.0), ("pass", 1.0), "same"),
        (("pass", 1.0), ("fail", 0.2), "worse"),
        (("fail", 0.2), ("pass", 1.0), "better"),
        (("pass", 0.5), ("pass", 0.75), "better"),
        (("fail", 0.5), ("fail", 0.25), "worse"),
        (("pass", 0.5), ("fail", 0.75), "worse"),
        (("pass", None), ("pass", None), "same"),
        (("pass", 0.1 + 0.2), ("pass", 0.3), "same"),
        (("pass", 1.0), ("partial", None), "not measured"),
        (("error", None), ("pass", 1.0), "not measured"),
        ((None, None), ("pass", 1.0), "not measured"),
    ],
)
def test_passing_comes_first_and_then_the_score(before, after, change):
    comparison = compare_outcomes([make_outcome("a", *before)], [make_outcome("a", *after)])

    assert [change] == changes(comparison)


def test_items_are_new_or_gone():
    comparison = compare_outcomes(
        [make_outcome("a"), make_outcome("b")], [make_outcome("c"), make_outcome("b")]
    )

    assert [("c", "new"), ("b", "same"), ("a", "gone")] == [
        (item.name, item.change) for item in comparison.items
    ]


def test_items_of_one_key_are_paired_in_order():
    before = [make_outcome("a", "pass"), make_outcome("a", "fail", 0.0)]
    after = [make_outcome("a", "fail", 0.0), make_outcome("a", "pass"), make_outcome("a")]

    assert ["worse", "better", "new"] == changes(compare_outcomes(before, after))


def test_the_id_counts_more_than_the_content():
    before = [make_outcome("old words", test_id="R-1"), make_outcome("words", test_id="R-2")]
    after = [make_outcome("words", "fail", 0.0, test_id="R-1")]

    assert [("words", "worse"), ("words", "gone")] == [
        (item.name, item.change) for item in compare_outcomes(before, after).items
    ]


@pytest.mark.parametrize("ids", [(None, "R-1"), ("R-1", None), ("R-1", "R-2")])
def test_the_content_finds_what_has_no_id_or_another(ids):
    before, after = (make_outcome("a", test_id=test_id) for test_id in ids)

    assert ["same"] == changes(compare_outcomes([before], [after]))


@pytest.mark.parametrize(
    ("fixed", "broken", "p"),
    [(0, 0, None), (1, 0, 1.0), (1, 1, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (1, 5, 0.21875)],
)
def test_an_uneven_split_is_held_against_chance(fixed, broken, p):
    before = [make_outcome(f"{n}", "fail" if n < fixed else "pass") for n in range(fixed + broken)]
    after = [make_outcome(f"{n}", "pass" if n < fixed else "fail") for n in range(fixed + broken)]

    comparison = compare_outcomes(before, after)

    found = comparison.pass_rate.p if comparison.pass_rate else None
    assert (fixed, broken, p) == (comparison.fixed, comparison.broken, found)


def test_differences_are_means_over_what_was_measured_in_both():
    before = [make_outcome("a", "fail", 0.25), make_outcome("b", "pass", 0.75), make_outcome("c")]
    after = [
        make_outcome("a", "pass", 0.75),
        make_outcome("b", "pass", 0.5),
        make_outcome("c", "error", None),
        make_outcome("d", "fail", 0.0),
    ]

    comparison = compare_outcomes(before, after)

    assert 2 == comparison.paired
    assert (0.5, pytest.approx(0.125)) == (comparison.pass_rate.mean, comparison.score.mean)
    low, high = comparison.score.interval
    assert low < 0.125 < high


outcomes = st.lists(
    st.builds(
        ItemOutcome,
        st.just("name"),
        st.sampled_from("abc"),
        st.sampled_from([*ITEM_STATUSES, None]),
        st.one_of(st.none(), st.floats(0, 1)),
        st.sampled_from([None, "R-1", "R-2"]),
    )
)


@given(outcomes, outcomes)
def test_every_item_has_one_change_and_back_is_the_mirror_of_forth(before, after):
    forth, back = compare_outcomes(before, after).count(), compare_outcomes(after, before).count()

    mirror = {"worse": "better", "better": "worse", "new": "gone", "gone": "new"}
    assert forth == {change: back[mirror.get(change, change)] for change in CHANGES}
    assert max(len(before), len(after)) <= sum(forth.values()) <= len(before) + len(after)


@given(outcomes)
def test_nothing_changes_against_itself(items):
    assert {"same", "not measured"} >= set(changes(compare_outcomes(items, items)))
