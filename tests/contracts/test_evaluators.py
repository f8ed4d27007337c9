"""What every evaluator keeps to."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.criterion import Check, Criterion, Rubric
from azd_eval.domain.score import Trial, TurnResult, trial_score, trial_status
from azd_eval.domain.task import Reply
from azd_eval.errors import ModelError, TargetError
from azd_eval.evaluator_options import OPTIONS
from azd_eval.evaluators.criteria import TaskAdherence
from azd_eval.evaluators.custom import FunctionEvaluator
from azd_eval.evaluators.graded import GRADED, grade_by_prompt
from azd_eval.evaluators.judge import BatchedJudge, IndependentJudge
from azd_eval.evaluators.named import build_named, describe_named
from azd_eval.evaluators.rubric import RubricEvaluator
from azd_eval.evaluators.undecided import UndecidedJudge
from azd_eval.storage.trial_records import read_trial, write_trial
from tests.factories import MemoryJournal, judge_by_name, make_criteria, make_item, make_task
from tests.fakes import ScriptedModel

CRITERIA = (
    *make_criteria("polite", "short", weight=2.0),
    Criterion("greets", "", check=Check("contains", "good day")),
    *make_criteria("sourced"),
)
TASK = make_task(criteria=CRITERIA)

# Evaluators that look at criteria, the task's or those of a rubric.
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


async def call_own(fields):
    if "!" in fields["response"]:
        raise TargetError("`tone` raised ValueError")
    return {"score": len(fields["response"]) / 20}


TOOLS = [{"tool": {"plugin_name": "mail", "function_name": "send"}}]
OF_RUN = {
    **{name: {} for name in GRADED},
    "Citations": {"citation_format": "mixed", "threshold": 2},
    "ExactMatch": {},
    "PartialMatch": {},
    "RetrievalQuery": {"capability": "Email", "selector": "a", "excludes": ["b"]},
    "RetrievalResult": {"capability": "Email", "min_expected_count": 2},
    "ToolCallSelection": {"calls": TOOLS},
    "ToolCallExecution": {"calls": TOOLS},
}
OWN = {
    "tone": lambda judge, of_run: FunctionEvaluator("tone", call_own, of_run),
    "voice": lambda judge, of_run: grade_by_prompt("voice", "Is it our voice?", judge, of_run),
}
JUDGED = {*GRADED, "voice"}
NEEDING = {"Similarity", "ExactMatch", "PartialMatch"}
NAMED = [*OF_RUN, *OWN]


def make_named(name, judge, of_run):
    """Make one of the evaluators that are named with options, by a turn or for a run."""
    if name in OWN:
        return OWN[name](judge, of_run)
    options = {} if of_run is None else {name: of_run}
    return next(one for one in build_named(judge, options) if one.name == name)


def make_turns(expected="30 days", **turn):
    return make_task(criteria=(), expected=expected, turn=turn)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("of_run", [True, False])
@pytest.mark.parametrize("mode", [None, "extend", "replace"])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_named_evaluator_scores_where_run_or_turn_want_it(name, of_run, mode, is_named):
    options = OF_RUN.get(name, {})
    evaluator = make_named(name, UndecidedJudge(), options if of_run else None)
    chosen = {name: options} if is_named else {"Another": {}}
    turn = make_turns(evaluators=chosen, evaluators_mode=mode).turns[0]

    assert (is_named or (of_run and mode != "replace")) == evaluator.scores(turn)
    assert int(evaluator.scores(turn) and name in JUDGED) == evaluator.questions(turn)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("expected", ["30 days", None, " "])
async def test_what_a_named_evaluator_lacks_is_known_before_and_an_error_after(name, expected):
    model = ScriptedModel(judge_by_name({}, default=3))
    judge = IndependentJudge(model, MemoryJournal())
    evaluator = make_named(name, judge, OF_RUN.get(name, {}))
    item = make_item(task=make_turns(expected))

    score = await evaluator.score(item)

    is_lacking = name in NEEDING and expected != "30 days"
    assert ("groundTruth" if is_lacking else None) == evaluator.lacks(item.turn)
    assert is_lacking == (score.verdicts[0].error_code == "missing_expected")
    assert evaluator.questions(item.turn) == len(model.history)


RECORDS = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 300) | st.sampled_from(["Email", "a b", "mail"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "capability status queries queryString retrievalHits rank extracts text "
                "selected_functions executions plugin_name function_name response_status".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
EVIDENCE = st.fixed_dictionaries(
    {},
    optional={
        "citations": RECORDS,
        "diagnostics": RECORDS
        | st.fixed_dictionaries({"retrieval_executions": RECORDS, "tool_calls": RECORDS}),
    },
)


@given(
    st.text(max_size=60),
    EVIDENCE,
    st.sampled_from([*range(7), None, "maybe", ModelError("no", code="timeout")]),
)
@pytest.mark.parametrize("name", NAMED)
def test_a_named_evaluator_never_raises_and_its_score_can_be_kept(name, text, evidence, answer):
    def respond(request):
        is_error = isinstance(answer, ModelError)
        return answer if is_error else json.dumps({"reason": "so", "score": answer})

    judge = IndependentJudge(ScriptedModel(respond), MemoryJournal())
    evaluator = make_named(name, judge, OF_RUN.get(name, {}))

    score = asyncio.run(evaluator.score(make_item(Reply(text, evidence=evidence), make_turns())))

    (verdict,) = score.verdicts
    assert (name, name) == (score.evaluator, verdict.criterion)
    assert (verdict.value, verdict.value is None) == (score.score, score.passed is None)
    assert score.score is None or 0 <= score.score <= 1
    assert score.passed in (None, verdict.outcome == "met")
    if score.native is not None and score.threshold is not None and "Retrieval" not in name:
        assert score.passed == (score.native >= score.threshold - 1e-9)
    turn = TurnResult("hello", text, scores=(score,))
    trial = Trial("t", "k", 0, trial_status((turn,)), trial_score((turn,)), (turn,))
    assert trial == read_trial(json.loads(json.dumps(write_trial(trial))))


@pytest.mark.parametrize("name", NAMED)
async def test_without_a_model_rules_decide_and_graded_evaluators_do_not(name):
    evaluator = make_named(name, UndecidedJudge(), OF_RUN.get(name, {}))
    evidence = {
        "diagnostics": {
            "retrieval_executions": [],
            "tool_calls": {"selected_functions": [], "executions": []},
        }
    }

    score = await evaluator.score(make_item(Reply("Good day.", evidence=evidence), make_turns()))

    assert (name in JUDGED) == (score.verdicts[0].outcome == "undecided")
    assert (name in JUDGED) == (score.passed is None)


def test_every_named_evaluator_is_built_and_described():
    built = build_named(UndecidedJudge(), {})

    assert set(OPTIONS) == {one.name for one in built} == {one.name for one in describe_named()}
    assert all(rubric.dimensions[0].instruction for rubric in describe_named())
