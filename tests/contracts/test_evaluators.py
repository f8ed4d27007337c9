"""What every evaluator keeps to."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.criterion import Check, Criterion, Rubric
from azd_eval.errors import ModelError
from azd_eval.evaluators.criteria import TaskAdherence
from azd_eval.evaluators.judge import BatchedJudge, IndependentJudge
from azd_eval.evaluators.rubric import RubricEvaluator
from azd_eval.evaluators.undecided import UndecidedJudge
from tests.factories import MemoryJournal, judge_by_name, make_criteria, make_item, make_task
from tests.fakes import ScriptedModel

CRITERIA = (
    *make_criteria("polite", "short", weight=2.0),
    Criterion("greets", "", check=Check("contains", "good day")),
    *make_criteria("sourced"),
)
TASK = make_task(criteria=CRITERIA)

EVALUATORS = {
    "task adherence": TaskAdherence,
    "rubric": lambda judge: RubricEvaluator(Rubric("quality", CRITERIA), judge),
    "graded rubric": lambda judge: RubricEvaluator(
        Rubric("quality", CRITERIA, scoring="graded"), judge
    ),
}


@pytest.fixture(params=EVALUATORS.values(), ids=EVALUATORS)
def build(request):
    """Make an evaluator whose judge model answers as scripted."""

    def make(respond, judge_type=IndependentJudge):
        model = ScriptedModel(respond)
        return request.param(judge_type(model, MemoryJournal())), model

    return make


async def test_every_criterion_has_one_verdict_in_order(build):
    evaluator, _ = build(judge_by_name({}))

    score = await evaluator.score(make_item(task=TASK))

    assert evaluator.name
    assert evaluator.name == score.evaluator
    assert [each.name for each in CRITERIA] == [v.criterion for v in score.verdicts]
    assert [each.weight for each in CRITERIA] == [v.weight for v in score.verdicts]


@pytest.mark.parametrize(("judge_type", "calls"), [(IndependentJudge, 3), (BatchedJudge, 1)])
async def test_questions_foretell_the_calls_of_the_judge(build, judge_type, calls):
    evaluator, model = build(judge_by_name({}), judge_type)
    item = make_item(task=TASK)

    await evaluator.score(item)

    assert evaluator.scores(item.turn) is True
    assert 3 == evaluator.questions(item.turn)
    assert calls == len(model.history)


@given(st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, None, "maybe"]), min_size=3, max_size=3))
@pytest.mark.parametrize("evaluator", EVALUATORS.values(), ids=EVALUATORS)
def test_a_score_lies_in_0_to_1_and_comes_with_a_pass(evaluator, answers):
    respond = judge_by_name(dict(zip(["polite", "short", "sourced"], answers, strict=True)))
    judge = IndependentJudge(ScriptedModel(respond), MemoryJournal())

    score = asyncio.run(evaluator(judge).score(make_item(task=TASK)))

    assert score.score is None or 0 <= score.score <= 1
    assert (score.score is None) == (score.passed is None)


@pytest.mark.parametrize("failure", ["no JSON", ModelError("no", code="wrong_key")])
async def test_a_failing_judge_is_an_unusable_verdict_never_an_exception(build, failure):
    evaluator, _ = build(lambda request: failure)

    score = await evaluator.score(make_item(task=TASK))

    outcomes = [verdict.outcome for verdict in score.verdicts]
    assert ["unusable", "unusable", "met", "unusable"] == outcomes


@pytest.mark.parametrize("evaluator", EVALUATORS.values(), ids=EVALUATORS)
async def test_without_a_model_only_checks_decide(evaluator):
    score = await evaluator(UndecidedJudge()).score(make_item(task=TASK))

    outcomes = [verdict.outcome for verdict in score.verdicts]
    assert ["undecided", "undecided", "met", "undecided"] == outcomes
    assert 1.0 == score.score


async def test_replies_judged_at_once_are_never_mixed_up(build):
    def respond(request):
        line = next(
            line for line in request.messages[1].text.split("\n") if line.startswith('"reply')
        )
        return f'{{"reason": {line}, "score": 1}}'

    evaluator, _ = build(respond)
    replies = [f"reply {number}" for number in range(50)]

    scores = await asyncio.gather(*(evaluator.score(make_item(reply, TASK)) for reply in replies))

    assert replies == [score.verdicts[0].reason for score in scores]
