"""From the names in `evaluators:` to evaluators: what is found, and what is said when it is not."""

import pytest

from azd_eval.config import TASK_ADHERENCE, EvaluatorReference
from azd_eval.errors import FilesRefused
from azd_eval.evaluator_options import OPTIONS
from azd_eval.evaluators.undecided import UndecidedJudge
from azd_eval.wiring.evaluators import resolve_evaluators
from azd_eval.wiring.fingerprint import digest
from azd_eval.wiring.layout import Layout
from azd_eval.wiring.own_evaluators import Calling
from tests.cli.shell import RUBRIC
from tests.factories import make_item

CHECKS = "def tone(response, options):\n    return 'kind' in response\n"


@pytest.fixture
def layout(tmp_path):
    (tmp_path / "quality.yaml").write_text(RUBRIC, encoding="utf-8")
    (tmp_path / "checks.py").write_text(CHECKS, encoding="utf-8")
    (tmp_path / "voice.md").write_text("Is it our voice?\n", encoding="utf-8")
    (tmp_path / "empty.md").write_text("\n", encoding="utf-8")
    return Layout(tmp_path)


def resolve(layout, *rows):
    tree = [{"name": row} if isinstance(row, str) else row for row in rows]
    return resolve_evaluators([EvaluatorReference(**row) for row in tree], layout)


def refuse(layout, *rows):
    with pytest.raises(FilesRefused) as caught:
        resolve(layout, *rows)
    return caught.value.problems


def test_every_kind_is_found_and_keeps_its_options(layout):
    found = resolve(
        layout,
        "Relevance",
        TASK_ADHERENCE,
        {"name": "builtin.ExactMatch", "initialization_parameters": {"mode": "equals"}},
        "quality.yaml",
        {"name": "tone", "callable": "checks.py:tone"},
        {"name": "voice", "prompt_file": "voice.md"},
    )

    names = ("Relevance", TASK_ADHERENCE, "ExactMatch", "quality", "tone", "voice")
    assert names == found.names
    assert {"mode": "equals"} == found.of_run["ExactMatch"]
    built = found.build(UndecidedJudge(), Calling(timeout_s=5, redact=str))
    assert {*names, *OPTIONS} == {evaluator.name for evaluator in built}


@pytest.mark.parametrize("name", ["task_adherence", TASK_ADHERENCE])
def test_task_adherence_has_its_prefix_or_not(layout, name):
    assert (TASK_ADHERENCE,) == resolve(layout, name).names


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("relevance", "did you mean `Relevance`?"),
        ("builtin.relevance", "did you mean `Relevance`?"),
        ("exact_match", "did you mean `ExactMatch`?"),
        ("builtin.task-adherence", f"did you mean `{TASK_ADHERENCE}`?"),
        ("Groundednes", "did you mean `Groundedness`?"),
        ("builtin.sentiment", f"there are `{TASK_ADHERENCE}`, `Relevance`, `Coherence`"),
        ("sentiment", "`azd-eval eval init` makes one"),
    ],
)
def test_an_unknown_name_is_refused_with_the_one_that_was_meant(layout, name, hint):
    (problem,) = refuse(layout, name)

    assert repr(name) in problem.message
    assert str(problem.hint).startswith(hint)


@pytest.mark.parametrize(
    ("rows", "messages"),
    [
        (["Relevance", "builtin.Relevance"], ["evaluator 'Relevance' is listed twice"]),
        (["quality.yaml", {"name": "quality", "callable": "checks.py:tone"}], ["'quality'"]),
        (
            [
                {"name": "tone", "callable": "checks.py:tine"},
                {"name": "a", "callable": "no.py:a"},
                {"name": "b", "prompt_file": "no.md"},
                {"name": "c", "prompt_file": "empty.md"},
            ],
            ["'tine'", "no.py", "prompt_file not found", "prompt_file is empty"],
        ),
    ],
)
def test_all_problems_are_said_at_once(layout, rows, messages):
    problems = refuse(layout, *rows)

    assert len(messages) == len(problems)
    assert all(text in each.message for text, each in zip(messages, problems, strict=True))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Is {{Response}} kind?", "did you mean `{{response}}`?"),
        ("Is it {{ expected_respose }}?", "did you mean `{{expected_response}}`?"),
    ],
)
def test_a_misspelt_field_of_a_prompt_file_is_told(layout, text, hint):
    (layout.project / "kind.md").write_text(text, "utf-8")

    with pytest.raises(FilesRefused) as refused:
        resolve(layout, {"name": "kind", "prompt_file": "kind.md"})

    assert hint == refused.value.hint


def test_other_words_in_braces_are_left_in_a_prompt_file(layout):
    text = "Is no {{customer}} left in {{response}}?"
    (layout.project / "kind.md").write_text(text, "utf-8")

    (own,) = resolve(layout, {"name": "kind", "prompt_file": "kind.md"}).own

    assert text == own.prompt


async def test_functions_are_called_and_what_they_raise_is_blotted(layout):
    (layout.project / "checks.py").write_text(
        "def tone(response): raise KeyError(response)", "utf-8"
    )
    found = resolve(layout, {"name": "tone", "callable": "checks.py:tone"})
    calling = Calling(timeout_s=5, redact=lambda text: text.replace("secret", "***"))
    *_, tone = found.build(UndecidedJudge(), calling)

    score = await tone.score(make_item("a secret"))

    (verdict,) = score.verdicts
    assert ("unusable", "evaluator_error") == (verdict.outcome, verdict.error_code)
    assert "`checks.py:tone` raised KeyError: 'a ***' (checks.py:1 in tone)" == verdict.reason


@pytest.mark.parametrize("result", ["{'score': 1, 'reason': response}", "{'error': response}"])
async def test_what_a_function_says_is_blotted(layout, result):
    source = f"def tone(response): return {result}"
    (layout.project / "checks.py").write_text(source, "utf-8")
    found = resolve(layout, {"name": "tone", "callable": "checks.py:tone"})
    calling = Calling(timeout_s=5, redact=lambda text: text.replace("secret", "***"))
    *_, tone = found.build(UndecidedJudge(), calling)

    score = await tone.score(make_item("a secret"))

    assert ["a ***"] == [verdict.reason for verdict in score.verdicts]


def test_the_fingerprint_knows_the_code_and_nothing_of_this_process(layout):
    row = {"name": "tone", "callable": "checks.py:tone"}
    before, again = digest(resolve(layout, row)), digest(resolve(layout, row))
    (layout.project / "checks.py").write_text(CHECKS + "# changed\n", encoding="utf-8")

    assert before == again
    assert before != digest(resolve(layout, row))
