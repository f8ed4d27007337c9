"""Options that take several words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.cli.many_values import fill_bare, repeat_options

MANY = ("--prompts", "--expected")


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ([], []),
        (["--quiet", "--cwd", "x"], ["--quiet", "--cwd", "x"]),
        (["--prompts", "A"], ["--prompts=A"]),
        (
            ["--prompts", "A", "B", "--expected", "X", "Y", "--json"],
            ["--prompts=A", "--prompts=B", "--expected=X", "--expected=Y", "--json"],
        ),
        (["--prompts=A", "B"], ["--prompts=A", "--prompts=B"]),
        (["--prompts=a=b"], ["--prompts=a=b"]),
        (["--prompts", "a=b", "-v"], ["--prompts=a=b", "-v"]),
        (["--prompts", "A", "--prompts", "B"], ["--prompts=A", "--prompts=B"]),
        (["--prompts", ""], ["--prompts="]),
        (["--prompts="], ["--prompts="]),
        (["--prompts", "-"], ["--prompts=-"]),
        (
            ["--expected", "X", "--prompts", "--", "-5?", "--prompts"],
            ["--expected=X", "--prompts=-5?", "--prompts=--prompts"],
        ),
        (["--prompts=-5?"], ["--prompts=-5?"]),
        (["--prompts"], ["--prompts"]),
        (["--prompts", "--json"], ["--json", "--prompts"]),
        (["--prompts", "--expected", "X"], ["--expected=X", "--prompts"]),
        (["--", "--prompts", "A"], ["--", "--prompts=A"]),
    ],
)
def test_words_become_values(typed, read):
    assert read == repeat_options(typed, MANY)


@given(st.lists(st.text(), min_size=1), st.lists(st.text(), min_size=1))
def test_no_value_is_lost_whatever_it_holds(expected, prompts):
    typed = [*(f"--expected={text}" for text in expected), "--prompts", "--", *prompts]

    assert [
        *(f"--expected={text}" for text in expected),
        *(f"--prompts={text}" for text in prompts),
    ] == repeat_options(typed, MANY)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (["--init"], ["--init=basic"]),
        (["--init", "--json"], ["--init=basic", "--json"]),
        (["--json", "--init", "tool-usage"], ["--json", "--init", "tool-usage"]),
        (["--init=tool-usage"], ["--init=tool-usage"]),
        ([], []),
    ],
)
def test_an_option_without_a_word_gets_its_default(typed, read):
    assert read == fill_bare(typed, "--init", "basic")
