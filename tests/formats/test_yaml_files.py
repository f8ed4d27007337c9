import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.errors import FilesRefused, InputError, Problem
from azd_eval.formats.faults import Fault
from azd_eval.formats.yaml_files import dump_yaml, parse_yaml, read_yaml
from azd_eval.formats.yaml_scalars import Plain, resolve

# Signs that mean something to some YAML reader.
SIGNS = " \t\n\r:-#'\"[]{}&*!|>%@`,?ab01.\\xuLNP_\u2028\u2029\x85\ufeff\x07~<=é"
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text(SIGNS, max_size=20)
trees = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**290), 10**290)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(texts.filter(lambda key: key != "<<"), inner, max_size=4)
    ),
    max_leaves=15,
)


def refusal(text: str) -> Problem:
    with pytest.raises(FilesRefused) as refused:
        parse_yaml(text, "eval.yaml")
    return refused.value.problems[0]


@pytest.mark.parametrize(
    "text",
    "no No yes on off y n 1.10 1e3 0o17 0x1f 010 1_000 12:30 2026-01-01 .inf null ~ = +1".split(),
)
@pytest.mark.parametrize("shape", ["k: {}", "- {}", "[{}]", "{{k: {}}}", "{}: v"])
def test_a_scalar_stays_text(shape: str, text: str) -> None:
    tree = parse_yaml(shape.format(text), "x").tree
    (read,) = tree if isinstance(tree, list) or shape == "{}: v" else tree.values()

    assert text == read


def test_quotes_are_remembered() -> None:
    tree = parse_yaml("- no\n- 'no'\n- \"no\"\n- |\n  no\n- >-\n  no", "x").tree

    assert [True, False, False, False, False] == [isinstance(each, Plain) for each in tree]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("Null", None),
        ("true", True),
        ("FALSE", False),
        ("no", "no"),
        ("on", "on"),
        ("y", "y"),
        ("12", 12),
        ("-7", -7),
        ("007", 7),
        ("0o17", 15),
        ("0x1F", 31),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("1.10", 1.1),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.2.3", "1.2.3"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_free_values_follow_yaml_1_2(text: str, value: Any) -> None:
    resolved = resolve(parse_yaml(f"k: {text}", "x").tree)["k"]

    assert (type(value), value) == (type(resolved), resolved)
    assert text == resolve(parse_yaml(f"k: '{text}'", "x").tree)["k"]


@pytest.mark.parametrize(
    "text",
    [
        "agent:\n\ttype: x\n",
        "agent:\n  name: a\n\tkind: b\n",
        "a:\n  - b\n\t- c\n",
        "\ta: b",
        "a: |\n\ttext",
    ],
)
def test_a_tab_for_indentation_is_told_in_one_sentence(text: str) -> None:
    problem = refusal(text)

    assert "invalid YAML: tab used for indentation, use spaces" == problem.message
    assert text[: text.index("\t")].count("\n") + 1 == problem.line


def test_a_tab_inside_quoted_text_is_text() -> None:
    assert {"a": "b\tc", "d": "e\tf\n"} == parse_yaml("a: 'b\tc'\nd: |\n  e\tf\n", "x").tree


def test_another_tab_is_not_called_indentation() -> None:
    assert "a tab stands where only spaces may" in refusal("a: b\tc").message


@pytest.mark.parametrize(
    ("text", "key", "first", "second"),
    [
        ("judge: {model: big}\nx: 1\njudge: {model: small}", "judge", 1, 3),
        ("a:\n  b: 1\n  c: 2\n  b: 3", "a.b", 2, 4),
        ("a: {b: 1,\n  'b': 2}", "a.b", 1, 2),
        ("- a: 1\n  a: 2", "[0].a", 1, 2),
        ('a: 1\n"\\x61": 2', "a", 1, 2),
    ],
)
def test_a_key_that_stands_twice_is_refused_with_both_lines(
    text: str, key: str, first: int, second: int
) -> None:
    problem = refusal(text)

    assert f"stands on line {first} and on line {second}" in problem.message
    assert (key, second) == (problem.field, problem.line)


