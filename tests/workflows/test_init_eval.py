"""Drafting a suite: exactly as many different tasks as asked for, or a word on why not."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, repeat

import pytest

from azd_eval.domain.suite import Blueprint, Brief, Slot, TaskDelivery, TaskOrder
from azd_eval.domain.task import Task, Turn
from azd_eval.errors import MeasurementError, ModelError
from azd_eval.formats.evaluator_files import read_rubric
from azd_eval.formats.tasks import read_task_row
from azd_eval.generators.model import ModelBlueprintDrafter, ModelTaskDrafter
from azd_eval.structured import json_values
from azd_eval.workflows.init_eval import (
    SuitePlan,
    draft_instructions,
    init_eval,
    name_assets,
)
from tests.factories import make_criteria, make_task
from tests.fakes import ScriptedModel
from tests.generators.drafts import BRIEF, CRITERIA, RUBRIC, prompt, reply, row

TIMEOUT = ModelError("no answer within 120 s", code="timeout")


@dataclass
class Blueprints:
    """Drafts the same blueprint always, or fails."""

    topics: tuple[str, ...] = ("refund handling", "shipping")
    error: ModelError | None = None

    async def draft_blueprint(self, brief: Brief) -> Blueprint:
        if self.error:
            raise self.error
        return Blueprint(RUBRIC, self.topics)


@dataclass
class Tasks:
    """Drafts what `deliver` makes of the nth order; remembers the orders."""

    deliver: Callable[[TaskOrder, int], TaskDelivery | Awaitable[TaskDelivery]]
    orders: list[TaskOrder] = field(default_factory=list)

    async def draft_tasks(self, order: TaskOrder) -> TaskDelivery:
        self.orders.append(order)
        delivery = self.deliver(order, len(self.orders))
        return delivery if isinstance(delivery, TaskDelivery) else await delivery


def task(slot: Slot, number: int, name: str | None = None) -> Task:
    turn = Turn(prompt(number), make_criteria("polite", "short"))
    return Task(name or f"task_{number}", (turn,), slot.kind, metadata={"topic": slot.topic})


def fill(order: TaskOrder, nth: int = 0) -> TaskDelivery:
    return TaskDelivery(tuple(task(slot, slot.number) for slot in order.slots))


def empty(order: TaskOrder, nth: int = 0) -> TaskDelivery:
    return TaskDelivery((), ("no JSON object in the answer; the model answered 'I cannot'",))


def fail(order: TaskOrder, nth: int = 0) -> TaskDelivery:
    raise TIMEOUT


async def draft(deliver=fill, tasks: int = 10, blueprints: Blueprints | None = None, **fields):
    drafter = Tasks(deliver)
    progress: list[tuple[str, int, int]] = []
    plan = SuitePlan(replace(BRIEF, **fields), tasks)
    drafted = await init_eval(
        plan, blueprints or Blueprints(), drafter, lambda *step: progress.append(step)
    )
    return drafted, drafter.orders, progress


def prompts(tasks: Sequence[Task]) -> list[str]:
    return [each.turns[0].prompt for each in tasks]


@pytest.mark.parametrize("wanted", [1, 2, 3, 5, 6, 15, 50, 120])
async def test_exactly_the_tasks_asked_for_in_the_order_of_their_slots(wanted: int) -> None:
    drafted, orders, _ = await draft(tasks=wanted)

    assert [prompt(number) for number in range(1, wanted + 1)] == prompts(drafted.tasks)
    assert drafted.shortfall is None
    assert RUBRIC == drafted.rubric
    assert -(-wanted // 5) == len(orders)
    assert all(len(order.slots) <= 5 for order in orders)


async def test_every_topic_of_the_sentence_is_there_though_the_model_forgot_it() -> None:
    drafted, _, _ = await draft(blueprints=Blueprints(("shipping", "out-of-scope requests")))

    topics = Counter(each.metadata["topic"] for each in drafted.tasks)
    assert {"refund handling", "troubleshooting", "shipping"} == set(topics)
    assert "out_of_scope" == drafted.tasks[1].category
    assert 5 == sum(each.category == "ordinary" for each in drafted.tasks)


@pytest.mark.parametrize(("topics", "found"), [(("invoices",), {"invoices"}), ((), {"support"})])
async def test_a_sentence_without_topics_takes_those_drafted(topics, found) -> None:
    drafted, _, _ = await draft(blueprints=Blueprints(topics), sentence="Helps people.")

    assert found == {each.metadata["topic"] for each in drafted.tasks}


async def test_progress_is_told_and_never_falls() -> None:
    _, _, progress = await draft(tasks=12)

    assert [("blueprint", 0, 1), ("blueprint", 1, 1), ("tasks", 0, 12)] == progress[:3]
    done = [step[1] for step in progress[2:]]
    assert sorted(done) == done
    assert ("tasks", 12, 12) == progress[-1]


async def test_the_outcome_does_not_depend_on_who_delivers_first() -> None:
    async def late(order: TaskOrder) -> TaskDelivery:
        # Who asked last is done first; all write the same few situations.
        for _ in range(100 - order.slots[0].number):
            await asyncio.sleep(0)
        return TaskDelivery(tuple(task(slot, slot.number % 17) for slot in order.slots))

    def at_once(order: TaskOrder, nth: int) -> TaskDelivery:
        return TaskDelivery(tuple(task(slot, slot.number % 17) for slot in order.slots))

    drafted, _, _ = await draft(lambda order, nth: late(order), tasks=30)

    assert drafted == (await draft(at_once, tasks=30))[0]


async def test_all_orders_of_a_round_run_at_the_same_time() -> None:
    all_started = asyncio.Barrier(4)

    async def together(order: TaskOrder) -> TaskDelivery:
        await all_started.wait()
        return fill(order)

    async with asyncio.timeout(2):
        drafted, _, _ = await draft(lambda order, nth: together(order), tasks=20)

    assert 20 == len(drafted.tasks)


async def test_golden_tasks_stay_and_only_the_rubric_is_drafted() -> None:
    golden = (make_task("mine"), make_task("mine too", ("hello",)))

    drafted, orders, progress = await draft(golden=golden)

    assert golden == drafted.tasks
    assert RUBRIC == drafted.rubric
    assert [] == orders
    assert {"blueprint"} == {step[0] for step in progress}


async def test_missing_slots_are_ordered_again_with_what_to_avoid() -> None:
    def half(order: TaskOrder, nth: int) -> TaskDelivery:
        return TaskDelivery(fill(order).tasks[:2] if nth <= 2 else fill(order).tasks, ("bad",))

    drafted, orders, _ = await draft(half)

    assert 10 == len(drafted.tasks)
    assert drafted.shortfall is None
    assert [5, 5, 3, 3] == [len(order.slots) for order in orders]
    assert [(), ()] == [order.avoid for order in orders[:2]]
    first_round = [slot for order in orders[:2] for slot in order.slots[:2]]
    for order in orders[2:]:
        topics = {slot.topic for slot in order.slots}
        kinds = {slot.kind for slot in order.slots}
        alike = [one for one in first_round if one.topic in topics or one.kind in kinds]
        assert alike
        assert {prompt(slot.number) for slot in alike} == set(order.avoid)


async def test_a_failed_order_is_ordered_again() -> None:
    drafted, orders, _ = await draft(lambda order, nth: (fail if nth == 1 else fill)(order))

    assert 10 == len(drafted.tasks)
    assert [5, 5, 3, 2] == [len(order.slots) for order in orders]


async def test_what_fails_for_good_is_told_with_what_there_is() -> None:
    drafted, orders, _ = await draft(lambda order, nth: (fill if nth == 1 else fail)(order))

    assert 5 == len(drafted.tasks)
    assert "5 of 10 tasks" in str(drafted.shortfall)
    assert TIMEOUT.message in str(drafted.shortfall)
    assert 4 == len(orders)


@pytest.mark.parametrize("tasks", [1, 10])
async def test_all_calls_failing_is_an_error(tasks: int) -> None:
    with pytest.raises(ModelError, match="no answer within 120 s"):
        await draft(fail, tasks=tasks)


@pytest.mark.parametrize("code", ["wrong_key", "no_credit", "not_found"])
async def test_a_fatal_error_ends_it_and_what_is_in_flight(code: str) -> None:
    cancelled = []

    async def wait() -> TaskDelivery:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return TaskDelivery(())

    def deliver(order: TaskOrder, nth: int):
        if nth == 1:
            raise ModelError("no", code=code)
        return wait()

    with pytest.raises(ModelError, match="no"):
        await draft(deliver, tasks=15)
    assert [True, True] == cancelled


async def test_a_failing_blueprint_costs_nothing_more() -> None:
    drafter = Tasks(fill)

    with pytest.raises(ModelError, match="no answer"):
        await init_eval(SuitePlan(BRIEF, 5), Blueprints(error=TIMEOUT), drafter, print)
    assert [] == drafter.orders


async def test_a_model_that_never_answers_usably_is_not_asked_for_everything_again() -> None:
    drafter = Tasks(empty)

    with pytest.raises(MeasurementError, match="the model answered 'I cannot'"):
        await init_eval(SuitePlan(BRIEF, 100), Blueprints(), drafter, lambda *step: None)
    assert [5] * 20 + [3, 2, 1] == [len(order.slots) for order in drafter.orders]


async def test_a_model_without_further_ideas_is_asked_in_vain_once() -> None:
    def three_ideas(order: TaskOrder, nth: int) -> TaskDelivery:
        return TaskDelivery(tuple(task(slot, slot.number % 3) for slot in order.slots))

    drafted, orders, _ = await draft(three_ideas, tasks=100)

    assert 3 == len(drafted.tasks)
    assert "3 of 100 tasks were drafted" in str(drafted.shortfall)
    assert "times)" in str(drafted.shortfall)
    assert 20 + 33 == len(orders)


@pytest.mark.parametrize(
    "twin",
    [
        lambda text, number: text,
        lambda text, number: text.upper(),
        lambda text, number: f"{text[:-1]} {number}!",
        lambda text, number: f'{text[:-1]}, Anna, "now"?',
    ],
)
async def test_twins_but_for_numbers_names_or_form_are_dropped(twin) -> None:
    def deliver(order: TaskOrder, nth: int) -> TaskDelivery:
        made = [task(slot, slot.number * nth if nth > 1 else 1) for slot in order.slots]
        return TaskDelivery(
            tuple(
                replace(
                    each,
                    name=f"{each.name}_{nth}_{place}",
                    turns=(replace(each.turns[0], prompt=twin(each.turns[0].prompt, place)),),
                )
                for place, each in enumerate(made)
            )
        )

    drafted, _, _ = await draft(deliver, tasks=5)

    assert 5 == len(drafted.tasks)
    assert 5 == len({each.turns[0].prompt for each in drafted.tasks})
    assert 1 == sum(each.name.startswith("task_1_1") for each in drafted.tasks)


async def test_a_name_twice_gets_a_number_where_the_prompts_differ() -> None:
    numbers = count()

    def same_name(order: TaskOrder, nth: int) -> TaskDelivery:
        return TaskDelivery(tuple(task(slot, next(numbers), "refund") for slot in order.slots))

    drafted, orders, _ = await draft(same_name, tasks=6)

    names = sorted(one.name for one in drafted.tasks)
    assert ["refund", *(f"refund_{n}" for n in range(2, 7))] == names
    assert 2 == len(orders)


async def test_more_than_was_ordered_is_not_more_than_was_wanted() -> None:
    def generous(order: TaskOrder, nth: int) -> TaskDelivery:
        slot = order.slots[0]
        extra = tuple(task(slot, 100 * nth + number) for number in range(20))
        return TaskDelivery((*fill(order).tasks, *extra))

    drafted, _, _ = await draft(generous)

    assert 10 == len(drafted.tasks)


def rows(*numbers: int, name: str | None = None) -> list[dict]:
    return [row(n, slot=None, **({"name": name} if name else {})) for n in numbers]


GOOD_3, GOOD_12 = rows(1, 2, 3), rows(*range(20, 32))


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([reply(*GOOD_3), reply(*GOOD_3), reply(*GOOD_12)], 10),
        ([reply(*GOOD_3), reply(*GOOD_3), reply(*GOOD_3, *GOOD_12)], 10),
        ([reply(*GOOD_12)], 10),
        ([reply(*GOOD_3)], 3),
        ([reply(*GOOD_3), "I am sorry, I cannot do that.", reply(*GOOD_12)], 10),
        ([reply(*GOOD_3), reply(*GOOD_12)[:-9], reply(*GOOD_12)], 10),
        ([reply(*GOOD_3, *rows(4, 5, 6, name="same")), reply(*GOOD_12)], 10),
        ([reply(*GOOD_3, "text", None, row(7, criteria=list(CRITERIA[:1]))), reply(*GOOD_12)], 10),
        ([reply(*GOOD_3, *(row(8, prompt=f"Order {n} is late?") for n in range(9)))], 4),
    ],
)
async def test_too_few_too_many_or_the_same_rows(answers: list[str], found: int) -> None:
    script: Iterator[str] = chain(answers, repeat(answers[-1]))
    model = ScriptedModel(lambda request: next(script))
    plan = SuitePlan(BRIEF, 10)

    drafted = await init_eval(
        plan, Blueprints(), ModelTaskDrafter(model, read_task_row), lambda *step: None
    )

    assert found == len(drafted.tasks) == len(set(prompts(drafted.tasks)))
    assert len(drafted.tasks) == len({each.name for each in drafted.tasks})
    assert (found < 10) == bool(drafted.shortfall)
    assert found == 10 or f"{found} of 10 tasks" in str(drafted.shortfall)
    assert len(model.history) <= 2 * (2 + 4 + 5 + 10)


async def test_a_model_drafts_the_whole_suite() -> None:
    numbers = count(1)

    def respond(request):
        if request.schema.name == "blueprint":
            dimensions = [
                {"id": f"d{n}", "description": f"Is {n}", "weight": n, "always_applicable": True}
                for n in range(1, 5)
            ]
            return json.dumps({"topics": ["repairs"], "dimensions": dimensions})
        *_, slots = json_values(request.messages[-1].text)
        return reply(*(row(next(numbers), slot=slot["slot"]) for slot in slots))

    model = ScriptedModel(respond)

    drafted = await init_eval(
        SuitePlan(BRIEF, 50),
        ModelBlueprintDrafter(model, read_rubric),
        ModelTaskDrafter(model, read_task_row),
        lambda *step: None,
    )

    assert 50 == len(drafted.tasks)
    assert 11 == len(model.history)
    assert {"refund handling", "troubleshooting", "repairs"} == {
        each.metadata["topic"] for each in drafted.tasks
    }


@pytest.mark.parametrize(
    ("agent", "slug"),
    [
        ("my-support-agent", "my-support-agent"),
        ("My Support Agent", "My-Support-Agent"),
        ("team/agent\\v2: new?", "team-agent-v2-new"),
        ("../../etc/passwd", "etc-passwd"),
        ("Città però", "Citta-pero"),
        ("v1.2.agent", "v1-2-agent"),
        ("con", "con-agent"),
        ("LPT1", "LPT1-agent"),
        ("a" * 300, "a" * 60),
        ("家電サポート", "agent-8a449d7e"),
        ("🙂", "agent-"),
        ("", "agent-"),
        ("builtin.task", "builtin-task"),
    ],
)
def test_assets_are_named_for_the_agent_safely(agent: str, slug: str) -> None:
    names = name_assets(agent, ())

    start = slug if slug.endswith("agent-") else f"{slug}-"
    assert names.dataset.startswith(start)
    assert names.dataset.endswith("-eval-seed")
    assert names.evaluator.endswith("-quality")
    assert 1 == names.version
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,80}", names.evaluator)


@pytest.mark.parametrize(
    ("existing", "version"),
    [
        ([], 1),
        (["bot-eval-seed.v1.jsonl"], 2),
        (["bot-quality.v3.yaml", "bot-eval-seed.v1.jsonl"], 4),
        (["bot-quality/v7"], 8),
        (["BOT-EVAL-SEED.V2.JSONL"], 3),
        (["bot-eval-seed.v10.jsonl", "bot-eval-seed.v9.jsonl"], 11),
        (["robot-eval-seed.v5.jsonl", "bot-eval-seed.vX.jsonl", "bot-quality.yaml"], 1),
        (["bot-eval-seed.v1.jsonl.bak.txt"], 1),
    ],
)
def test_the_next_free_version_is_taken(existing: list[str], version: int) -> None:
    assert version == name_assets("bot", existing).version


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        (
            BRIEF.sentence,
            "Customer support agent. You help with: refund handling, troubleshooting.",
        ),
        ("Coding assistant", "Coding assistant"),
        ("", "Help the user with what they ask."),
        ("Bot {{ agent }}. Test {{ about }}.", "Bot {{ agent }}. You help with: {{ about }}."),
    ],
)
def test_starting_instructions_say_what_the_user_said(sentence: str, said: str) -> None:
    text = draft_instructions("bot", sentence)

    assert f"You are bot.\n{said}\nReply in the language of the user.\n" == text
