"""Where variables come from, and that their values are shown nowhere."""

import pytest

from azd_eval.errors import InputError
from azd_eval.wiring.environment import Environment, read_environment, replace_variables


def test_the_process_wins_over_the_files_and_later_files_over_earlier(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("A=1\nB=1\nC=1\nD=1\n")
    (tmp_path / ".env.local").write_text("B=2\nC=2\nD=2\n")
    (tmp_path / ".env.local.user").write_text("C=3\nD=3\n")
    monkeypatch.setenv("D", "4")

    environment = read_environment(tmp_path)

    assert ["1", "2", "3", "4"] == [environment.get(name) for name in "ABCD"]


def test_the_files_are_read_as_they_are(tmp_path):
    (tmp_path / ".env").write_bytes(
        b"\xef\xbb\xbfFIRST=with byte order mark\r\n"
        b"# a comment\n"
        b"export KEY='p$a${B}s#s'  # and another\n"
        b"EMPTY=\nBARE\n"
    )

    environment = read_environment(tmp_path)

    assert "with byte order mark" == environment.get("FIRST")
    assert "p$a${B}s#s" == environment.get("KEY")
    assert environment.get("EMPTY") is None
    assert environment.get("BARE") is None


def test_an_empty_variable_of_the_process_hides_the_file(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from-file\n")
    monkeypatch.setenv("OPENAI_API_KEY", "")

    assert read_environment(tmp_path).get("OPENAI_API_KEY") is None


def test_a_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / ".env.local").write_bytes(b"KEY=\xff\xfe")

    with pytest.raises(InputError, match=r"\.env\.local"):
        read_environment(tmp_path)


def test_values_are_not_shown():
    assert "secret" not in repr(Environment({"KEY": "secret"}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://${HOST}/v1", "https://h/v1"),
        ("${HOST}${HOST}", "hh"),
        ("${NESTED}", "${HOST}"),
        ("$HOST {HOST} $$", "$HOST {HOST} $$"),
        ("", ""),
    ],
)
def test_replaces_variables_in_one_pass(text, expected):
    environment = Environment({"HOST": "h", "NESTED": "${HOST}"})

    assert expected == replace_variables(text, environment, "models.m.base_url")


@pytest.mark.parametrize("value", [None, "", "  "])
def test_an_unset_variable_is_named_with_its_place(value):
    environment = Environment({} if value is None else {"MY_KEY": value})

    with pytest.raises(InputError, match=r"models\.m\.base_url: .*`MY_KEY` is not set"):
        replace_variables("x ${MY_KEY}", environment, "models.m.base_url")


@pytest.mark.parametrize("text", ["${}", "${MY KEY}", "${1}", "${a-b}", "${A:-b}", "${A", "$${"])
def test_what_names_no_variable_is_refused(text):
    with pytest.raises(InputError, match="does not name a variable"):
        replace_variables(text, Environment({}), "here")
