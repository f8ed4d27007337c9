"""Trials as lines of JSON, and back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.score import OUTCOMES, Score, Trial, TurnResult, Verdict
from azd_eval.storage.run_folder import RunFolder, read_trials
from azd_eval.storage.trial_records import read_trial, write_trial
from tests.factories import make_grade, make_trial, make_verdict

_texts = st.text() | st.sampled_from(["half \ud83d", "\u2028\u2029\x85", "\x00", "\r\n"])
_maybe_text = st.none() | _texts
_shares = st.none() | st.floats(0, 1)
_verdicts = st.builds(
    Verdict,
    _texts,
    st.sampled_from(OUTCOMES),
    _texts,
    st.floats(0.1, 10),
    st.none() | st.integers(1, 5),
    _shares,
    _maybe_text,
    _maybe_text,
)
_scores = st.builds(
    Score,
    _texts,
    _shares,
    st.none() | st.booleans(),
    st.lists(_verdicts, max_size=2).map(tuple),
    st.none() | st.floats(1, 5),
)
_turns = st.builds(
    TurnResult,
    _texts,
    _maybe_text,
    _maybe_text,
    _maybe_text,
    _texts,
    st.floats(0, 1e6),
    st.integers(0, 10**9),
    st.booleans(),
    st.lists(_scores, max_size=2).map(tuple),
)
_trials = st.builds(
    Trial,
    _texts,
    _texts,
    st.integers(0, 100),
    st.sampled_from(["passed", "failed", "errored", "skipped"]),
    _shares,
    st.lists(_turns, max_size=2).map(tuple),
    st.integers(0, 10**6),
    _maybe_text,
    _maybe_text,
)


@given(_trials)
def test_a_trial_read_back_is_the_trial(trial):
    assert trial == read_trial(json.loads(json.dumps(write_trial(trial))))


@given(st.lists(_trials, max_size=3))
def test_trials_of_a_run_are_read_in_the_order_they_ended(tmp_path_factory, trials):
    folder = RunFolder(tmp_path_factory.mktemp("run"))
    for trial in trials:
        folder.append(trial)
    folder.close()

    assert trials == list(read_trials(folder.path))


def test_a_line_reads_as_documented():
    trial = make_trial("failed", 0.5, verdicts=[make_verdict("unmet"), make_grade(4, "short")])

    record = write_trial(trial)

    [turn] = record.pop("turns")
    [score] = turn.pop("scores")
    verdicts = score.pop("verdicts")
    assert record == {
        "task": "task 0",
        "task_key": "key 0",
        "index": 0,
        "category": None,
        "repeat": 0,
        "status": "failed",
        "score": 0.5,
        "fatal": None,
    }
    assert turn == {
        "prompt": "hello",
        "reply": "Good day.",
        "error": None,
        "error_code": None,
        "finish_reason": "stop",
        "latency_ms": 0.0,
        "tokens": 0,
        "cached": False,
    }
    assert score == {"evaluator": "quality", "score": 0.5, "passed": False, "native": None}
    assert verdicts == [
        {"criterion": "polite", "verdict": "unmet", "reason": "", "weight": 1.0},
        {"criterion": "short", "verdict": "met", "reason": "", "weight": 1.0, "grade": 4},
    ]


def _turn_with(**fields):
    score = {"evaluator": "e", "score": 1, "passed": True, "verdicts": []}
    return {"prompt": "x", "reply": "y", "scores": [score | fields]}


@pytest.mark.parametrize(
    "change",
    [
        {"turns": None},
        {"turns": ["text"]},
        {"turns": [{}]},
        {"turns": [{"scores": [3]}]},
        {"turns": [{"prompt": "x", "scores": [], "unknown": 1}]},
        {"turns": [{"prompt": "x", "scores": [{"verdicts": [{"criterion": "x"}]}]}]},
        {"task_key": []},
        {"index": "0"},
        {"status": "good"},
        {"status": []},
        {"score": "1"},
        {"category": {}},
        {"turns": [{"prompt": "x", "scores": [], "latency_ms": None}]},
        {"turns": [{"prompt": 1, "scores": []}]},
        {"turns": [_turn_with(score="high")]},
        {"turns": [_turn_with(details=[])]},
        {"turns": [_turn_with(verdicts=[{"criterion": "c", "verdict": "good"}])]},
        {"turns": [_turn_with(verdicts=[{"criterion": "c", "verdict": "met", "weight": "1"}])]},
    ],
)
def test_anything_else_is_passed_over(tmp_path, change):
    folder = RunFolder(tmp_path)
    folder.append(make_trial(index=1))
    folder.close()
    foreign = [write_trial(make_trial(index=2)) | change, {"task": "only"}]
    with open(tmp_path / "trials.jsonl", "a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(each)}\n" for each in foreign)

    assert [make_trial(index=1)] == list(read_trials(tmp_path))
