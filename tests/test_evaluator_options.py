"""The options of named evaluators: names, defaults and ranges, as schema 1.11 has them."""

import pytest
from pydantic import ValidationError

from azd_eval.evaluator_options import NEEDS_EXPECTED, OFFICIAL_OPTIONS, OPTIONS

CALLS = {"calls": [{"tool": {"plugin_name": "mail", "function_name": "send"}}]}
REQUIRED = {
    "RetrievalQuery": {"capability": "Email", "selector": "budget"},
    "RetrievalResult": {"capability": "Email", "min_expected_count": 1},
    "ToolCallSelection": CALLS,
    "ToolCallExecution": CALLS,
}
GRADED = ("Relevance", "Coherence", "Groundedness", "Similarity")


def is_good(name, kinds=OPTIONS, **options):
    try:
        kinds[name].model_validate({**REQUIRED.get(name, {}), **options}, strict=True)
    except ValidationError:
        return False
    return True


def test_defaults_are_those_of_the_schema():
    made = {name: kind.model_validate(REQUIRED.get(name, {})) for name, kind in OPTIONS.items()}

    thresholds = {name: getattr(one, "threshold", None) for name, one in made.items()}
    with_threshold = {**dict.fromkeys(GRADED, 3), "Citations": 1, "PartialMatch": 0.5}
    assert {**dict.fromkeys(OPTIONS), **with_threshold} == thresholds
    assert "oai_unicode" == made["Citations"].citation_format
    assert ("contains", False) == (made["ExactMatch"].mode, made["ExactMatch"].case_sensitive)
    assert 10 == made["RetrievalResult"].max_rank
    assert made["ToolCallSelection"].allow_additional_calls
    assert set(OPTIONS) > NEEDS_EXPECTED


@pytest.mark.parametrize(
    ("name", "key", "good", "bad"),
    [
        *((name, "threshold", [1, 3.5, 5], [0, 5.5, "3", True, None]) for name in GRADED),
        ("Citations", "threshold", [1, 2.0, 99], [0, 1.5, True, None]),
        ("Citations", "citation_format", ["markdown", "inline"], ["footnotes", None]),
        ("PartialMatch", "threshold", [0, 1, 0.5], [-0.1, 1.1, float("nan")]),
        ("ExactMatch", "mode", ["equals"], ["is", None]),
        ("ExactMatch", "case_sensitive", [True], [1, "true"]),
        ("RetrievalQuery", "selector", ["a"], ["", 3]),
        ("RetrievalQuery", "includes", [[], ["a"]], [[""], "a"]),
        ("RetrievalResult", "max_rank", [1], [0]),
        ("RetrievalResult", "min_expected_count", [1], [0, None]),
        (
            "RetrievalResult",
            "expected_items",
            [[{"retrievalExtract_contains": "a"}]],
            [[], [{"retrievalExtract_contains": ""}], [{"webUrl": "a"}]],
        ),
        ("ToolCallSelection", "calls", [[*CALLS["calls"]] * 2], [[], [{}], [{"tool": {}}]]),
        ("ToolCallSelection", "allow_additional_calls", [False], ["no"]),
        *((name, "anything", [], [1]) for name in OPTIONS),
        *((name, "threshold", [], [1]) for name in ("ExactMatch", *REQUIRED)),
    ],
)
def test_ranges_are_closed(name, key, good, bad):
    assert all(is_good(name, **{key: value}) for value in good)
    assert not any(is_good(name, **{key: value}) for value in bad)


@pytest.mark.parametrize("name", REQUIRED)
def test_what_is_required_must_be_there(name):
    for key in REQUIRED[name]:
        rest = {other: value for other, value in REQUIRED[name].items() if other != key}
        with pytest.raises(ValidationError):
            OPTIONS[name].model_validate(rest)


def test_the_official_schema_knows_no_options_of_ours():
    assert is_good("Citations", OFFICIAL_OPTIONS, citation_format="footnotes")
    assert not is_good("ExactMatch", OFFICIAL_OPTIONS, mode="equals")
