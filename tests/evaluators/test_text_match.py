"""ExactMatch and PartialMatch: words of a reply beside the answer expected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.evaluator_options import ExactMatchOptions, PartialMatchOptions
from azd_eval.evaluators.text_match import match_exactly, match_partly
from tests.factories import make_item, make_task

TEXTS = st.text(
    st.sampled_from("aAbTthe 会議で.,ßİé\u0301") | st.characters(exclude_categories=["Cs"])
)


def is_match(reply: str, expected: str, **options: object) -> bool:
    item = make_item(reply, make_task(expected=expected))
    return match_exactly(item, ExactMatchOptions.model_validate(options)).outcome == "met"


def measure(reply: str, expected: str, **options: object) -> float:
    item = make_item(reply, make_task(expected=expected))
    share = match_partly(item, PartialMatchOptions.model_validate(options)).share
    assert share is not None
    return share


@pytest.mark.parametrize(
    ("reply", "expected", "contains", "equals"),
    [
        ("4", "4", True, True),
        ("The answer is 4.", "4", True, False),
        ("\n  Request manager approval.\n", " request MANAGER approval. ", True, True),
        ("Request  manager approval.", "Request manager approval.", False, False),
        ("five", "4", False, False),
        ("STRASSE", "straße", True, True),
        ("cafe\u0301", "CAFÉ", True, True),
        ("答えは東京です", "東京", True, False),
        ("", "4", False, False),
    ],
)
def test_exact_match_is_to_contain_and_to_equal_on_request(reply, expected, contains, equals):
    assert contains == is_match(reply, expected)
    assert equals == is_match(reply, expected, mode="equals")


def test_case_counts_only_on_request():
    assert is_match("PARIS", "Paris")
    assert not is_match("PARIS", "Paris", case_sensitive=True)
    assert is_match("Paris!", "Paris", case_sensitive=True)
    assert measure("PARIS", "Paris") == 1
    assert measure("PARIS", "Paris", case_sensitive=True) == 0
    assert measure("The Paris", "Paris", case_sensitive=True) == 1


@pytest.mark.parametrize(
    ("reply", "expected", "share"),
    [
        ("The CEO of Contoso is Jane Smith.", "the ceo of contoso is jane smith", 1),
        ("Jane Smith", "The CEO is Jane Smith", 2 * 2 / (2 + 4)),
        ("a an the", "the", 0),
        ("The", "the", 1),
        ("per-diem: $200!", "perdiem 200", 1),
        ("yes yes yes", "yes", 2 / 4),
        ("会議は3時です", "会議は4時です", 2 * 6 / 14),
        ("การประชุม", "การประชุม", 1),
        ("Ｇｒａｐｈ", "Graph", 1),
        ("“Request” — approval…", "request approval", 1),
        ("nothing in common", "whatever else", 0),
        ("", "word", 0),
        ("!!!", "???", 0),
    ],
)
def test_partial_match_is_the_f1_of_words(reply, expected, share):
    assert pytest.approx(share) == measure(reply, expected)


@given(TEXTS, TEXTS)
def test_partial_match_is_symmetric_and_within_bounds(one, other):
    share = measure(one, other)

    assert 0 <= share <= 1
    assert measure(other, one) == share


@given(TEXTS.filter(lambda text: text.strip()))
def test_a_text_matches_itself(text):
    assert measure(text, text) == 1
    assert is_match(text, text, mode="equals")


@given(TEXTS, TEXTS, TEXTS.filter(lambda text: text.strip()))
def test_a_reply_around_the_expected_answer_contains_it(before, after, expected):
    assert is_match(f"{before} {expected.strip()} {after}", expected, case_sensitive=True)


@pytest.mark.parametrize(("threshold", "outcome"), [(0.5, "met"), (0.51, "unmet"), (0, "met")])
def test_the_threshold_decides(threshold, outcome):
    item = make_item("one two", make_task(expected="one three"))

    finding = match_partly(item, PartialMatchOptions(threshold=threshold))

    assert (outcome, 0.5, threshold) == (finding.outcome, finding.native, finding.threshold)


def test_reasons_never_quote_the_expected_answer():
    item = make_item("no", make_task(expected="secret word"))

    reasons = [
        match_exactly(item, ExactMatchOptions()).reason,
        match_partly(item, PartialMatchOptions()).reason,
    ]

    assert not any("secret" in reason for reason in reasons)
