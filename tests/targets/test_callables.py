"""Loading the user's function: everything wrong with it is said before any call."""

import json
import sys
from pathlib import Path

import pytest

from azd_eval.errors import InputError
from azd_eval.targets.callables import load_function

FIELDS = {"prompt": "P", "history": ["H"], "instructions": "I", "context": "C"}


@pytest.fixture(autouse=True)
def _own_import_state(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


def _load(folder: Path, source: str, name: str = "agent.py:respond"):
    (folder / "agent.py").write_text(source, encoding="utf-8")
    return load_function(name, folder)


def _refusal(folder: Path, source: str, name: str = "agent.py:respond") -> InputError:
    with pytest.raises(InputError) as caught:
        _load(folder, source, name)
    return caught.value


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("prompt", {"prompt": "P"}),
        ("question", {"question": "P"}),
        ("question, /", {"question": "P"}),
        ("prompt, /, instructions", {"prompt": "P", "instructions": "I"}),
        ("instructions, prompt", {"prompt": "P", "instructions": "I"}),
        ("instructions, question", {"question": "P", "instructions": "I"}),
        ("question, history=(), verbose=False", {"question": "P", "history": ["H"], "verbose": 0}),
        ("*, context, prompt", {"prompt": "P", "context": "C"}),
        ("*given", {"given": ("P",)}),
        ("**fields", {"fields": FIELDS}),
        (
            "question, **fields",
            {"question": "P", "fields": {k: v for k, v in FIELDS.items() if k != "prompt"}},
        ),
    ],
)
def test_a_function_gets_what_its_parameters_ask_for(tmp_path, parameters, expected):
    function = _load(tmp_path, f"def respond({parameters}):\n    return locals()\n")

    assert expected == function.bind(FIELDS)()


@pytest.mark.parametrize(
    ("source", "accepts"),
    [
        ("def respond(prompt): ...", False),
        ("def respond(prompt, instructions): ...", True),
        ("def respond(prompt, instructions, /): ...", True),
        ("def respond(**fields): ...", True),
    ],
)
def test_it_is_known_whether_instructions_can_matter(tmp_path, source, accepts):
    assert accepts == _load(tmp_path, source).accepts_instructions


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("class Agent:\n    def __call__(self, prompt): return prompt * 2", "agent.py:Agent"),
        (
            "class Agent:\n    def ask(self, prompt): return prompt * 2\na = Agent()",
            "agent.py:a.ask",
        ),
        (
            "import functools, operator\ndouble = functools.partial(operator.mul, 2)",
            "agent.py:double",
        ),
        ("def double(prompt): return prompt * 2", "agent:double"),
    ],
)
def test_classes_objects_methods_and_modules_can_be_named(tmp_path, source, name):
    assert "PP" == _load(tmp_path, source, name).bind(FIELDS)()


def test_sibling_modules_are_found_at_import_and_later(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "early_friend.py").write_text("A = 'a'", encoding="utf-8")
    (tmp_path / "late_friend.py").write_text("B = 'b'", encoding="utf-8")
    source = (
        "from early_friend import A\n"
        "def respond(prompt):\n    from late_friend import B\n    return A + B\n"
    )
    (tmp_path / "src" / "agent.py").write_text(source, encoding="utf-8")

    function = load_function("src/agent.py:respond", tmp_path)

    assert "ab" == function.bind(FIELDS)()


def test_a_file_named_like_a_library_replaces_nothing(tmp_path):
    (tmp_path / "json.py").write_text("def respond(prompt): return 'mine'", encoding="utf-8")

    assert "mine" == load_function("json.py:respond", tmp_path).bind(FIELDS)()
    assert json is sys.modules["json"]


def test_a_changed_file_is_read_again(tmp_path):
    assert 1 == _load(tmp_path, "def respond(prompt): return 1").bind(FIELDS)()

    assert 22 == _load(tmp_path, "def respond(prompt): return 22").bind(FIELDS)()


def test_the_module_of_another_folder_is_never_taken_for_this_one(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        _load(tmp_path / name, "def respond(prompt): ...")
    load_function("agent:respond", tmp_path / "first")

    with pytest.raises(InputError, match="loaded before from") as caught:
        load_function("agent:respond", tmp_path / "second")

    assert "`agent.py:function`" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("source", "name", "message", "hint"),
    [
        ("", "agent.py", "names no function", "`agent.py:respond`"),
        ("", ":respond", "names no function", "`agent.py:respond`"),
        ("", "agnt.py:respond", "not found: ", "did you mean `agent.py`?"),
        ("", "no_such_module:respond", "'no_such_module'", "`file.py:function`"),
        ("", "agent.inner:respond", "'agent.inner'", "`file.py:function`"),
        ("def respond(prompt): ...", "agent.py:repsond", "'repsond'", "did you mean `respond`?"),
        ("def answer(prompt): ...", "agent.py:x", "has no function 'x'", "there are: answer"),
        ("respond = 3", "agent.py:respond", "no function but a int", "name a function"),
        ("class respond: ...", "agent.py:respond", "no function but a respond", "can be called"),
        (
            "class respond:\n    def __init__(self, key): ...",
            "agent.py:respond",
            "cannot be loaded: TypeError",
            "traceback",
        ),
        ("def respond(: ...", "agent.py:respond", "SyntaxError.*agent.py, line 1", "traceback"),
        ("import no_such_package", "agent.py:respond", "no_such_package.*agent.py:1", "traceback"),
        ("\nraise KeyError('k')", "agent.py:respond", "KeyError: 'k' .agent.py:2 in", "traceback"),
        ("raise SystemExit(4)", "agent.py:respond", "SystemExit: 4", "traceback"),
        ("def respond(): ...", "agent.py:respond", "takes no prompt", "`history`"),
        ("def respond(*, prompt, key): ...", "agent.py:respond", "needs 'key'", "a default"),
        ("def respond(a, b, c): ...", "agent.py:respond", "needs 'b', 'c'", "a default"),
    ],
)
def test_every_fault_is_named_with_its_cure(tmp_path, source, name, message, hint):
    error = _refusal(tmp_path, source, name)

    assert 2 == error.exit_code
    assert hint in str(error.hint)
    assert pytest.raises(InputError, match=message).matches(error)


def test_what_is_offered_may_be_other_fields_the_first_being_the_one_to_take(tmp_path):
    (tmp_path / "checks.py").write_text("def tone(text, options): return text, options", "utf-8")

    function = load_function("checks.py:tone", tmp_path, ("response", "options"))

    assert ("R", {}) == function.bind({"response": "R", "options": {}})()
    with pytest.raises(InputError, match="needs 'options'") as caught:
        load_function("checks.py:tone", tmp_path, ("response", "prompt"))
    assert "`response`, `prompt`" in str(caught.value.hint)
