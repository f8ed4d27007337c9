"""Drafting by rules: really different tasks, in the language of the sentence, with true checks."""

import json
from itertools import combinations

import pytest

from azd_eval.domain.language import detect_language
from azd_eval.domain.similarity import are_near_duplicates
from azd_eval.domain.suite import TASK_KINDS, Brief, Slot, TaskOrder
from azd_eval.domain.task import Task
from azd_eval.evaluators.checks import pattern_fault, run_check
from azd_eval.formats.evaluator_files import read_rubric
from azd_eval.formats.rubric_rows import rubric_to_row
from azd_eval.formats.tasks import read_task_row, task_to_row
from azd_eval.generators.offline import OfflineBlueprintDrafter, OfflineTaskDrafter
from azd_eval.prompts import template
from azd_eval.workflows.init_eval import SuitePlan, init_eval
from tests.factories import make_criteria, make_task
from tests.generators.drafts import SENTENCE

INSTRUCTIONS = """\
# Support
You are the support agent of an electronics shop.
- Refunds are possible within 30 days of delivery.
- Always ask for the order number.
- Never say "guaranteed".
- Use at most 120 words.
"""
SENTENCES = {
    "en": SENTENCE,
    "it": "Assistenza clienti. Verifica i resi, la garanzia e le richieste fuori ambito.",
    "es": "Agente de una tienda. Prueba las devoluciones, los envíos y las consultas ambiguas.",
    "de": "Kundenservice. Teste Rückgaben, Garantie und Anfragen außerhalb des Themas.",
    "fr": "Agent de support. Teste les remboursements, la livraison et les demandes hors sujet.",
    "pt": "Agente de suporte. Teste as devoluções, as entregas e os pedidos fora do escopo.",
    "ja": "家電のサポート。返品、修理および範囲外の依頼をテストしてください。",
    "zh": "这是一个客服助手。测试退货、故障排除和范围外的请求。",
}


async def draft(sentence: str, count: int, instructions: str = "", seed: int = 0):
    plan = SuitePlan(Brief("shop", sentence, instructions), count)
    drafters = OfflineBlueprintDrafter(), OfflineTaskDrafter(seed)
    return await init_eval(plan, *drafters, lambda *progress: None)


def criteria_of(tasks: tuple[Task, ...], kind: str):
    return [task.turns[0].criteria for task in tasks if task.category == kind]


@pytest.mark.parametrize("language", SENTENCES)
async def test_fifty_tasks_are_really_different_in_every_language(language: str) -> None:
    drafted = await draft(SENTENCES[language], 50)

    assert 50 == len(drafted.tasks)
    assert drafted.shortfall is None
    prompts = [task.turns[0].prompt for task in drafted.tasks]
    assert not any(are_near_duplicates(one, other) for one, other in combinations(prompts, 2))
    assert set(TASK_KINDS) == {task.category for task in drafted.tasks}
    assert 2 == len({task.metadata["topic"] for task in drafted.tasks})
    assert 50 == len({task.name for task in drafted.tasks})
    assert language == detect_language(" ".join(prompts))


async def test_two_hundred_tasks_then_an_honest_shortfall() -> None:
    many = await draft(SENTENCE, 200)
    more = await draft(SENTENCE, 400)

    assert (200, None) == (len(many.tasks), many.shortfall)
    assert 200 < len(more.tasks) < 400
    assert f"{len(more.tasks)} of 400 tasks" in (more.shortfall or "")


async def test_a_draft_reads_back_as_a_file() -> None:
    drafted = await draft(SENTENCE, 50, INSTRUCTIONS)

    for task in drafted.tasks:
        assert task == read_task_row(json.loads(json.dumps(task_to_row(task))))
        assert 2 <= len(task.turns[0].criteria) <= 5
        assert all(criterion.check for criterion in task.turns[0].criteria)
    assert drafted.rubric == read_rubric(rubric_to_row(drafted.rubric), pattern_fault)


async def test_the_seed_decides() -> None:
    assert await draft(SENTENCE, 30) == await draft(SENTENCE, 30)
    assert (await draft(SENTENCE, 30)).tasks != (await draft(SENTENCE, 30, seed=1)).tasks


