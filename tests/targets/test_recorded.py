"""Replies of earlier in place of an agent."""

import pytest

from azd_eval.domain.ports import TargetRequest
from azd_eval.domain.score import TrialSpec
from azd_eval.domain.task import Reply, Task, Turn
from azd_eval.errors import TargetError
from azd_eval.targets.recorded import RecordedTarget
from azd_eval.workflows.run_trial import Bench, recall_recorded
from tests.factories import BASELINE, MemoryJournal


def make_task(*replies):
    turns = (
        Turn(f"{index}?", recorded=None if reply is None else Reply(reply))
        for index, reply in enumerate(replies)
    )
    return Task("t", tuple(turns))


async def test_there_is_nobody_to_ask():
    with pytest.raises(TargetError, match="no stored response to score"):
        await RecordedTarget().respond(TargetRequest("Who?", ""))


@pytest.mark.parametrize(
    ("replies", "errors"),
    [
        (["Me.", "You."], [None, None]),
        ([None, "You."], ["agent_error", "not_attempted"]),
        (["Me.", " "], [None, "agent_error"]),
    ],
)
async def test_a_turn_has_its_stored_reply_or_an_error(replies, errors):
    bench = Bench(RecordedTarget(), (), MemoryJournal(), recall_recorded)

    trial = await bench.run_trial(TrialSpec(make_task(*replies), BASELINE))

    assert errors == [turn.error_code for turn in trial.turns]
    assert [None if error else reply for reply, error in zip(replies, errors, strict=True)] == [
        turn.reply for turn in trial.turns
    ]
