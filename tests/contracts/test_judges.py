"""What every judge keeps to."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.score import OUTCOMES
from azd_eval.errors import ModelError
from azd_eval.evaluators.judge import BatchedJudge, IndependentJudge
from azd_eval.evaluators.undecided import UndecidedJudge
from tests.factories import MemoryJournal, judge_by_name, make_criteria, make_judge_request
from tests.fakes import ScriptedModel

JUDGES = {
    "independent": lambda model: IndependentJudge(model, MemoryJournal()),
    "batched": lambda model: BatchedJudge(model, MemoryJournal()),
    "undecided": lambda model: UndecidedJudge(),
}
REQUESTS = [
    make_judge_request((*make_criteria("polite", weight=3.0), *make_criteria("short"))),
    make_judge_request(make_criteria("polite", "short"), graded=True),
    make_judge_request(make_criteria("polite", "short", always_applicable=False), expected="30"),
]

pytestmark = pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)


@pytest.mark.parametrize("request_", REQUESTS)
@pytest.mark.parametrize(
    "answer",
    [
        judge_by_name({"short": 0}),
        judge_by_name({}, default=None),
        lambda request: "I'm sorry, I can't evaluate this content.",
        lambda request: "{}",
        lambda request: "",
        lambda request: ModelError("no", code="content_filter"),
        lambda request: ModelError("no", code="timeout"),
    ],
)
async def test_there_is_one_verdict_per_criterion_in_order(judge, answer, request_):
    verdicts = await judge(ScriptedModel(answer)).decide(request_)

    wanted = [(criterion.name, criterion.weight) for criterion in request_.criteria]
    assert wanted == [(verdict.criterion, verdict.weight) for verdict in verdicts]
    assert all(verdict.outcome in OUTCOMES for verdict in verdicts)


@given(st.text(), st.sampled_from(REQUESTS))
def test_no_answer_raises(judge, answer, request_):
    model = ScriptedModel(lambda request: answer)

    assert 2 == len(asyncio.run(judge(model).decide(request_)))


async def test_no_criteria_are_no_verdicts_and_no_calls(judge):
    model = ScriptedModel()

    verdicts = await judge(model).decide(make_judge_request(criteria=()))

    assert ((), []) == (verdicts, model.history)


async def test_an_unusable_verdict_says_why(judge):
    verdicts = await judge(ScriptedModel(lambda request: "no JSON")).decide(REQUESTS[0])

    assert all(verdict.reason for verdict in verdicts)
