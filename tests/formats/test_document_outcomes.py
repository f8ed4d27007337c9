"""What is read from results, of ours and of the vendor's tool."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.errors import InputError
from azd_eval.formats.document_outcomes import list_outcomes, read_outcomes

SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "m365"
VENDOR = SAMPLES / "repo/schema/v1/examples/valid/scenarios-with-mixed-errors.json"


@pytest.fixture
def read(tmp_path):
    def read_items(*items, **root):
        path = tmp_path / "result.json"
        path.write_text(json.dumps({"items": items, **root}), encoding="utf-8")
        return read_outcomes(path)

    return read_items


def make_item(prompt="Who?", status="pass", scores=None, **fields):
    return {"prompt": prompt, "status": status, "scores": scores or {}, **fields}


@pytest.mark.skipif(not VENDOR.is_file(), reason="the vendor's samples are not here")
def test_the_vendors_results_are_read():
    outcomes = read_outcomes(VENDOR)

    statuses = ["pass", "fail", "fail", "partial", "partial", "error", "partial", "error"]
    assert statuses == [outcome.status for outcome in outcomes]
    assert (1.0, 0.25, 0.5) == tuple(outcome.score for outcome in outcomes[:3])
    assert "Seattle trip planning — mixed turn outcomes" == outcomes[6].name


@pytest.mark.parametrize(
    ("scores", "score"),
    [
        ({"relevance": {"score": 4, "result": "pass", "threshold": 3}}, 0.75),
        ({"exactMatch": {"match": False, "result": "fail"}}, 0.0),
        ({"partialMatch": {"score": 0.6, "result": "pass", "threshold": 0.5}}, 0.6),
        ({"citations": {"count": 1, "result": "fail", "threshold": 2}}, 0.5),
        ({"citations": {"count": 9, "result": "pass", "threshold": 2}}, 1.0),
        ({"citations": {"count": 0, "result": "pass", "threshold": 0}}, 1.0),
        ({"tone": {"score": 77, "result": "fail", "threshold": 80}}, 0.0),
        ({"toolCallSelection": {"score": 1, "result": "pass", "threshold": 1}}, 1.0),
        (
            {
                "relevance": {"score": 5, "result": "pass", "threshold": 3},
                "coherence": {"result": "error", "error": "Evaluator failed: r"},
            },
            1.0,
        ),
        ({}, None),
        ({"relevance": {"score": True, "result": "pass"}, "coherence": "good"}, 1.0),
    ],
)
def test_a_score_is_on_the_scale_of_a_run(read, scores, score):
    (outcome,) = read(make_item(scores=scores))

    assert score == outcome.score


def test_a_thread_is_averaged_by_evaluator_and_has_its_worst_status(read):
    high = {"relevance": {"score": 5, "result": "pass"}}
    low = {
        "relevance": {"score": 1, "result": "fail"},
        "exactMatch": {"match": True, "result": "pass"},
    }
    turns = [make_item(scores=high), make_item("And?", "fail", low)]

    (outcome,) = read({"name": "Flow", "turns": turns})

    assert ("Flow", "fail", 0.75) == (outcome.name, outcome.status, outcome.score)


@pytest.mark.parametrize("place", ["item", "extensions"])
def test_ids_and_categories_are_found_in_both_places(read, place):
    fields = {"testId": "REG-1", "category": "tools"}
    item = make_item(**fields) if place == "item" else make_item(extensions=fields)

    (outcome,) = read(item)

    assert ("REG-1", "REG-1", "tools") == (outcome.name, outcome.test_id, outcome.category)


def test_the_content_is_what_is_asked_and_expected(read):
    first, second, third = read(
        make_item(response="a"),
        make_item(response="b", status="fail"),
        make_item(expected_response="x"),
    )

    assert first.content == second.content != third.content


def test_an_item_that_was_not_reached_has_no_status(read):
    _, unreached, half = read(
        make_item(), {"prompt": "Why?"}, {"turns": [make_item(), {"prompt": "So?"}]}
    )

    assert (None, None) == (unreached.status, half.status)


@pytest.mark.parametrize("root", [{}, {"items": []}, {"items": [{"prompt": "p"}]}, {"items": 3}])
def test_a_document_without_results_is_refused(read, root):
    with pytest.raises(InputError, match="is no result"):
        read(**root)


KEYS = (
    "items turns prompt status scores extensions testId name azd_eval fields relevance citations "
    "tone score count threshold result match"
).split()
values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from(["pass"])
)
trees = st.recursive(
    values,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=40,
)


@given(st.dictionaries(st.sampled_from(KEYS), trees, max_size=4), st.lists(trees, max_size=4))
def test_whatever_a_result_holds_it_is_read(result, items):
    for outcome in list_outcomes({**result, "items": items}):
        assert outcome.score is None or 0 <= outcome.score <= 1
        assert outcome.status in (None, "pass", "fail", "partial", "error")
