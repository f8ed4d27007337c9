import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.formats.faults import Fault, Loc, name_field, suggest
from azd_eval.formats.json_places import find_offsets
from azd_eval.formats.json_text import is_too_deep, parse_json, walk

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@pytest.mark.parametrize(
    ("text", "column", "reason", "cure"),
    [
        ('{"a": 1,}', 8, "trailing comma", "remove the comma"),
        ('{"a": [1, 2, ]}', 12, "trailing comma", "remove the comma"),
        ('{"a": 1,\t}', 8, "trailing comma", "remove the comma"),
        ('{"a": "say "hi""}', 13, "a comma is missing, or a text ends too early", '`\\"`'),
        ('{"a": "x" "b": 1}', 11, "a comma is missing, or a text ends too early", '`\\"`'),
        ("{“a”: 1}", 2, "typographic quotation mark", "straight"),
        ('{"a": „x“}', 7, "typographic quotation mark", "straight"),
        ('{"a": «x»}', 7, "typographic quotation mark", "straight"),
        ('{"a": "x”}', 7, "typographic quotation mark", "straight"),
        ("{'a': 1}", 2, "single quotation mark", "double"),
        ("{\"a\": 'x'}", 7, "single quotation mark", "double"),
        ('{"a": "x', 7, "a text is not closed", "cut off"),
        ('{"a": "x\ty"}', 9, "control character inside a text", r"`\t`"),
        ('{"a": "C:\\dir"}', 10, "invalid backslash escape", r"`\\`"),
        ('{"a": "\\u12"}', 9, "invalid backslash escape", r"`\\`"),
        ('{"a": 1} {"b": 2}', 10, "something follows the value", "each object stands on a line"),
        ('{"a": 1}}', 9, "something follows the value", "each object stands on a line"),
        ('{"a": 1},', 9, "something follows the value", "each object stands on a line"),
        ('{"a": 1', 8, "it ends too early", "cut off"),
        ('{"a":', 6, "it ends too early", "cut off"),
        ("{", 2, "it ends too early", "cut off"),
        ('{"a": True}', 7, "a word that is not JSON", "`true`"),
        ('{"a": None}', 7, "a word that is not JSON", "`null`"),
        ('{"a": undefined}', 7, "a word that is not JSON", "`null`"),
        ("// note", 1, "comment", "remove it"),
        ('{"a": 1, # note\n}', 10, "comment", "remove it"),
        ("{a: 1}", 2, "a key without quotation marks", "double quotes"),
        ('{"a" 1}', 6, "a colon is missing after a key", None),
        ('{"a": 1 2}', 9, "a comma or a bracket is missing", None),
        ('{"a": ?}', 7, "expected a value", None),
        ("{1: 2}", 2, "expected a key in double quotes", None),
    ],
)
def test_a_syntax_error_is_told_with_its_place_and_cure(
    text: str, column: int, reason: str, cure: str | None
) -> None:
    value, ((offset, fault),) = parse_json(text)

    assert value is None
    assert (column, True) == (offset + 1, fault.is_syntax)
    assert fault.message.startswith(reason)
    assert cure is None or cure in (fault.hint or "")


def test_white_space_around_a_value_is_allowed() -> None:
    assert ({"a": 1}, []) == parse_json(' \t{"a": 1}\r\n ')


@given(values)
def test_what_json_writes_is_read_alike(value: Any) -> None:
    assert (value, []) == parse_json(json.dumps(value))


@given(values)
def test_the_walk_meets_every_value_where_it_stands(value: Any) -> None:
    text = json.dumps(value, indent=1)
    decode = json.JSONDecoder().raw_decode

    for node in walk(text):
        met, _ = decode(text, node.offset)

        assert follow(value, node.loc) == met
        if node.loc and isinstance(node.loc[-1], str):
            assert node.loc[-1] == decode(text, node.key_offset)[0]


def follow(value: Any, loc: Loc) -> Any:
    for step in loc:
        value = value[step]
    return value


@given(st.text(alphabet='{}[]:,"\\ua0 \n1-é', max_size=40))
def test_the_walk_over_any_text_ends(text: str) -> None:
    assert len(text) >= sum(1 for _ in walk(text))


def test_a_missing_key_stands_where_its_object_begins() -> None:
    text = '{"a": {"b": [{"c": 1}]}}'
    missing = Fault(("a", "b", 0, "name"), "missing")
    at_key = Fault(("a", "b"), "unknown", at_key=True)

    assert [text.index('{"c"'), text.index('"b"'), 0] == find_offsets(
        text, [missing, at_key, Fault((), "root")]
    )


def test_of_a_key_that_stands_twice_the_last_counts() -> None:
    text = '{"a": {"b": 1}, "a": {"b": 2}}'

    assert [text.index("2")] == find_offsets(text, [Fault(("a", "b"), "wrong")])


@pytest.mark.parametrize(("depth", "expected"), [(100, False), (101, True)])
@pytest.mark.parametrize(("opening", "closing"), ["[]", ('{"a":', "}")])
def test_depth_counts_what_is_open_at_once(
    opening: str, closing: str, depth: int, expected: bool
) -> None:
    wide = "[" + ",".join(["[]"] * 500) + "]"
    inner = opening if opening == "[" else '{"a":1'

    assert not is_too_deep(wide)
    assert expected == is_too_deep(opening * (depth - 1) + inner + closing * depth)


@pytest.mark.parametrize(
    ("loc", "field"),
    [
        ((), None),
        (("criteria", 1, "instruction"), "criteria[1].instruction"),
        ((0, "weight"), "[0].weight"),
        (("metadata", "a key"), 'metadata["a key"]'),
        (("metadata", "\ud83d"), 'metadata["\\ud83d"]'),
    ],
)
def test_a_path_is_written_as_people_do(loc: Loc, field: str | None) -> None:
    assert field == name_field(loc)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("promt", "prompt"),
        ("PROMPT", "prompt"),
        ("Ground-Truth", "groundTruth"),
        ("id", None),
        ("", None),
        ("x" * 100_000, None),
    ],
)
def test_a_key_is_suggested_only_when_it_resembles(word: str, expected: str | None) -> None:
    assert expected == suggest(word, ["prompt", "groundTruth", "ground_truth", "name"])
