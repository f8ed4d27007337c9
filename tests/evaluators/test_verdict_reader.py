"""What judges write, and the one decision - or none - that it stands for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.criterion import Criterion
from azd_eval.evaluators.verdict_reader import (
    batch_schema,
    describe_scale,
    single_reader,
    single_schema,
)
from azd_eval.structured import read_reply

ALWAYS = Criterion("polite", "Is the reply polite?")
AT_TIMES = Criterion("polite", "Is the reply polite?", always_applicable=False)

UNUSABLE = "unusable"
UNMET = (0, "why")


def _decide(raw, criterion=ALWAYS, *, graded=False):
    try:
        return read_reply(raw, single_reader(criterion, graded=graded))
    except ValueError:
        return UNUSABLE


PLAIN = '{"reason": "why", "score": 0}'

WRAPPED = {
    "plain": (PLAIN, UNMET),
    "score first": ('{"score": 0, "reason": "why"}', UNMET),
    "other keys beside": ('{"score": 0, "reason": "why", "confidence": 0.9}', UNMET),
    "byte order mark": ("\ufeff" + PLAIN, UNMET),
    "white space": (f"\r\n\t {PLAIN} \n", UNMET),
    "fence": (f"```json\n{PLAIN}\n```  ", UNMET),
    "fence, no language": (f"```\n{PLAIN}\n```", UNMET),
    "fence, capitals": (f"```JSON\n{PLAIN}\n```", UNMET),
    "fence, tildes": (f"~~~json\n{PLAIN}\n~~~", UNMET),
    "fence, never closed": (f"```json\n{PLAIN}", UNMET),
    "fence on one line": (f"```json {PLAIN}```", UNMET),
    "inline code": (f"`{PLAIN}`", UNMET),
    "prose before": (f"Sure! Here is my verdict: {PLAIN}", UNMET),
    "prose after": (f"{PLAIN} Hope this helps {{smile}} [1]", UNMET),
    "prose with braces": (f"The set {{x | x > 0}} and {{}} matter. {PLAIN}", UNMET),
    "prose with brackets": (f"See [30 days], [[wiki]], [0-9] and [1]. {PLAIN}", UNMET),
    "prose in brackets": (f"[my verdict: {PLAIN}]", UNMET),
    "doubled braces": ('{{"reason": "why", "score": 0}}', UNMET),
    "said twice": (f"{PLAIN}\n{PLAIN}", UNMET),
    "thought": (f"<think>It is fine.</think>{PLAIN}", UNMET),
    "thought, other tag": (f"<Thinking>\nfine\n</Thinking>\n{PLAIN}", UNMET),
    "thought with a draft": (f'<think>{{"score": 1, "reason": "x"}}?</think>{PLAIN}', UNMET),
    "thought with a broken draft": (f'<think>{{"score": 1 or 0}}</think>\n{PLAIN}', UNMET),
    "thought after prose": (f'Let me see. <think>{{"score": 1}}</think>{PLAIN}', UNMET),
    "two thoughts": (f'<think>a</think><think>{{"score": 1}}</think>{PLAIN}', UNMET),
    "thought quotes an end": (f'<think>See </think>{{"score": 1}}. No.</think>{PLAIN}', UNMET),
    "end tag alone": (f'Maybe {{"score": 1}}? No.</think>\n\n{PLAIN}', UNMET),
    "thought never closed": (f"<think>I wonder {PLAIN}", UNUSABLE),
    "second thought never closed": (f'<think>a</think>{PLAIN}<think>{{"score": 1}}', UNMET),
    "end tag after all": (f"{PLAIN}</think>", UNUSABLE),
}

REASONS = {
    "braces": (r'{"score": 0, "reason": "uses {x} and \"}\""}', (0, 'uses {x} and "}"')),
    "a verdict": (
        r'{"score": 0, "reason": "says {\"score\": 1}"}',
        (0, 'says {"score": 1}'),
    ),
    "fences": ('{"score": 1, "reason": "uses ```json fences"}', (1, "uses ```json fences")),
    "fences in a fence": (
        '```json\n{"reason": "uses\\n```json\\nfences", "score": 1}\n```',
        (1, "uses\n```json\nfences"),
    ),
    "Markdown": (
        '{"reason": "**bold**\\n- [ ] item\\n| a |", "score": 1}',
        (1, "**bold**\n- [ ] item\n| a |"),
    ),
    "raw line ends": ('{"reason": "one\n```\ntwo\t", "score": 1}', (1, "one\n```\ntwo")),
    "thought tags": (
        '{"reason": "has <think> and </think>", "score": 0}',
        (0, "has <think> and </think>"),
    ),
    "an end tag": ('Sure. {"reason": "has </think>", "score": 0}', (0, "has </think>")),
    "missing": ('{"score": 1}', (1, "")),
    "null": ('{"score": 1, "reason": null}', (1, "")),
    "a list": ('{"score": 1, "reason": ["a"]}', (1, "")),
    "empty": ('{"score": 1, "reason": "  "}', (1, "")),
    "half a character": (r'{"score": 1, "reason": "\ud83d"}', (1, "\ud83d")),
}

BROKEN = {
    "nothing": "",
    "white space": " \n ",
    "prose": "I'm sorry, I can't evaluate this content.",
    "a number": "1",
    "a word": "true",
    "null": "null",
    "empty text": '""',
    "empty object": "{}",
    "empty list": "[]",
    "a verdict in text": '"{\\"score\\": 1}"',
    "list of one": '[{"score": 1, "reason": "why"}]',
    "list of number": "[1]",
    "verdict inside": '{"verdict": {"score": 1, "reason": "why"}}',
    "capital key": '{"Score": 1}',
    "score missing": '{"reason": "why"}',
    "cut in the reason": '{"score": 1, "reason": "The reply is pol',
    "cut after the score": '{"reason": "why", "score": 1',
    "cut in the key": '{"reason": "why", "sco',
    "cut in a fence": '```json\n{"score": 1, "reason": "wh\n```',
    "cut outside, whole inside": '{"verdicts": [{"score": 1, "reason": "why"}',
    "cut list, whole inside": '[{"score": 1, "reason": "why"}, {"score"',
    "cut list of mixed, whole inside": '[0, {"score": 1}, "x',
    "cut after a whole one": '{"score": 1, "reason": "why"} {"score": 0, "rea',
    "quotation badly quoted": '{"reason": "says "{"score": 1}" to me", "score": 0}',
    "quotation with a tag": '{"reason": "says "</think>{"score": 1}" to me", "score": 0}',
    "quotation on a line": '{"reason": "says "\n</think>\n{"score": 1}\n" to me", "score": 0}',
    "key twice": '{"score": 0, "score": 1}',
    "key twice inside": '{"score": 1, "x": {"a": 1, "a": 2}}',
    "single quotes": "{'score': 1, 'reason': 'why'}",
    "bare keys": "{score: 1}",
    "trailing comma": '{"score": 1,}',
    "comment": '{"score": 1 /* met */}',
    "typographic quotes": "{“score”: 1}",
    "full-width raw": '{"score": １}',
    "arabic raw": '{"score": ١}',
    "leading zero": '{"score": 01}',
    "plus sign": '{"score": +1}',
    "alternatives": '{"score": 1 | 0}',
    "the template": '{"reason": "<one or two sentences>", "score": <1 | 0>}',
    "thousands of digits": '{"score": 1' + "0" * 5000 + "}",
    "very deep object": '{"a":' * 100_000,
    "very deep list": "[" * 100_000,
}

# JSON of a score: what it means where 0 and 1 are asked, and where 1 to 5 are.
SCORES = {
    "0": (0, UNUSABLE),
    "1": (1, 1),
    "2": (UNUSABLE, 2),
    "3": (UNUSABLE, 3),
    "5": (UNUSABLE, 5),
    "6": (UNUSABLE, UNUSABLE),
    "-1": (UNUSABLE, UNUSABLE),
    "-0": (0, UNUSABLE),
    "-0.0": (0, UNUSABLE),
    "0.0": (0, UNUSABLE),
    "1.0": (1, 1),
    "1e0": (1, 1),
    "4.0": (UNUSABLE, 4),
    "0.5": (UNUSABLE, UNUSABLE),
    "1.5": (UNUSABLE, UNUSABLE),
    "0.9999999": (UNUSABLE, UNUSABLE),
    "1e400": (UNUSABLE, UNUSABLE),
    "-1e400": (UNUSABLE, UNUSABLE),
    "1e-400": (0, UNUSABLE),
    "NaN": (UNUSABLE, UNUSABLE),
    "Infinity": (UNUSABLE, UNUSABLE),
    "true": (1, UNUSABLE),
    "false": (0, UNUSABLE),
    "null": (UNUSABLE, UNUSABLE),
    '"false"': (0, UNUSABLE),
    '"False"': (0, UNUSABLE),
    '"no"': (0, UNUSABLE),
    '" No "': (0, UNUSABLE),
    '"0"': (0, UNUSABLE),
    '"fail"': (0, UNUSABLE),
    '"failed"': (0, UNUSABLE),
    '"unmet"': (0, UNUSABLE),
    '"TRUE"': (1, UNUSABLE),
    '"yes"': (1, UNUSABLE),
    '"met"': (1, UNUSABLE),
    '"pass"': (1, UNUSABLE),
    '"passed"': (1, UNUSABLE),
    '"1"': (1, 1),
    '"3"': (UNUSABLE, 3),
    '"2"': (UNUSABLE, 2),
    '"1.0"': (UNUSABLE, UNUSABLE),
    '"1/1"': (UNUSABLE, UNUSABLE),
    '"4/5"': (UNUSABLE, UNUSABLE),
    '"１"': (UNUSABLE, UNUSABLE),
    '"١"': (UNUSABLE, UNUSABLE),
    '"¹"': (UNUSABLE, UNUSABLE),
    '"①"': (UNUSABLE, UNUSABLE),
    '"one"': (UNUSABLE, UNUSABLE),
    '"maybe"': (UNUSABLE, UNUSABLE),
    '"null"': (UNUSABLE, UNUSABLE),
    '"N/A"': (UNUSABLE, UNUSABLE),
    '""': (UNUSABLE, UNUSABLE),
    "[]": (UNUSABLE, UNUSABLE),
    "[1]": (UNUSABLE, UNUSABLE),
    "{}": (UNUSABLE, UNUSABLE),
    '{"value": 1}': (UNUSABLE, UNUSABLE),
}


@pytest.mark.parametrize(("raw", "wanted"), WRAPPED.values(), ids=WRAPPED)
def test_what_stands_around_a_verdict_is_passed_over(raw, wanted):
    assert wanted == _decide(raw)


@pytest.mark.parametrize(("raw", "wanted"), REASONS.values(), ids=REASONS)
def test_a_reason_may_hold_anything(raw, wanted):
    assert wanted == _decide(raw)


@pytest.mark.parametrize("raw", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("criterion", [ALWAYS, AT_TIMES])
def test_anything_else_is_unusable(raw, criterion, graded):
    assert UNUSABLE == _decide(raw, criterion, graded=graded)


@pytest.mark.parametrize(
    "raw",
    [
        '{"score": 1, "reason": "a"} {"score": 0, "reason": "b"}',
        '{"score": 1, "reason": "a"} {"score": 1, "reason": "b"}',
        '```\n{"score": 1}\n```\nOn second thoughts:\n```\n{"score": 0}\n```',
    ],
)
def test_nobody_knows_which_of_two_answers_is_meant(raw):
    assert UNUSABLE == _decide(raw)


@pytest.mark.parametrize(("score", "wanted"), SCORES.items(), ids=SCORES)
def test_only_scores_of_the_scale_count(score, wanted):
    raw = f'{{"reason": "why", "score": {score}}}'

    found = (_decide(raw), _decide(raw, graded=True))

    assert tuple(UNUSABLE if each is UNUSABLE else (each, "why") for each in wanted) == found
    # `0 == False` and `1 == 1.0`: a decision is a whole number and nothing else.
    assert all(type(each[0]) is int for each in found if each is not UNUSABLE)


@pytest.mark.parametrize("graded", [False, True])
def test_null_means_not_applicable_only_where_that_may_be_said(graded):
    raw = '{"reason": "why", "score": null}'

    decisions = [_decide(raw, criterion, graded=graded) for criterion in (ALWAYS, AT_TIMES)]

    assert [UNUSABLE, (None, "why")] == decisions


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("score"), inner),
    max_leaves=6,
)


@given(_json, st.booleans())
def test_any_json_is_a_decision_or_a_sentence(value, graded):
    decision = _decide(json.dumps(value), AT_TIMES, graded=graded)

    scale = range(1, 6) if graded else (0, 1)
    assert decision is UNUSABLE or decision[0] is None or decision[0] in scale


@given(st.text(alphabet='{}[]"\\:,01 \nscore</think>`x'))
def test_any_text_is_a_decision_or_a_sentence(text):
    decision = _decide(text)

    assert decision is UNUSABLE or decision[0] in (0, 1)


@given(st.text())
def test_a_quoted_reply_never_changes_the_decision(reply):
    raw = json.dumps({"reason": f"It says: {reply}", "score": 0}, ensure_ascii=False)

    assert (0, f"It says: {reply}".strip()) == _decide(f"```json\n{raw}\n```")


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("may_not_apply", [False, True])
def test_schema_prompt_and_reader_name_the_same_scores(graded, may_not_apply):
    scale, meaning = describe_scale(graded=graded, may_not_apply=may_not_apply)
    schema = single_schema(graded=graded, may_not_apply=may_not_apply).body
    batch = batch_schema(graded=graded, may_not_apply=may_not_apply).body
    rows = batch["properties"]["verdicts"]["items"]
    allowed = schema["properties"]["score"]["enum"]
    criterion = AT_TIMES if may_not_apply else ALWAYS

    assert sorted(map(json.dumps, allowed)) == sorted(scale.strip("<>").split(" | "))
    assert all(f"{json.dumps(score)}: " in meaning for score in allowed)
    assert allowed == rows["properties"]["score"]["enum"]
    assert allowed == [
        _decide(json.dumps({"score": score}), criterion, graded=graded)[0] for score in allowed
    ]
    assert ["reason", "score"] == list(schema["properties"])
    # Servers that hold a model to a schema want every key required and no other allowed.
    for each in (schema, batch, rows):
        assert list(each["properties"]) == each["required"]
        assert each["additionalProperties"] is False
