"""Names of tasks and criteria."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.generators.naming import snake_case, tell_apart


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Refund after gift exchange", "refund_after_gift_exchange"),
        ("refundPolicy2Go", "refund_policy2_go"),
        ("  --Lost/Parcel!-- ", "lost_parcel"),
        ("snake_case__already", "snake_case_already"),
        ("Città più bella", "città_più_bella"),
        ("返品 期限", "返品_期限"),
        ("a" * 99, "a" * 60),
        ("word " * 20, "word_" * 11 + "word"),
        ("!?", ""),
    ],
)
def test_any_text_becomes_a_name(text: str, name: str) -> None:
    assert name == snake_case(text)


@given(st.lists(st.sampled_from(["a", "b", "a_2", "a_3"])))
def test_names_are_told_apart(names: list[str]) -> None:
    unique = tell_apart(names)

    assert len(names) == len(set(unique)) == len(unique)
    assert all(new.startswith(name) for name, new in zip(names, unique, strict=True))
    if len(set(names)) == len(names):
        assert names == unique
