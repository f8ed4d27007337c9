"""The rules between the names of `evaluators:` and their options."""

import pytest

from azd_eval.evaluator_options import OPTIONS
from azd_eval.formats.evaluator_references import find_reference_faults
from azd_eval.formats.faults import name_field


def find(*rows):
    return [(name_field(fault.loc), fault.message) for fault in find_reference_faults(list(rows))]


def named(name, **options):
    return {"name": name, "initialization_parameters": options}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("prefix", ["", "builtin."])
def test_options_of_built_in_evaluators_are_checked_with_or_without_prefix(name, prefix):
    (fault,) = [each for each in find(named(prefix + name, thresold=3)) if "thresold" in each[1]]

    assert ("evaluators[0].initialization_parameters.thresold", 'unknown key "thresold"') == fault


@pytest.mark.parametrize(
    ("row", "place", "message"),
    [
        (named("Relevance", threshold=6), "threshold", "expected a number of at most 5, got 6"),
        (named("Citations", threshold=1.5), "threshold", "expected a whole number, got 1.5"),
        (named("PartialMatch", threshold="1"), "threshold", 'expected a number, got "1"'),
        (named("RetrievalQuery", capability="a"), "selector", "missing `selector`"),
        (
            named("Citations", citation_format="inline"),
            "citation_format",
            "`citation_format: inline` is taken as `mixed`",
        ),
        (
            {"name": "v", "prompt_file": "v.md", "initialization_parameters": {"threshold": 9}},
            "threshold",
            "expected a grade, from 1 to 5, got 9",
        ),
        (
            {"name": "tone", "callable": "a.py:b", "initialization_parameters": {"word": "x"}},
            "word",
            'unknown key "word"',
        ),
    ],
)
def test_faults_of_options_stand_at_their_place(row, place, message):
    assert [(f"evaluators[0].initialization_parameters.{place}", message)] == find(row)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("relevance", "'relevance' is the name of a built-in evaluator"),
        ("builtin.ExactMatch", "'builtin.ExactMatch' is the name of a built-in evaluator"),
        ("toolcallaccuracy", "'toolcallaccuracy' is the name of a built-in evaluator"),
        ("my tone", "expected letters, digits and `_`, a letter first"),
        ("1tone", "expected letters, digits and `_`, a letter first"),
    ],
)
@pytest.mark.parametrize("home", ["callable", "prompt_file"])
def test_an_evaluator_of_ones_own_has_a_name_of_its_own(home, name, message):
    assert [("evaluators[0].name", message)] == find({"name": name, home: "a.py:b"})


@pytest.mark.parametrize("keys", [("callable", "prompt_file"), ("prompt_file", "local_uri")])
def test_it_lives_in_one_place(keys):
    ((place, message),) = find({"name": "tone", **dict.fromkeys(keys, "a")})

    assert (f"evaluators[0].{keys[1]}", f"`{keys[0]}` already says what 'tone' is") == (
        place,
        message,
    )


@pytest.mark.parametrize(
    "row",
    [
        named("quality", anything=1),
        {"name": "Relevance", "local_uri": "my.yaml", "initialization_parameters": {"x": 1}},
        named("builtin.task_adherence", use_ground_truth=True),
        {"name": 3},
        "text",
        {},
    ],
)
def test_other_evaluators_are_left_to_others(row):
    assert [] == find(row)
