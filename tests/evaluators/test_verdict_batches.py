"""Verdicts about several criteria in one answer: each number once, or none at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.evaluators.verdict_reader import batch_reader
from azd_eval.structured import read_reply
from tests.factories import make_criteria

CRITERIA = (*make_criteria("polite"), *make_criteria("sourced", always_applicable=False))
UNUSABLE = "unusable"


def _decide(raw, *, graded=False):
    try:
        return read_reply(raw, batch_reader(CRITERIA, graded=graded))
    except ValueError:
        return UNUSABLE


ONE = '{"number": 1, "reason": "a", "score": 1}'
TWO = '{"number": 2, "reason": "b", "score": 0}'
BOTH = ((1, "a"), (0, "b"))

BATCHES = {
    "in order": (f'{{"verdicts": [{ONE}, {TWO}]}}', BOTH),
    "in another order": (f'{{"verdicts": [{TWO}, {ONE}]}}', BOTH),
    "a bare list": (f"[{ONE}, {TWO}]", BOTH),
    "fenced": (f"```json\n[{ONE}, {TWO}]\n```", BOTH),
    "null where allowed": (
        f'[{ONE}, {{"number": 2, "score": null}}]',
        ((1, "a"), (None, "")),
    ),
    "null where not": (f'[{TWO}, {{"number": 1, "score": null}}]', UNUSABLE),
    "one missing": (f'{{"verdicts": [{ONE}]}}', UNUSABLE),
    "one too many": (f'[{ONE}, {TWO}, {{"number": 3, "score": 1}}]', UNUSABLE),
    "one twice": (f"[{ONE}, {TWO}, {TWO}]", UNUSABLE),
    "counted from 0": ('[{"number": 0, "score": 1}, {"number": 1, "score": 1}]', UNUSABLE),
    "no numbers": ('[{"score": 1}, {"score": 0}]', UNUSABLE),
    "number is a list": (f'[{ONE}, {{"number": [2], "score": 1}}]', UNUSABLE),
    "number is an object": (f'[{ONE}, {{"number": {{}}, "score": 1}}]', UNUSABLE),
    "number is a text": (f'[{ONE}, {{"number": "2", "score": 1}}]', UNUSABLE),
    "number is a fraction": (f'[{ONE}, {{"number": 2.5, "score": 1}}]', UNUSABLE),
    "a row is text": (f'[{ONE}, "met"]', UNUSABLE),
    "one row off the scale": (f'[{ONE}, {{"number": 2, "score": 3}}]', UNUSABLE),
    "verdicts is an object": (f'{{"verdicts": {{"1": {ONE}}}}}', UNUSABLE),
    "verdicts missing": ("{}", UNUSABLE),
    "rows without a list": (f"{ONE}\n{TWO}", UNUSABLE),
    "cut": (f'{{"verdicts": [{ONE}, {TWO}', UNUSABLE),
    "cut between rows": (f"[{ONE}, ", UNUSABLE),
}


@pytest.mark.parametrize(("raw", "wanted"), BATCHES.values(), ids=BATCHES)
def test_a_batch_holds_each_number_once(raw, wanted):
    assert wanted == _decide(raw)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["number", "score"]), inner),
    max_leaves=6,
)


@given(_json)
def test_any_json_is_a_batch_or_a_sentence(value):
    decisions = _decide(json.dumps({"verdicts": value}))

    assert decisions is UNUSABLE or 2 == len(decisions)


def test_grades_are_read_in_a_batch_too():
    raw = '[{"number": 1, "score": 4}, {"number": 2, "score": "5"}]'

    assert (UNUSABLE, ((4, ""), (5, ""))) == (_decide(raw), _decide(raw, graded=True))
