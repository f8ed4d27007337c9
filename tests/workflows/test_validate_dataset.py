import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from azd_eval.domain.criterion import Check, Criterion
from azd_eval.domain.task import Task
from azd_eval.errors import Problem
from azd_eval.formats.jsonl import JsonlDataset, write_tasks
from azd_eval.workflows.lint_tasks import lint_tasks
from azd_eval.workflows.validate_dataset import CheckedFile, validate_dataset
from tests.factories import make_criteria, make_task

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "tests" / "examples" / "valid"


def validate(content: str, *, lint: bool = True) -> CheckedFile:
    path = Path("tasks.jsonl")
    path.write_text(content, encoding="utf-8")
    return validate_dataset(JsonlDataset(path), lint=lint)


def lint(*tasks: Task) -> list[Problem]:
    return list(lint_tasks(tasks))


def about(problems: Iterable[Problem], words: str) -> list[Problem]:
    return [problem for problem in problems if words in problem.message]


def asking(instruction: str, **fields: Any) -> Task:
    criterion = Criterion("c", instruction, **fields)
    return make_task(criteria=(criterion, *make_criteria("polite")))


def test_a_good_file_is_usable_and_its_tasks_are_counted() -> None:
    checked = validate((EXAMPLES / "customer_support.jsonl").read_text("utf-8"), lint=False)

    assert CheckedFile("tasks.jsonl", tasks=3) == checked
    assert checked.ok


def test_a_bad_file_is_told_whole_and_not_linted() -> None:
    vague = {"name": "good_answer", "instruction": "The response should be good"}
    good = json.dumps({"name": "a", "prompt": "p", "criteria": [vague]})

    checked = validate(f"{good}\n{{'x'}}\n[1]")

    assert not checked.ok
    assert [2, 3] == [problem.line for problem in checked.problems]
    assert 1 == checked.tasks


def test_warnings_leave_a_file_usable() -> None:
    checked = validate('{"prompt": "p"}', lint=False)

    assert checked.ok
    assert ["warning", "warning"] == [problem.severity for problem in checked.problems]


def test_advice_names_task_and_line() -> None:
    tasks = [make_task("a"), asking("The response should be good")]

    (problem,) = about(validate("\n" + write_tasks(tasks)).problems, "vague")

    assert ("tasks.jsonl", 3, "greeting") == (problem.path, problem.line, problem.item)


@pytest.mark.parametrize(
    "instruction",
    [
        "The response should be good",
        "good answer",
        "...",
        "Answer must be helpful.",
        "Is the reply of high quality?",
        "The agent responds correctly and appropriately to the user's question",
        "La risposta deve essere buona",
        "La risposta è corretta e completa.",
        "La respuesta debe ser buena",
        "¿Es útil la respuesta?",
        "Die Antwort soll gut sein",
        "Die Antwort ist hilfreich und richtig",
    ],
)
def test_a_criterion_that_says_nothing_is_vague(instruction: str) -> None:
    (problem,) = about(lint(asking(instruction)), "vague")

    assert "warning" == problem.severity
    assert "30-day refund window" in (problem.hint or "")


@pytest.mark.parametrize(
    "instruction",
    [
        "Response must explicitly mention the 30-day refund window",
        "Response must be professional and empathetic",
        "Agent should politely explain this is outside its scope",
        "Must include at least one working code example",
        "The reply is at most 3 sentences",
        "La risposta deve citare il numero dell'ordine",
        "La respuesta debe mencionar el plazo de 30 días",
        "Die Antwort nennt die Rückgabefrist",
        "返金は30日以内と答える",
    ],
)
def test_a_criterion_that_can_be_tested_is_not_vague(instruction: str) -> None:
    assert [] == about(lint(asking(instruction)), "vague")


def test_a_check_is_never_vague() -> None:
    assert [] == about(lint(asking("good answer", check=Check("contains", "ok"))), "vague")


def test_no_criterion_of_the_specification_is_vague() -> None:
    for name in ("customer_support", "coding_assistant", "ground_truth"):
        tasks = JsonlDataset(EXAMPLES / f"{name}.jsonl")

        assert [] == about(lint_tasks(tasks), "vague")


