"""What the cache may answer: the same request to the same model, and nothing else."""

import json
from copy import deepcopy

import pytest

from tests.cli.shell import RUBRIC, count_roles
from tests.fake_openai import FakeReply
from tests.personas import support_world
from tests.reliability.projects import make_row, write_rows

ROW = make_row("t", "How?", "right", context="In a shop.", groundTruth="So.", category="c")
BASE = {
    "agent": {
        "name": "my-agent",
        "model": "a",
        "instructions": "Be kind.",
        "parameters": {"temperature": 0.2},
    },
    "dataset_file": "tasks.jsonl",
    "evaluators": ["builtin.task_adherence", {"name": "quality", "local_uri": "quality.yaml"}],
    "models": {"a": {}, "m": {}},
    "options": {"eval_model": "m", "seed": 1},
}


def write(project, config, row=ROW, rubric=RUBRIC):
    project.write("tasks.jsonl", write_rows([row]))
    project.write("quality.yaml", rubric)
    project.write("eval.yaml", json.dumps(config))


def change(path, value, before=BASE):
    """Give a config with one key changed; a path such as `agent.parameters.top_p`."""
    config = deepcopy(before)
    *parents, last = path.split(".")
    place = config
    for name in parents:
        place = place.setdefault(name, {})
    place[last] = value
    return config


def serve_echo(project):
    """Start a server whose agent answers with the request: other requests get other verdicts."""
    verdict = {"reason": "so", "score": 1}
    return project.serve(lambda r: verdict if r.schema_name else json.dumps(r.body))


def run_again(project, config, row=ROW, rubric=RUBRIC, **overrides):
    """Run as it is, then changed; give who was asked again."""
    server = serve_echo(project)
    write(project, BASE)
    project.evaluate()
    server.calls.clear()
    write(project, config, row, rubric)
    summary = project.evaluate(**overrides)
    assert 6 == summary.usage.calls + summary.usage.cached_calls
    return count_roles(server)


BOTH = {"agent": 1, "judge": 5}

PARAMETERS = {
    "temperature": 0.9,
    "top_p": 0.5,
    "top_k": 3,
    "max_tokens": 5,
    "max_completion_tokens": 5,
    "seed": 2,
    "n": 2,
    "stop": ["END"],
    "presence_penalty": 1,
    "frequency_penalty": 1,
    "logit_bias": {"50256": -100},
    "reasoning_effort": "low",
    "verbosity": "low",
    "tools": [{"type": "function", "function": {"name": "f"}}],
    "tool_choice": "none",
    "response_format": {"type": "json_object"},
    "user": "me",
    "service_tier": "flex",
    "metadata": {"a": "b"},
    "anything": {"deep": [1]},
}


@pytest.mark.parametrize("where", ["agent.parameters", "models.a.parameters"])
def test_case_088_every_parameter_of_the_agent_counts(project, where):
    server = serve_echo(project)
    write(project, change("agent.parameters", {}))
    project.evaluate()

    for name, value in PARAMETERS.items():
        server.calls.clear()
        config = change("agent.parameters", {})
        write(project, change(f"{where}.{name}", value, config))
        project.evaluate()
        assert BOTH == count_roles(server), name


CHANGES = {
    "instructions": ({"config": change("agent.instructions", "Be brief.")}, BOTH),
    "model": ({"config": change("agent.model", "b")}, BOTH),
    "deployment": ({"config": change("models.a.deployment", "d")}, BOTH),
    "parameter taken away": ({"config": change("agent.parameters", {})}, BOTH),
    "seed of all": ({"config": change("options.seed", 2)}, BOTH),
    "prompt": ({"row": {**ROW, "prompt": "Why?"}}, BOTH),
    "context": ({"row": {**ROW, "context": "At home."}}, BOTH),
    "judge": ({"config": change("options.eval_model", "n")}, {"judge": 5}),
    "judge's deployment": ({"config": change("models.m.deployment", "d")}, {"judge": 5}),
    "judge's temperature": (
        {"config": change("models.m.parameters.temperature", 1)},
        {"judge": 5},
    ),
    "judge's effort": (
        {"config": change("models.m.parameters.reasoning_effort", "high")},
        {"judge": 5},
    ),
    "criterion": (
        {"row": {**ROW, "criteria": [{"name": "right", "instruction": "Is wrong"}]}},
        {"judge": 1},
    ),
    "dimension": ({"rubric": RUBRIC.replace("is kind", "is cold")}, {"judge": 1}),
    "scale": ({"rubric": RUBRIC + "scoring: graded\n"}, {"judge": 4}),
    "name of the run": ({"name": "other"}, {}),
    "concurrency": ({"concurrency": 1}, {}),
    "gate": ({"fail_under": 0.1}, {}),
    "name of the task": ({"row": {**ROW, "name": "other"}}, {}),
    "category": ({"row": {**ROW, "category": "other"}}, {}),
    "weight": ({"rubric": RUBRIC.replace("weight: 9", "weight: 8")}, {}),
    "expected answer that nobody uses": ({"row": {**ROW, "groundTruth": "Not so."}}, {}),
    "price": ({"config": change("models.a.price", {"input": 1, "output": 1})}, {}),
    "pace": ({"config": change("models.a.max_rpm", 9999)}, {}),
    "nothing": ({}, {}),
}


