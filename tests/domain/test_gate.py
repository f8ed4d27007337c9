"""The gate of a build, and how its limits are written."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.gate import ErrorLimit, decide_gate, read_error_limit, read_share
from azd_eval.domain.summary import Gate, TaskCounts


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0.7", 0.7),
        (".7", 0.7),
        ("70%", 0.7),
        (" 70 % ", 0.7),
        ("99.5%", 0.995),
        ("0", 0.0),
        ("1", 1.0),
        ("1.0", 1.0),
        ("0%", 0.0),
        ("100%", 1.0),
        ("1%", 0.01),
        (0.7, 0.7),
        (1, 1.0),
    ],
)
def test_a_score_limit_is_a_score_or_a_percentage(text, wanted):
    assert pytest.approx(wanted, abs=1e-15) == read_share(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("70", "did you mean 70%?"),
        ("1.5", "did you mean 1.5%?"),
        (70, "did you mean 70%?"),
        ("100", "did you mean 100%?"),
        ("150", "at most 1"),
        ("101%", "at most 1"),
        ("700", "at most 1"),
        ("-0.1", "expected a score"),
        ("0,7", "expected a score"),
        ("70 percent", "expected a score"),
        ("%", "expected a score"),
        ("nan", "expected a score"),
        ("inf", "expected a score"),
        ("1e-1", "expected a score"),
        ("٧٠%", "expected a score"),
        ("", "expected a score"),
    ],
)
def test_any_other_score_limit_is_refused_in_a_sentence(text, words):
    with pytest.raises(ValueError, match=re.escape(words)) as refusal:
        read_share(text)

    assert ("did you mean" in words) == ("did you mean" in str(refusal.value))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0", ErrorLimit(count=0)),
        ("3", ErrorLimit(count=3)),
        (3, ErrorLimit(count=3)),
        (" 5 % ", ErrorLimit(share=0.05)),
        ("12.5%", ErrorLimit(share=0.125)),
        ("0%", ErrorLimit(share=0.0)),
        ("100%", ErrorLimit(share=1.0)),
    ],
)
def test_an_error_limit_is_a_number_or_a_share(text, wanted):
    assert wanted == read_error_limit(text)


@pytest.mark.parametrize(
    "text", ["", "-1", "1.5", "101%", "five", "5%%", "٣", "1e3", "None", "True"]
)
def test_any_other_error_limit_is_refused(text):
    with pytest.raises(ValueError, match="got"):
        read_error_limit(text)


@pytest.mark.parametrize(
    ("limit", "errored", "total", "exceeded"),
    [
        ("0", 0, 10, False),
        ("0", 1, 10, True),
        ("3", 3, 10, False),
        ("3", 4, 10, True),
        ("5%", 1, 20, False),
        ("5%", 2, 20, True),
        ("33.3%", 333, 1000, False),
        ("0%", 0, 0, False),
        ("0%", 1, 1000, True),
        ("100%", 10, 10, False),
    ],
)
def test_an_error_limit_is_exceeded_from_the_next_error(limit, errored, total, exceeded):
    assert exceeded is read_error_limit(limit).is_exceeded(errored, total)


@pytest.mark.parametrize(
    ("counts", "score", "fail_under", "wanted"),
    [
        (TaskCounts(3, passed=3), 1.0, None, Gate(True)),
        (TaskCounts(3, passed=2, skipped=1), 1.0, None, Gate(True)),
        (TaskCounts(3, passed=2, failed=1), 0.9, None, Gate(False, ("1 of 3 tasks did not pass",))),
        (
            TaskCounts(3, passed=2, errored=1),
            0.6,
            None,
            Gate(False, ("1 of 3 tasks did not pass",)),
        ),
        (TaskCounts(2, failed=2), 0.0, None, Gate(False, ("2 of 2 tasks did not pass",))),
        (TaskCounts(3, failed=3), 0.7, 0.7, Gate(True)),
        (TaskCounts(3, failed=3), 0.1 + 0.2 + 0.4, 0.7, Gate(True)),
        (TaskCounts(3, failed=3), 0.699, 0.7, Gate(False, ("score 0.699 is under 0.7",))),
        (TaskCounts(3, failed=3), 0.0, 0.0, Gate(True)),
        (TaskCounts(0), None, None, Gate(False, ("nothing was scored",))),
        (TaskCounts(2, skipped=2), None, 0.0, Gate(False, ("nothing was scored",))),
    ],
)
def test_the_gate_opens_or_says_why_not(counts, score, fail_under, wanted):
    assert wanted == decide_gate(counts, score, fail_under)


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_a_share_written_back_is_the_same_limit(errored, total):
    percent = min(errored, total) / total * 100

    limit = read_error_limit(f"{percent:.10f}%")

    assert not limit.is_exceeded(min(errored, total), total) or percent == 0
    assert limit.is_exceeded(min(errored, total) + 1, total)