def test_all_repeated_keys_are_told() -> None:
    with pytest.raises(FilesRefused) as refused:
        parse_yaml("a: 1\nb: {c: 1, c: 2}\na: 2", "x")

    assert ["b.c", "a"] == [problem.field for problem in refused.value.problems]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a: b: c", 1, 5, "a `:` where none can be"),
        ("a: [1, 2", 1, 4, "a bracket is not closed"),
        ("a: {b: 1", 1, 4, "a bracket is not closed"),
        ("a: 'b\nc: d", 1, 4, "a quotation mark is not closed"),
        ("a: *b", 1, 4, "a value begins with `*`"),
        ("a: @b", 1, 4, "a value begins with a sign of YAML's own"),
        ("a: `b`", 1, 4, "a value begins with a sign of YAML's own"),
        ("a: %b", 1, 4, "a value begins with a sign of YAML's own"),
        ("a:\n  - b\n c: d", 3, 2, "the indentation does not fit the lines above"),
        ("a: b\nnokey\nc: d", 2, 1, "expected `key: value`"),
        ("a: 1\n---\nb: 2", 2, 1, "several documents in one file"),
    ],
)
def test_a_syntax_error_is_told_with_its_place(
    text: str, line: int, column: int, message: str
) -> None:
    problem = refusal(text)

    assert (line, column, f"invalid YAML: {message}") == (
        problem.line,
        problem.column,
        problem.message,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: \x00", "a character that YAML forbids"),
        ("a: \x07", "a character that YAML forbids"),
        ('a: "\\ud83d"', "half of a surrogate pair, which no encoding can hold"),
        ('"\\ud83d": a', "a key must be text"),
        ("? [a]\n: b", "a key must be text"),
        ("{[a]: b}", "a key must be text"),
        ("a: !!python/object:os.system x", "is not supported"),
        ("a: !secret x", 'tag "!secret" is not supported'),
        ("a: !!binary aGk=", 'tag "tag:yaml.org,2002:binary" is not supported'),
        ("&a [*a]", "an alias stands inside the value that it names"),
        ("a: &a\n  b: *a", "an alias stands inside the value that it names"),
        ("<<: 3", "expected a map to merge"),
        ("[" * 3000, "nested too deeply"),
        ('a: "\\U00110000"', "invalid YAML"),
        ('a: "\\UFFFFFFFF"', "invalid YAML"),
        (f"%YAML 1.{'9' * 5000}\n---\na", "invalid YAML"),
        ("a" * 1_000_001, "invalid YAML: longer than 500000 characters"),
    ],
)
def test_what_is_no_plain_tree_is_refused(text: str, message: str) -> None:
    assert message in refusal(text).message


def test_an_explosion_of_aliases_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    assert "more than 20000 keys and values" in refusal("\n".join(lines)).message


def test_anchors_and_merges_work() -> None:
    text = "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\none: {<<: *b, x: 9}\n"
    text += "two: {<<: [*m, *b], w: *b}"

    tree = parse_yaml(text, "x").tree

    assert {"x": "9", "y": "2"} == tree["one"]
    assert {"x": "1", "y": "3", "z": "4", "w": {"x": "1", "y": "2"}} == tree["two"]


def test_every_value_has_its_place() -> None:
    file = parse_yaml("a:\n  - b: 1\n    'c': two\n", "eval.yaml")

    value = file.place(Fault(("a", 0, "c"), "wrong"))
    key = file.place(Fault(("a", 0, "c"), "unknown", at_key=True))
    missing = file.place(Fault(("a", 0, "d"), "missing"))

    assert "eval.yaml:3:10: a[0].c: wrong" == str(value)
    assert (3, 5) == (key.line, key.column)
    assert (2, 5) == (missing.line, missing.column)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"], ids=ascii)
@pytest.mark.parametrize("shape", ["a: x{}y\nb: c", "a: 'x{}y'\nb: c", "a: |-\n  x{}y\nb: c"])
def test_line_separators_of_unicode_are_text(shape: str, separator: str) -> None:
    file = parse_yaml(shape.format(separator), "x")

    assert {"a": f"x{separator}y", "b": "c"} == file.tree


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", "---\n", "--- # x\n...\n"])
def test_a_file_that_holds_nothing(text: str) -> None:
    tree = parse_yaml(text, "x").tree

    assert tree is None or tree == ""


def test_a_byte_order_mark_is_none_of_the_content() -> None:
    path = Path("a.yaml")
    path.write_bytes(b"\xef\xbb\xbfa: b\r\nc: d\r\n")

    assert {"a": "b", "c": "d"} == read_yaml(path, "config").tree


def test_a_missing_file_is_named_with_its_absolute_path() -> None:
    with pytest.raises(InputError, match=f"config not found: {Path.cwd() / 'none.yaml'}"):
        read_yaml(Path("none.yaml"), "config")


@given(trees)
def test_what_is_written_is_read_back_equal(tree: Any) -> None:
    assert tree == resolve(parse_yaml(dump_yaml(tree), "x").tree)


@pytest.mark.parametrize("text", ["\n", "\n\n", "a\n", "a\n\n", "\na", " \n", "a\n \n", "\r\n"])
def test_what_is_written_can_be_followed_by_more(text: str) -> None:
    written = dump_yaml({"a": text}) + dump_yaml({"b": "c"})

    assert {"a": text, "b": "c"} == parse_yaml(written, "x").tree


def test_written_files_are_easy_to_edit() -> None:
    written = dump_yaml(
        {"list": ["plain", "no", "1.10", "12:30", "two\nlines\n"], "empty": [], "flag": True}
    )

    assert (
        "list:\n  - plain\n  - 'no'\n  - '1.10'\n  - '12:30'\n"
        "  - |\n    two\n    lines\nempty: []\nflag: true\n"
    ) == written


@given(st.text(SIGNS, max_size=60) | st.text())
def test_any_text_is_a_tree_or_a_problem(text: str) -> None:
    with contextlib.suppress(FilesRefused):
        parse_yaml(text, "x")
