"""What a session recalls of those before it."""

import pytest

from azd_eval.domain.score import Verdict
from azd_eval.storage.run_folder import JOURNAL, RunFolder
from azd_eval.storage.run_memory import read_memory
from tests.factories import make_criteria, make_item, make_judge_request, make_spec, make_task

TASK = make_task(prompts=("one", "two"))


def reply(text, turn=0, **fields):
    return {
        "event": "reply",
        "task_key": TASK.key,
        "repeat": 0,
        "turn": turn,
        "reply": text,
        "finish_reason": "stop",
        "latency_ms": 7.0,
        "input_tokens": 3,
        "output_tokens": 2,
        **fields,
    }


def verdict(criterion="polite", turn=0, **fields):
    return {
        "event": "verdict",
        "task_key": TASK.key,
        "repeat": 0,
        "turn": turn,
        "evaluator": "quality",
        "criterion": criterion,
        "verdict": "met",
        "reason": "it is",
        "grade": None,
        **fields,
    }


def remember(folder, *events, judging="now", recalled_by="now"):
    run = RunFolder(folder, judging)
    for event in events:
        run.journal.record(event)
    run.close()
    return read_memory(folder, recalled_by)


def recall_reply(memory, turn=0):
    found = memory.recall_reply(make_spec(TASK), turn)
    return found and found.text


def recall_verdicts(memory):
    request = make_judge_request(make_criteria("polite"), make_item(task=TASK))
    return list(memory.recall_verdicts(request))


def test_a_reply_comes_back_as_it_was(tmp_path):
    memory = remember(tmp_path, reply("Good day."), verdict(grade=4))

    found = memory.recall_reply(make_spec(TASK), 0)
    request = make_judge_request(item=make_item(task=TASK))
    assert ("Good day.", "stop", 7.0, 3, 2, False) == (
        found.text,
        found.finish_reason,
        found.latency_ms,
        found.input_tokens,
        found.output_tokens,
        found.cached,
    )
    assert {"polite": Verdict("polite", "met", "it is", grade=4)} == memory.recall_verdicts(request)


@pytest.mark.parametrize(
    "others", [{"repeat": 1}, {"task_key": "another"}, {"turn": 1}, {"turn": -1}]
)
def test_what_belongs_to_others_is_not_recalled(tmp_path, others):
    memory = remember(tmp_path, reply("Good day.", **others))

    assert recall_reply(memory) is None


@pytest.mark.parametrize("others", [{"evaluator": "tone"}, {"verdict": "unusable"}])
def test_only_usable_verdicts_of_the_evaluator_are_recalled(tmp_path, others):
    memory = remember(tmp_path, reply("Good day."), verdict(**others))

    assert [] == recall_verdicts(memory)


def test_a_new_reply_voids_all_that_followed_the_old_one(tmp_path):
    memory = remember(
        tmp_path, reply("old"), verdict(), reply("old, too", turn=1), reply("new"), verdict("short")
    )

    assert ("new", None) == (recall_reply(memory, 0), recall_reply(memory, 1))
    assert ["short"] == recall_verdicts(memory)


def test_a_verdict_without_its_reply_is_void(tmp_path):
    assert [] == recall_verdicts(remember(tmp_path, verdict()))


def test_verdicts_of_another_judge_are_void_but_its_replies_hold(tmp_path):
    remember(tmp_path, reply("Good day."), verdict(), judging="before")
    memory = remember(tmp_path, verdict("short"))

    assert ("Good day.", ["short"]) == (recall_reply(memory), recall_verdicts(memory))
    assert ["polite"] == recall_verdicts(read_memory(tmp_path, "before"))


@pytest.mark.parametrize("make", [lambda: reply("damaged"), verdict])
@pytest.mark.parametrize("value", ["missing", None, [], {}])
def test_a_damaged_event_is_no_event(tmp_path, make, value):
    for number, field in enumerate(make()):
        damaged = make() | {field: value}
        if value == "missing":
            del damaged[field]
        if damaged == make():
            continue

        memory = remember(tmp_path / str(number), reply("Good day."), damaged)

        assert ("Good day.", []) == (recall_reply(memory), recall_verdicts(memory))


def test_a_folder_without_a_journal_has_no_memories(tmp_path):
    memory = read_memory(tmp_path, "now")

    assert not memory.finished
    assert recall_reply(memory) is None
    assert not (tmp_path / JOURNAL).exists()
