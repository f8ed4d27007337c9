"""Templates, and filling them in a single pass."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.prompts import fill, template, template_path

FRAME = template("judge_item.md")


_HOSTILE = ["{{ reply }}", "{{question}}", "{reply}", "%s", "\\1", "\\g<0>"]


@given(st.text() | st.sampled_from(_HOSTILE))
def test_values_are_put_in_as_they_are_and_never_filled_again(value):
    names = ("conversation", "sources", "reply", "question", "answer_format")

    filled = fill("judge_item.md", dict.fromkeys(names, value))

    assert value.join(re.split(r"\{\{ [a-z_]+ \}\}", FRAME)) == filled


def test_a_missing_value_is_a_bug_of_ours():
    with pytest.raises(KeyError, match="conversation"):
        fill("judge_item.md", {})


def test_an_unknown_template_is_a_broken_installation():
    with pytest.raises(FileNotFoundError, match=r"no_such\.md"):
        template_path("no_such.md")


def test_line_ends_of_a_checkout_do_not_reach_the_model():
    names = [path.name for path in template_path("judge.md").parent.glob("*.md")]

    assert names
    assert all("\r" not in template(name) for name in names)
