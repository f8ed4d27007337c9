"""The Python API: more than once in a process, inside a running loop, from any thread."""

import asyncio
import json
import threading
from pathlib import Path

import pytest

import azd_eval
from azd_eval.errors import FilesRefused, InputError
from tests.cli.shell import KEY, Shell, count_roles
from tests.fake_openai import FakeOpenAI
from tests.personas import RULE, support_world

RIGHT = {"name": "right", "instruction": "Is right"}
START = "Be kind. Call the user {name}.\n"


@pytest.fixture
def world(fake_openai, monkeypatch) -> FakeOpenAI:
    server = fake_openai(support_world())
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return server


@pytest.fixture
def shop(tmp_path: Path) -> Shell:
    shop = Shell(tmp_path / "shop")
    shop.write_suite()
    return shop


def test_it_may_be_called_again_and_again(shop, world):
    config = shop.folder / "eval.yaml"
    seen = []

    first = azd_eval.evaluate(config, on_trial=seen.append)
    second = azd_eval.evaluate(str(config), repeats=2, cache=False, limit=2, name="again")
    better = azd_eval.optimize(config, max_iterations=3, apply=True)
    third = azd_eval.evaluate(config)

    assert (0.0, 3, 3) == (first.score, first.tasks.total, len(seen))
    assert (2, 4, "again") == (second.tasks.total, second.trials, second.name)
    assert (0.0, 1.0, "candidate_1") == (
        better.baseline.score,
        better.best.score,
        better.best_id,
    )
    assert f"+{RULE}" in better.diff
    assert f"{START}\n{RULE}" == shop.read("instructions.md")
    assert (1.0, True) == (third.score, third.gate.passed)
    assert third.as_dict()["score"] == 1.0


def test_the_working_folder_is_the_default(shop, world, monkeypatch):
    monkeypatch.chdir(shop.folder)

    assert "my-agent" == azd_eval.evaluate().agent
    assert {"agent": 3, "judge": 6} == count_roles(world)


async def test_it_works_inside_a_running_loop(shop, world):
    config = shop.folder / "eval.yaml"

    waited = azd_eval.evaluate(config)
    both = await asyncio.gather(
        azd_eval.aevaluate(config, cache=False), azd_eval.aoptimize(config, cache=False)
    )

    assert [0.0, 0.0, 1.0] == [waited.score, both[0].score, both[1].best.score]


def test_it_works_in_several_threads_at_once(shop, world):
    config = shop.folder / "eval.yaml"
    scores = []

    def measure():
        scores.append(azd_eval.evaluate(config).score)

    threads = [threading.Thread(target=measure) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [0.0] * 3 == scores
    assert 3 == len(list((shop.folder / ".azure" / ".foundry" / "runs").iterdir()))


@pytest.mark.parametrize(
    ("file", "error", "words"),
    [
        ("gone.yaml", InputError, "config not found"),
        ("broken.yaml", FilesRefused, "agent"),
        ("unset.yaml", InputError, "UNSET_VARIABLE"),
    ],
)
async def test_errors_are_ours_and_tell_what_is_wrong(shop, world, file, error, words):
    shop.write("broken.yaml", "agnet: {name: x}\n")
    shop.write(
        "unset.yaml",
        "agent: {name: a, instructions: Be kind.}\ndataset_file: tasks.jsonl\n"
        "models: {m: {base_url: '${UNSET_VARIABLE}'}}\noptions: {eval_model: m}\n",
    )

    with pytest.raises(error, match=words):
        await azd_eval.aevaluate(shop.folder / file)
    with pytest.raises(error, match=words):
        azd_eval.evaluate(shop.folder / file)
    assert [] == world.calls


@pytest.mark.parametrize(
    "overrides",
    [
        {"repeats": 0},
        {"concurrency": "2"},
        {"limit": 0},
        {"fail_under": 70},
        {"max_errors": "many"},
        {"max_iterations": -1},
        {"eval_model": ""},
    ],
    ids=lambda overrides: next(iter(overrides)),
)
def test_keywords_are_held_to_the_same_bounds_as_eval_yaml(shop, world, overrides):
    with pytest.raises(InputError, match=next(iter(overrides))):
        azd_eval.evaluate(shop.folder / "eval.yaml", **overrides)

    assert [] == world.calls


@pytest.mark.parametrize("form", [lambda text: text, lambda text: [text], lambda text: (text,)])
def test_one_text_will_do_where_several_may_be_given(shop, world, form):
    shop.write(
        "tasks.jsonl",
        "".join(
            json.dumps({"name": name, "prompt": f"{name}?", "category": kind, "criteria": [RIGHT]})
            + "\n"
            for name, kind in [("one", "tone"), ("two", "tone"), ("three", "facts")]
        ),
    )

    summary = azd_eval.evaluate(
        shop.folder / "eval.yaml",
        evaluators=form(str(shop.folder / "quality.yaml")),
        task=form("t*"),
        category=form("tone"),
    )

    assert (("quality",), ["two"]) == (summary.evaluators, [task.name for task in summary.results])
    with pytest.raises(InputError, match="no task matches `--task four`"):
        azd_eval.evaluate(shop.folder / "eval.yaml", task=["one", "four"])
    with pytest.raises(InputError, match="'qualitee'"):
        azd_eval.evaluate(shop.folder / "eval.yaml", evaluators=form("qualitee"))


@pytest.mark.parametrize("keyword", ["evaluators", "task", "category"])
def test_what_is_no_text_is_a_type_error(shop, keyword):
    with pytest.raises(TypeError, match=f"`{keyword}`: expected a text or several, got 3"):
        azd_eval.evaluate(shop.folder / "eval.yaml", **{keyword: 3})


def test_an_unknown_keyword_is_a_type_error(shop):
    with pytest.raises(TypeError, match="max_iteration"):
        azd_eval.optimize(shop.folder / "eval.yaml", max_iteration=3)


def test_rules_serve_where_nothing_is_configured(shop):
    shop.write("eval.yaml", shop.read("eval.yaml").replace("{eval_model: m}", "{}"))

    summary = azd_eval.evaluate(shop.folder / "eval.yaml")

    assert ("rules, not a language model", None) == (summary.engine, summary.score)
    assert not summary.gate.passed


@pytest.mark.parametrize("form", [lambda row: row, lambda row: [row, "builtin.task_adherence"]])
def test_evaluators_may_be_maps_as_in_eval_yaml(shop, world, form):
    shop.write("checks.py", "def tone(response, options): return options['score']\n")
    options = {"threshold": 0.4, "options": {"score": 0.5}}
    row = {"name": "tone", "callable": "checks.py:tone", "initialization_parameters": options}

    summary = azd_eval.evaluate(shop.folder / "eval.yaml", evaluators=form(row))

    assert "tone" == summary.evaluators[0]
    assert [3] == [each.met for each in summary.criteria if each.evaluator == "tone"]
    with pytest.raises(InputError, match="unknown key"):
        azd_eval.evaluate(shop.folder / "eval.yaml", evaluators=form({**row, "callabel": 1}))