@pytest.mark.parametrize(("changed", "asked"), CHANGES.values(), ids=CHANGES)
def test_case_088_what_can_change_the_answer_is_asked_again(project, changed, asked):
    assert asked == run_again(project, **{"config": BASE, **changed})


def test_case_088_another_server_is_another_model(project):
    write(project, BASE)
    first = project.serve(support_world())
    project.evaluate()
    second = project.serve(support_world())

    summary = project.evaluate()

    assert BOTH == count_roles(first) == count_roles(second)
    assert 0 == summary.usage.cached_calls


def test_case_088_another_key_is_the_same_model(project):
    write(project, BASE)
    server = project.serve(support_world())
    project.evaluate()
    project.monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key-0123456789")

    summary = project.evaluate()

    assert (BOTH, 6, 0) == (count_roles(server), summary.usage.cached_calls, summary.usage.calls)


def test_case_088_what_was_said_before_counts(project):
    criteria = ROW["criteria"]
    turns = [{"prompt": "Hello", "criteria": criteria}, {"prompt": "How?", "criteria": criteria}]
    server = project.serve(support_world())
    write(project, BASE, {"name": "t", "turns": turns})
    project.evaluate()
    server.calls.clear()

    write(project, BASE, {"name": "t", "turns": [{**turns[0], "prompt": "Hi"}, turns[1]]})
    project.evaluate()

    assert {"agent": 2, "judge": 10} == count_roles(server)


def test_case_088_each_repeat_is_an_answer_of_its_own(project):
    write(project, BASE)
    server = project.serve(support_world())

    once = project.evaluate()
    thrice = project.evaluate(repeats=3)

    assert {"agent": 3, "judge": 15} == count_roles(server)
    assert (0, 6) == (once.usage.cached_calls, thrice.usage.cached_calls)


CODE = """\
def respond(prompt):
    with open("asked.txt", "a") as file:
        file.write("x")
    return {reply!r}
"""


def test_case_088_a_python_agent_is_never_answered_for(project):
    write(project, change("agent", {"name": "p", "kind": "python", "callable": "agent.py:respond"}))
    server = project.serve(support_world())

    for reply in ("one", "one", "two"):
        project.write("agent.py", CODE.format(reply=reply))
        project.evaluate()

    assert "xxx" == project.read("asked.txt")
    assert {"judge": 10} == count_roles(server)


@pytest.mark.parametrize(
    "reply",
    [FakeReply("half", finish_reason="length"), FakeReply(""), FakeReply("  \n")],
    ids=["cut off", "empty", "blank"],
)
def test_case_088_only_whole_answers_are_kept(project, reply):
    write(project, BASE)
    server = project.serve(lambda r: {"reason": "", "score": 1} if r.schema_name else reply)

    project.evaluate()
    project.evaluate()

    assert 2 == count_roles(server)["agent"]


@pytest.mark.parametrize("command", ["eval run", "optimize --max-iterations 1"])
def test_case_088_it_is_said_how_many_answers_came_from_the_cache(project, call, capfd, command):
    project.write_suite()
    server = project.serve(support_world())

    project.evaluate() if command == "eval run" else project.optimize(max_iterations=1)
    asked = len(server.calls)
    call(*command.split())

    assert asked == len(server.calls)
    assert f"0 calls, {asked} from the cache" in capfd.readouterr().out
