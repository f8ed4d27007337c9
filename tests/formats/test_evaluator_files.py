import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.criterion import Check, Criterion, Rubric
from azd_eval.errors import FilesRefused, Problem
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.formats.evaluator_files import (
    find_evaluator,
    read_evaluator,
    read_rubric,
    write_rubric,
)
from azd_eval.formats.task_rules import FindPatternFault

RUBRIC = """\
type: rubric
name: support-quality
version: 2
description: How well the agent supports
scoring: graded
pass_threshold: 0.6
dimensions:
  - id: resolves_request
    description: The reply resolves what was asked
    weight: 9
    always_applicable: true
  - id: names_30_days
    description: The reply names the refund window
    check: {contains: 30 days}
metadata: {author: no, year: 2026}
"""
DIMENSION = "dimensions: [{id: a, description: b}]\n"


def read(text: str, name: str = "a.yaml", find: FindPatternFault = None) -> Rubric:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return read_evaluator(path, find)


def refusals(text: str, name: str = "a.yaml", find: FindPatternFault = None) -> list[Problem]:
    with pytest.raises(FilesRefused) as refused:
        read(text, name, find)
    return list(refused.value.problems)


def test_a_rubric_holds_what_its_file_says() -> None:
    assert Rubric(
        name="support-quality",
        version="2",
        description="How well the agent supports",
        scoring="graded",
        pass_threshold=0.6,
        dimensions=(
            Criterion("resolves_request", "The reply resolves what was asked", 9.0),
            Criterion(
                "names_30_days",
                "The reply names the refund window",
                check=Check("contains", "30 days"),
                always_applicable=False,
            ),
        ),
    ) == read(RUBRIC)


def test_what_is_left_out_has_the_defaults_of_the_design() -> None:
    rubric = read(f"name: a\n{DIMENSION}")

    assert ("1", "", "binary", 0.5, False) == (
        rubric.version,
        rubric.description,
        rubric.scoring,
        rubric.pass_threshold,
        rubric.lowest_grade_fails,
    )
    (dimension,) = rubric.dimensions
    assert (1.0, False) == (dimension.weight, dimension.always_applicable)


@pytest.mark.parametrize("word", ["no", "1.10", "2026-01-01", "true", "12:30"])
def test_text_stays_text(word: str) -> None:
    rubric = read(
        f"name: a\nversion: {word}\ndescription: {word}\n"
        f"dimensions: [{{id: {word}, description: {word}, check: {{equals: {word}}}}}]\n"
    )

    (dimension,) = rubric.dimensions
    assert [word] * 5 == [
        rubric.version,
        rubric.description,
        dimension.name,
        dimension.instruction,
        dimension.check.value if dimension.check else None,
    ]


@pytest.mark.parametrize("key", ["dimension_id", "rubric_id"])
def test_azds_list_of_dimensions_is_graded_and_fails_at_the_lowest_grade(key: str) -> None:
    dimensions = [{key: "a", "description": "A", "weight": 8}, {"id": "b", "description": "B"}]

    rubric = read(json.dumps(dimensions), "evaluators/smoke-core/rubric_dimensions.json")

    assert ("smoke-core", "graded", True) == (
        rubric.name,
        rubric.scoring,
        rubric.lowest_grade_fails,
    )
    assert [("a", 8.0), ("b", 1.0)] == [(each.name, each.weight) for each in rubric.dimensions]


def test_a_whole_rubric_may_stand_as_json() -> None:
    row = {"name": "a", "dimensions": [{"id": "x", "description": "y"}]}

    assert read(f"name: a\n{DIMENSION.replace('a,', 'x,').replace('b}', 'y}')}") == read(
        json.dumps(row), "a.json"
    )


def test_all_problems_are_told_with_their_places() -> None:
    text = """\
type: rubrik
nam: x
scoring: grade
pass_threshold: 50
dimensions:
  - description: b
    weight: 11
  - id: a
    descripton: b
  - id: a
    description: c
    weight: heavy
    always_applicable: yes
    check: {contain: x}
  - c
"""

    found = [(each.line, each.item, each.field, each.message) for each in refusals(text)]

    assert {
        (1, None, "type", 'expected `rubric`, got "rubrik"'),
        (1, None, "name", "missing `name`"),
        (2, None, "nam", 'unknown key "nam"'),
        (3, None, "scoring", 'expected `binary` or `graded`, got "grade"'),
        (4, None, "pass_threshold", "expected a number of at most 1, got 50"),
        (6, None, "dimensions[0].id", "missing `id`"),
        (7, None, "dimensions[0].weight", "expected a number of at most 10, got 11"),
        (8, "a", "dimensions[1].description", "missing `description`"),
        (9, "a", "dimensions[1].descripton", 'unknown key "descripton"'),
        (10, "a", "dimensions[2].id", 'dimension "a" stands twice'),
        (12, "a", "dimensions[2].weight", 'expected a whole number, got "heavy"'),
        (
            13,
            "a",
            "dimensions[2].always_applicable",
            'expected `true` or `false`, got "yes"',
        ),
        (14, "a", "dimensions[2].check.contain", 'unknown key "contain"'),
        (15, None, "dimensions[3]", "expected an object, got text"),
    } == set(found)