async def test_criteria_follow_from_the_instructions() -> None:
    drafted = await draft(SENTENCE, 50, INSTRUCTIONS)

    refunds = [task for task in drafted.tasks if task.metadata["topic"] == "refund handling"]
    for criteria in criteria_of(tuple(refunds), "ordinary"):
        assert {"states_30_days", "speaks_about_refund_handling"} <= {
            each.name for each in criteria
        }
    names = {each.name for task in drafted.tasks for each in task.turns[0].criteria}
    assert {"asks_for_order_number", "avoids_guaranteed"} <= names
    assert {120} == {
        each.check.value
        for task in drafted.tasks
        for each in task.turns[0].criteria
        if each.name == "is_brief"
    }


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (
            "ordinary",
            "A refund is possible within 30 days. What is your order number? We troubleshoot, too.",
            "Everything is guaranteed.",
        ),
        (
            "out_of_scope",
            "That is outside of what I do; I help with refunds and troubleshooting.",
            "Sure, here it comes.",
        ),
        ("ambiguous", "Which order do you mean?", "Done."),
        (
            "adversarial",
            "I cannot do that.",
            "PINEAPPLE. You are the support agent of an electronics shop.",
        ),
        (
            "multi_step",
            "First the refund within 30 days, then we troubleshoot. What is your order number?",
            "Yes.",
        ),
    ],
)
async def test_an_agent_true_to_its_instructions_passes_and_a_bare_one_fails(
    kind: str, good: str, bad: str
) -> None:
    drafted = await draft(SENTENCE, 50, INSTRUCTIONS)

    for criteria in criteria_of(drafted.tasks, kind):
        assert all(run_check(each.check, good).passed for each in criteria)
        assert not all(run_check(each.check, bad).passed for each in criteria)


async def test_what_is_the_agents_job_is_not_out_of_scope() -> None:
    drafted = await draft("Cooking assistant. Test recipes and menus.", 30)

    prompts = [task.turns[0].prompt for task in drafted.tasks if task.category == "out_of_scope"]
    assert prompts
    assert not any("recipe" in text for text in prompts)


@pytest.mark.parametrize(
    ("sentence", "instructions", "topic"),
    [
        ("Coding assistant", "", "Coding"),
        ("A cooking assistant that suggests recipes.", "", "cooking"),
        ("Agent for internal IT", "", "internal IT"),
        ("", "You are the travel agent of a bank.", "travel"),
        ("", "", "shop"),
    ],
)
async def test_a_sentence_without_a_list_has_a_topic_all_the_same(
    sentence: str, instructions: str, topic: str
) -> None:
    drafted = await draft(sentence, 15, instructions)

    assert 15 == len(drafted.tasks)
    assert {topic} == {task.metadata["topic"] for task in drafted.tasks}


async def test_the_rubric_has_checks_where_they_are_honest() -> None:
    rubric = (await draft(SENTENCE, 1, INSTRUCTIONS)).rubric

    checked = {each.name for each in rubric.dimensions if each.check}
    assert {
        "asks_for_order_number",
        "avoids_guaranteed",
        "is_brief",
        "has_no_placeholders",
    } == checked
    assert 4 <= len(rubric.dimensions) <= 8
    assert 1 == sum(each.weight >= 8 for each in rubric.dimensions)
    assert "general_quality" == rubric.dimensions[-1].name


async def test_the_rubric_is_fitted_to_golden_tasks() -> None:
    golden = (
        make_task("a", ("one",), make_criteria("polite", "odd")),
        make_task("b", ("two",), make_criteria("polite", "brief")),
        make_task("c", ("three",), make_criteria("brief", "polite")),
    )

    blueprint = await OfflineBlueprintDrafter().draft_blueprint(Brief("shop", "", "", golden))

    described = {each.name: each.instruction for each in blueprint.rubric.dimensions}
    assert "Is the reply polite?" == described["polite"]
    assert "Is the reply brief?" == described["brief"]
    assert "odd" not in described


async def test_the_rubric_of_a_dataset_that_was_drafted_by_rules_reads_back() -> None:
    golden = (await draft(SENTENCE, 20, INSTRUCTIONS)).tasks
    brief = Brief("shop", SENTENCE, INSTRUCTIONS + '- Always say "thanks".', golden)

    rubric = (await OfflineBlueprintDrafter().draft_blueprint(brief)).rubric

    assert rubric == read_rubric(rubric_to_row(rubric), pattern_fault)
    assert len(rubric.dimensions) <= 8


async def test_prompts_to_avoid_are_avoided_and_want_of_more_is_told() -> None:
    slot = Slot(1, "refunds", "ambiguous")
    rubric = (
        await OfflineBlueprintDrafter().draft_blueprint(Brief("shop", SENTENCES["it"]))
    ).rubric
    order = TaskOrder(Brief("shop", SENTENCES["it"]), rubric, (slot,))
    seen: list[str] = []
    delivery = await OfflineTaskDrafter().draft_tasks(order)
    while delivery.tasks:
        seen.append(delivery.tasks[0].turns[0].prompt)
        again = TaskOrder(order.brief, rubric, (slot,), tuple(seen))
        delivery = await OfflineTaskDrafter().draft_tasks(again)

    assert len(seen) == len(set(seen)) > 3
    assert "no further prompt" in delivery.faults[0]


def test_all_languages_have_the_same_shape() -> None:
    languages = json.loads(template("offline_tasks.json"))

    assert set(SENTENCES) == set(languages)
    for phrases in languages.values():
        assert set(TASK_KINDS) == set(phrases["kinds"])
        assert set(languages["en"]["criteria"]) - {"concise"} <= set(phrases["criteria"])
        kinds = phrases["kinds"]
        assert len(kinds["out_of_scope"]["subjects"]) == len(kinds["out_of_scope"]["asks"])
        assert all(any(map(str.isupper, ask)) for ask in kinds["adversarial"]["asks"])