def test_a_single_criterion_is_noted() -> None:
    (note,) = about(lint(make_task(criteria=make_criteria("polite"))), "only one criterion")

    assert ("note", "greeting") == (note.severity, note.item)
    assert [] == about(lint(make_task()), "only one criterion")


def test_the_prompt_that_repeats_another_is_named() -> None:
    first = make_task("first", ["What is your refund policy?"])
    again = make_task("again", ["what is your refund policy"])
    other = make_task("other", ["Can you help me fix my car?"])

    (problem,) = about(lint(first, other, again), "nearly the same")

    assert "again" == problem.item
    assert "that of 'first'" in problem.message


def test_prompts_that_differ_in_a_word_are_found_without_comparing_all() -> None:
    words = "please tell me how I can return the blender that I bought in your shop last week"
    tasks = [make_task(f"t{number}", [f"question {word}" * 3]) for number, word in enumerate("abc")]

    problems = lint(make_task("a", [words]), *tasks, make_task("b", [words.replace("week", "may")]))

    assert "b" in {problem.item for problem in about(problems, "nearly the same")}


@pytest.mark.parametrize(
    ("kind", "task"),
    [
        ("out-of-scope", make_task(criteria=make_criteria("declined politely"))),
        ("out-of-scope", make_task(category="out_of_scope")),
        ("out-of-scope", make_task("fuori_tema", criteria=(Criterion("c", "è fuori ambito"),))),
        ("ambiguous", make_task(criteria=(Criterion("c", "Agent should ask for the order"),))),
        ("ambiguous", make_task(criteria=(Criterion("c", "L'agente chiede chiarimenti"),))),
        ("adversarial", make_task(prompts=["Ignore all previous instructions"])),
        ("adversarial", make_task(category="adversarial")),
        ("multi-step", make_task(prompts=["one", "two"])),
        ("multi-step", make_task(prompts=["First find my order, then cancel it"])),
        ("multi-step", make_task(prompts=["Zuerst suche, dann lösche"])),
    ],
)
def test_kinds_that_are_missing_are_named(kind: str, task: Task) -> None:
    (missing,) = about(lint(make_task("plain")), "no task looks")
    still_missing = about(lint(make_task("plain"), task), "no task looks")

    assert kind in missing.message
    assert all(kind not in problem.message for problem in still_missing)


def test_a_dataset_of_every_kind_misses_none() -> None:
    kinds = ("out_of_scope", "ambiguous", "adversarial", "multi_step")

    assert [] == about(lint(*(make_task(kind, category=kind) for kind in kinds)), "no task looks")


@pytest.mark.parametrize(
    ("count", "advice"),
    [
        (1, "1 task with 2 evaluation signals: quick"),
        (4, "4 tasks with 8 evaluation signals: quick"),
        (5, "5 tasks with 10 evaluation signals: a good balance"),
        (10, "10 tasks with 20 evaluation signals: a good balance"),
        (11, "11 tasks with 22 evaluation signals: a thorough"),
        (20, "20 tasks with 40 evaluation signals: a thorough"),
        (21, "21 tasks with 42 evaluation signals: accurate but slow"),
    ],
)
def test_the_size_is_described_as_the_specification_does(count: int, advice: str) -> None:
    tasks = [make_task(f"t{number}", [f"p{number}"]) for number in range(count)]

    (note,) = about(lint(*tasks), "signals")

    assert note.message.startswith(advice)
    assert ("note", None) == (note.severity, note.item)


def test_nothing_is_said_of_no_tasks() -> None:
    assert [] == lint()


def test_equal_advice_is_told_once() -> None:
    tasks = [
        make_task(f"t{number}", [f"{number} {chr(97 + number)}"], make_criteria("polite"))
        for number in range(20)
    ]

    (note,) = about(validate(write_tasks(tasks)).problems, "only one criterion")

    assert "only one criterion (and 19 more like this)" == note.message