def test_problems_of_azds_list_are_told_with_their_places() -> None:
    text = '[\n  {"id": "a", "description": "A"},\n  {"id": "b", "weight": 0}\n]'

    assert [
        (3, 3, "b", "[1].description", "missing `description`"),
        (3, 25, "b", "[1].weight", "expected a number of at least 1, got 0"),
    ] == [
        (each.line, each.column, each.item, each.field, each.message)
        for each in refusals(text, "rubric_dimensions.json")
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "a.yaml"),
        ("# nothing", "a.yaml"),
        ("- a", "a.yaml"),
        ("text", "a.yaml"),
        ("3", "a.json"),
        ("null", "a.json"),
        ('"text"', "a.json"),
    ],
)
def test_a_file_that_is_no_rubric_shows_the_smallest(text: str, name: str) -> None:
    (problem,) = refusals(text, name)

    assert problem.message.startswith("expected an evaluator, got ")
    assert "dimensions:" in (problem.hint or "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\ndimensions:\n", "missing `dimensions`"),
        ("name: a\ndimensions: []\n", "must not be empty"),
        ("name: a\ndimensions: {a: b}\n", "expected a list, got object"),
        (f"name: ''\n{DIMENSION}", "must not be empty"),
        (f"name: a b\n{DIMENSION}", "expected letters, digits, `_`, `.`, `~` and `-` only"),
        (f"name: ../x\n{DIMENSION}", "expected letters, digits, `_`, `.`, `~` and `-` only"),
        (f"name: a\n{DIMENSION}pass_threshold: no\n", 'expected a number, got "no"'),
        (f"name: a\nname: b\n{DIMENSION}", 'key "name" stands on line 1 and on line 2'),
    ],
)
def test_a_wrong_rubric_is_refused(text: str, message: str) -> None:
    assert [message] == [problem.message for problem in refusals(text)]


def test_an_invalid_pattern_is_refused_by_the_engine_that_runs_it() -> None:
    text = "name: a\ndimensions: [{id: a, description: b, check: {regex: '('}}]\n"

    (problem,) = refusals(text, find=pattern_fault)

    assert "invalid pattern: missing ) at position 1" == problem.message


def test_a_missing_file_is_refused_with_its_absolute_path() -> None:
    with pytest.raises(FilesRefused, match=f"evaluator file not found: {Path.cwd() / 'x.yaml'}"):
        read_evaluator(Path("x.yaml"))


def test_a_model_gets_all_faults_in_one_sentence() -> None:
    row: dict[str, Any] = {"name": "a", "dimensions": [{"id": "x", "weight": 20}]}

    with pytest.raises(ValueError, match="missing `description`") as refused:
        read_rubric(row)

    assert "dimensions[0].weight: expected a number of at most 10, got 20" in str(refused.value)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip)
names = st.text("abcXYZ019_.~-", min_size=1, max_size=20)
rubrics = st.builds(
    Rubric,
    names,
    st.lists(
        st.builds(
            Criterion,
            texts,
            texts,
            weight=st.integers(1, 10).map(float),
            check=st.none() | st.builds(Check, st.just("contains"), texts),
            always_applicable=st.booleans(),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda dimension: dimension.name,
    ).map(tuple),
    version=texts,
    description=st.just("") | texts,
    scoring=st.sampled_from(["binary", "graded"]),
    pass_threshold=st.floats(0, 1),
    lowest_grade_fails=st.booleans(),
)


@given(rubrics)
def test_what_is_written_is_read_back_equal(rubric: Rubric) -> None:
    assert rubric == read(write_rubric(rubric))


def make_versions(*files: str) -> Path:
    folder = Path("evaluators")
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("quality", None, "quality.v10.yaml"),
        ("quality", "9", "quality.v9.yaml"),
        ("quality", "v2", "quality.v2.yaml"),
        ("quality", "2.0", "quality.v2.yaml"),
        ("quality/v9", None, "quality.v9.yaml"),
        ("quality.v1", None, "quality.v1.v3.yaml"),
        ("smoke", None, "smoke/rubric_dimensions.json"),
    ],
)
def test_the_newest_version_is_the_highest_number(
    name: str, version: str | None, expected: str
) -> None:
    folder = make_versions(
        "quality.v2.yaml",
        "quality.v10.yaml",
        "quality.v9.yaml",
        "quality.v11.yaml.bak",
        "quality.v1.v3.yaml",
        "qualityx.v99.yaml",
        "smoke/rubric_dimensions.json",
    )

    assert folder / expected == find_evaluator(folder, name, version)


@pytest.mark.parametrize(
    ("name", "version", "words"),
    [
        ("qualty", None, "did you mean 'quality'?"),
        ("zebra", None, "the evaluators there are 'quality'"),
        ("quality", "7", "its versions are 2"),
        ("quality", "x", "its versions are 2"),
        ("../quality", None, "not found in"),
        ("*", None, "not found in"),
    ],
)
def test_an_evaluator_that_is_not_there_is_refused_with_what_is(
    name: str, version: str | None, words: str
) -> None:
    folder = make_versions("quality.v2.yaml")

    with pytest.raises(FilesRefused) as refused:
        find_evaluator(folder, name, version)

    (problem,) = refused.value.problems
    assert words in f"{problem} {problem.hint}"
    assert str(folder.absolute()) in problem.message


def test_without_any_evaluator_the_hint_says_how_to_make_one() -> None:
    with pytest.raises(FilesRefused) as refused:
        find_evaluator(Path("none"), "quality")

    assert "eval init" in (refused.value.hint or "")
