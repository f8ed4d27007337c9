"""Runs that go on: what is asked again, what is judged anew, and what is refused."""

from pathlib import Path

import pytest

from azd_eval.errors import InputError
from azd_eval.wiring.evaluation import find_run, resume_evaluation
from tests.cli.shell import count_roles
from tests.shop import MODEL, NAMES, NO_MODEL, PYTHON, REFUSED, run, write_tasks


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize(
    ("role", "fault", "calls"),
    [
        ("agent", REFUSED, {"agent": 6 + 2, "judge": 6}),
        # The replies are on disk: only the judge is asked again.
        ("judge", REFUSED, {"agent": 6, "judge": 6 + 2}),
        # Three in a row would end the run.
        ("agent", NO_MODEL, {"agent": 6 + 2, "judge": 6}),
        ("judge", NO_MODEL, {"agent": 6, "judge": 6 + 2}),
    ],
)
def test_only_what_is_missing_is_asked_in_any_order(shop, world, role, fault, calls, cache):
    world.role, world.fault, world.names = role, fault, ("task_2", "task_5")
    first = shop.start(cache=cache)
    world.names = ()
    shop.shell.write("tasks.jsonl", write_tasks(reversed(NAMES)))

    rest = shop.resume(cache=cache)

    assert first.errored_trials
    assert calls == count_roles(shop.server)
    assert (first.run_id, "completed") == (rest.run_id, rest.stop_reason)
    assert (6, 6, 6) == (rest.tasks.total, rest.tasks.passed, rest.trials)
    assert list(reversed(NAMES)) == [result.name for result in rest.results]
    assert dict.fromkeys(NAMES, ("passed", "Good day.")) == shop.replies(rest)
    with pytest.raises(InputError, match="no unfinished run"):
        shop.resume()


def test_what_fails_again_is_counted_once_and_reported_in_the_order_of_today(shop, world):
    world.role, world.names = "judge", ("task_0", "task_5")
    shop.start()
    world.names = ("task_5",)
    shop.shell.write("tasks.jsonl", write_tasks(reversed(NAMES)))

    rest = shop.resume()

    assert (6, 5, 1, 6) == (
        rest.tasks.total,
        rest.tasks.passed,
        rest.tasks.errored,
        rest.trials,
    )
    html = (Path(rest.run_dir) / "report.html").read_text(encoding="utf-8")
    assert 1 == html.count('<details class="task errored')
    assert 5 == html.count('<details class="task passed')
    assert html.index("task_5") < html.index("task_4") < html.index("task_0")


def test_fewer_tasks_or_repeats_may_be_wanted_than_before(shop, world):
    world.role, world.names = "judge", ("task_5",)
    shop.start(repeats=2)

    rest = shop.resume(limit=3)

    assert (3, 3, 3) == (rest.tasks.total, rest.tasks.passed, rest.trials)
    assert {"agent": 12, "judge": 12} == count_roles(shop.server)


@pytest.mark.parametrize(
    ("file", "before", "after", "named"),
    [
        ("eval.yaml", "name: my-agent", "name: other", "agent"),
        ("eval.yaml", "model: a", "model: b", "agent.model"),
        ("eval.yaml", "seed: 1", "seed: 2", "agent.model"),
        ("eval.yaml", "temperature: 1", "temperature: 0", "agent.parameters"),
        ("instructions.md", "kind", "brief", "instructions"),
        ("tasks.jsonl", "What of task_1?", "What about task_1?", "dataset"),
        ("tasks.jsonl", "task_1", "task_one", "dataset"),
        ("tasks.jsonl", write_tasks(NAMES[:1]), "", "dataset"),
        ("tasks.jsonl", write_tasks(NAMES[:1]), write_tasks(("new", *NAMES[:1])), "dataset"),
        ("eval.yaml", MODEL, PYTHON, "agent, agent.callable, agent.model, agent.parameters, inst"),
    ],
)
def test_what_would_mix_results_is_refused_by_name(shop, world, file, before, after, named):
    world.names = NAMES[-1:]
    shop.start()
    asked = len(shop.server.calls)
    shop.change(file, before, after)

    with pytest.raises(InputError, match=f"changed since it began: {named}") as refusal:
        shop.resume()

    assert refusal.value.hint
    assert asked == len(shop.server.calls)


def test_another_server_is_another_agent(shop, world, fake_openai, monkeypatch):
    world.names = NAMES[-1:]
    shop.start()
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai(world).base_url)

    with pytest.raises(InputError, match=r"changed since it began: agent\.model$"):
        shop.resume()


def test_other_code_is_another_agent(shop, world):
    shop.change("eval.yaml", MODEL, PYTHON)
    world.role, world.names = "judge", NAMES[-1:]
    shop.start()
    shop.change("agent.py", "30 days", "31 days")

    with pytest.raises(InputError, match=r"changed since it began: agent\.callable$"):
        shop.resume()


@pytest.mark.parametrize(
    ("file", "before", "after", "questions"),
    [
        ("eval.yaml", "eval_model: m", "eval_model: other", 1),
        ("eval.yaml", "eval_model: m", "eval_model: m, judge: batched", 1),
        ("eval.yaml", "[builtin.task_adherence]", "[builtin.task_adherence, ./quality.yaml]", 5),
        ("eval.yaml", "[builtin.task_adherence]", "[./quality.yaml]", 4),
        ("tasks.jsonl", "Is polite", "Is very polite", 1),
    ],
)
@pytest.mark.parametrize("agent", [MODEL, PYTHON])
def test_another_judge_asks_no_agent(shop, agent, file, before, after, questions):
    shop.change("eval.yaml", MODEL, agent)
    first = shop.start(cache=False)
    asked = count_roles(shop.server)
    replies = shop.replies(first)
    shop.change(file, before, after)

    setup = shop.set_up(cache=False)
    again = run(resume_evaluation(setup, find_run(setup, Path(first.run_id))))

    assert {**asked, "judge": 6 + 6 * questions} == count_roles(shop.server)
    assert agent == MODEL or 6 == shop.shell.read("asked.txt").count("\n")
    assert (6, 6) == (again.tasks.passed, again.trials)
    assert replies == shop.replies(again)


def test_what_changes_only_speed_limits_or_gate_changes_no_result(shop, world):
    world.role, world.names = "judge", NAMES[-1:]
    shop.start()
    world.names = ()

    rest = shop.resume(
        concurrency=2, max_calls=50, fail_under=0.1, max_errors="5%", name="nightly", cache=False
    )

    assert 6 == rest.tasks.passed
    assert {"agent": 6, "judge": 7} == count_roles(shop.server)


def test_the_category_of_today_counts(shop, world):
    world.role, world.names = "judge", NAMES[-1:]
    shop.start()
    shop.change("tasks.jsonl", '{"name"', '{"category": "late", "name"')

    rest = shop.resume()

    assert [("late", 6)] == [(each.name, each.tasks.total) for each in rest.categories]
