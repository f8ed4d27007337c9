"""JSON asked of a model: found in what it wrote, read strictly, asked for once more at most."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.chat import ChatReply, ChatRequest, Message
from azd_eval.errors import ModelError
from azd_eval.structured import Answer, ask, json_values, read_reply
from tests.fakes import ScriptedModel

REQUEST = ChatRequest((Message("user", "How many?"),), purpose="generator")


def _read_count(value):
    if not isinstance(value, dict) or not isinstance(value.get("count"), int):
        raise ValueError("`count` must be a number")
    return value["count"]


def _script(*replies):
    answers = iter(replies)
    return ScriptedModel(lambda request: next(answers))


_leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=10)
_values = st.recursive(
    _leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
_objects = st.dictionaries(st.text(max_size=5), _values, min_size=1, max_size=3)
_containers = st.lists(_values, max_size=3) | _objects
_prose = st.text(st.characters(exclude_characters="{[<", exclude_categories=["Cs"]))


@given(st.lists(st.tuples(_prose, _containers), max_size=4), _prose, st.booleans())
def test_values_are_found_whole_and_in_order(pairs, rest, indented):
    indent = 2 if indented else None
    text = "".join(prose + json.dumps(value, indent=indent) for prose, value in pairs) + rest

    assert [value for _, value in pairs] == json_values(text)


@given(_objects.map(json.dumps), st.integers(2))
def test_a_cut_object_gives_nothing_at_all(text, length):
    cut = text[: 2 + length % (len(text) - 2)]

    with pytest.raises(ValueError, match="cut off or malformed"):
        json_values(f"Here it is: {cut}")


@pytest.mark.parametrize(
    "opening", ["{", "[", '{"a":', '["a', "[1 ", "<think>", "</think>", "[[x]]"]
)
def test_reading_takes_time_in_proportion(opening):
    text = opening * (50_000 // len(opening))

    with pytest.raises(ValueError, match=r"JSON"):
        read_reply(text, _read_count)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("no", "no JSON object in the answer"),
        ('{"count": "3"}', "`count` must be a number"),
        ('{"count": 3', "cut off or malformed"),
        ('{"count": 3, "count": 4}', "a key stands twice"),
        ('{"count": 3} {"count": 4}', "several different"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_the_fault_says_what_is_wrong(text, fault):
    with pytest.raises(ValueError, match=fault):
        read_reply(text, _read_count)


def test_values_that_do_not_fit_are_passed_over():
    assert 3 == read_reply('Given {"limit": 5} and [1]: {"count": 3}', _read_count)


async def test_a_readable_answer_is_asked_for_once():
    model = _script('{"count": 3}')

    answer = await ask(model, REQUEST, _read_count)

    assert Answer(3, None, '{"count": 3}') == answer
    assert [REQUEST] == model.history


async def test_an_unreadable_answer_is_asked_for_once_more_with_the_fault():
    model = _script("Three.", '{"count": 3}')

    answer = await ask(model, REQUEST, _read_count)

    assert 3 == answer.value
    first, said, repair = model.history[1].messages
    assert (REQUEST.messages[0], Message("assistant", "Three.")) == (first, said)
    assert "user" == repair.role
    assert "no JSON object in the answer" in repair.text


async def test_two_unreadable_answers_are_a_fault_with_the_last_text():
    model = _script("Three.", '{"count": null}', '{"count": 3}')

    answer = await ask(model, REQUEST, _read_count)

    assert Answer(None, "`count` must be a number", '{"count": null}') == answer
    assert 2 == len(model.history)


@pytest.mark.parametrize("failing_call", [1, 2])
async def test_an_error_of_the_model_is_passed_on(failing_call):
    model = _script(*["Three."] * (failing_call - 1), ModelError("no", code="timeout"))

    with pytest.raises(ModelError, match="no"):
        await ask(model, REQUEST, _read_count)


async def test_a_cut_answer_names_the_limit_and_is_tried_again_with_twice_of_it():
    cut = ChatReply('{"count": ', finish_reason="length", output_tokens=50)
    model = _script(cut, cut)

    answer = await ask(model, REQUEST, _read_count)

    assert answer.fault is not None
    assert "cut off at the token limit after 50 tokens" in answer.fault
    assert [1, 2] == [request.token_factor for request in model.history]


async def test_an_answer_that_did_not_begin_is_asked_for_with_twice_the_limit():
    cut = ModelError("no text", code="cut_off")
    model = _script(cut, '{"count": 3}')

    answer = await ask(model, REQUEST, _read_count)

    assert (3, [REQUEST, replace(REQUEST, token_factor=2)]) == (answer.value, model.history)
    with pytest.raises(ModelError, match="no text"):
        await ask(_script(cut, cut), REQUEST, _read_count)


async def test_the_limit_stays_when_it_was_not_the_cause():
    model = _script("Three.", '{"count": 3}')

    await ask(model, REQUEST, _read_count)

    assert [1, 1] == [request.token_factor for request in model.history]


async def test_a_whole_answer_counts_even_if_talk_after_it_was_cut():
    model = _script(ChatReply('{"count": 3} I hope tha', finish_reason="length"))

    assert 3 == (await ask(model, REQUEST, _read_count)).value


@pytest.mark.parametrize("piece", ["[x ", "{} ", "[1, x "])
def test_brackets_without_end_are_no_answer(piece):
    assert {"score": 1} == json_values(900 * piece + '{"score": 1}')[-1]
    with pytest.raises(ValueError, match="more than 1000 pieces of JSON"):
        json_values(1001 * piece + '{"score": 1}')
