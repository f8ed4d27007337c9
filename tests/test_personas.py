"""The world that other tests rely on: it improves only by what its reasons reveal."""

import pytest

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.criterion import Criterion
from azd_eval.domain.optimization import Evidence, FailedVerdict
from azd_eval.domain.ports import JudgeRequest, TargetRequest, TurnUnderTest
from azd_eval.domain.score import TrialSpec
from azd_eval.domain.suite import Brief
from azd_eval.domain.task import Task, Turn
from azd_eval.evaluators.judge import BatchedJudge, IndependentJudge
from azd_eval.formats.evaluator_files import read_rubric
from azd_eval.formats.tasks import read_task_row
from azd_eval.generators.model import ModelBlueprintDrafter, ModelTaskDrafter
from azd_eval.optimizers.reflector import Reflector
from azd_eval.targets.chat import ChatTarget
from azd_eval.wiring.environment import Environment
from azd_eval.wiring.models import ModelPool, PoolOptions
from azd_eval.workflows.init_eval import SuitePlan, init_eval
from tests.personas import support_world

RULE = 'Say "30 days" — always.'
CRITERIA = (Criterion("term", "Names the term"), Criterion("kind", "Is kind"))


class Journal:
    def record(self, event):
        pass


@pytest.fixture
async def model(fake_openai):
    server = fake_openai(support_world(RULE))
    environment = Environment({"OPENAI_BASE_URL": server.base_url})
    async with ModelPool(PoolOptions(environment)) as pool:
        yield pool.model("m")


async def reply_under(model, instructions):
    return await ChatTarget(model).respond(TargetRequest("How long?", instructions))


def judge_request(reply, *, graded=False):
    turn = Turn("How long?", CRITERIA)
    spec = TrialSpec(Task("t", (turn,)), Candidate("baseline", ""))
    return JudgeRequest("e", TurnUnderTest(spec, 0, turn, reply), CRITERIA, graded=graded)


@pytest.mark.parametrize("judge", [IndependentJudge, BatchedJudge])
@pytest.mark.parametrize("graded", [False, True])
async def test_the_judge_knows_the_rule(model, judge, graded):
    verdicts = [
        await judge(model, Journal()).decide(judge_request(reply, graded=graded))
        for reply in (await reply_under(model, "Be kind."), await reply_under(model, RULE))
    ]

    assert [["unmet"] * 2, ["met"] * 2] == [[v.outcome for v in each] for each in verdicts]
    assert RULE in verdicts[0][0].reason


async def test_the_reflector_learns_the_rule_from_reasons_only(model):
    reply = await reply_under(model, "Be kind.")
    verdict = (await IndependentJudge(model, Journal()).decide(judge_request(reply)))[0]
    failure = FailedVerdict("t", "How long?", reply.text, CRITERIA[0], verdict.reason)
    parent = Candidate("baseline", "Be kind.\n{x}")
    optimizer = Reflector(model)

    blind = await optimizer.propose(Evidence(parent, ()))
    told = await optimizer.propose(Evidence(parent, (failure,)))

    assert "Be kind.\n{x}" == blind.instructions
    assert f"Be kind.\n{{x}}\n{RULE}" == told.instructions


@pytest.mark.parametrize("count", [3, 50, 120])
async def test_the_drafter_fills_every_slot_with_another_task(model, count):
    sentence = "Customer support agent. Test refund handling, troubleshooting and out-of-scope."
    plan = SuitePlan(Brief("support", sentence), count)

    suite = await init_eval(
        plan,
        ModelBlueprintDrafter(model, read_rubric),
        ModelTaskDrafter(model, read_task_row),
        lambda *progress: None,
    )

    assert count == len({task.turns[0].prompt for task in suite.tasks})
    assert suite.shortfall is None
