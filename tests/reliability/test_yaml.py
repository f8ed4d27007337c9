"""Configs and rubrics as people write them, from whatever folder (cases 032 to 042)."""

import json

import pytest

from azd_eval.errors import FilesRefused, InputError
from tests.cli.shell import connect
from tests.reliability.projects import make_row, write_rows

NORWAY = "no yes on off y n true False 1.10 007 1:30 0x1F 1e3 2024-01-01 .5 +1".split()


@pytest.mark.parametrize("word", NORWAY)
def test_case_032_text_stays_text_on_its_way_to_the_models(project, word):
    project.write_suite(
        tasks=write_rows([make_row()]),
        agent=f"{{name: a, instructions: {word}, model: {word}}}",
        evaluators="[./quality.yaml]",
        options=f"{{eval_model: {word}}}",
    )
    project.write(
        "quality.yaml",
        f"type: rubric\nname: q\ndimensions: [{{id: d{word}, description: {word} it is}}]\n",
    )
    server = project.serve()

    project.evaluate()

    agent, judge = server.calls
    assert [word, word] == [agent.model, judge.model]
    assert word == agent.system
    assert f'"d{word}":\n{word} it is' in judge.user


@pytest.mark.parametrize("null", ["~", "null", "NULL", ""])
def test_a_key_without_a_value_is_as_a_key_that_is_not_there(project, null):
    project.write_suite(
        tasks=write_rows([make_row()]),
        agent=f"{{name: a, instructions: Help., model: {null}}}",
        evaluators="[builtin.task_adherence]",
        options=f"{{eval_model: {null}}}",
    )
    server = project.serve()

    project.evaluate()

    assert ["gpt-4.1-mini", "gpt-4.1-mini"] == [call.model for call in server.calls]
    project.write("eval.yaml", project.read("eval.yaml").replace("Help.", null))
    with pytest.raises(InputError):
        project.evaluate()


EVALUATORS = {
    "bare": "[builtin.task_adherence, ./rubrics/quality.yaml]",
    "local_uri": "[builtin.task_adherence, {name: quality, local_uri: rubrics/quality.yaml}]",
    "generated": "[builtin.task_adherence, quality]",
}
AGENTS = {
    "instructions_file": "instructions_file: prompts/agent.md",
    "config": "config: prompts/metadata.yaml",
    "baseline": "model: m",
    "callable": "callable: code/agent.py:respond",
}


@pytest.mark.parametrize("evaluators", EVALUATORS)
@pytest.mark.parametrize("agent", AGENTS)
def test_case_037_paths_in_a_file_are_relative_to_the_file(project, tmp_path, agent, evaluators):
    project.write_suite()
    rubric, instructions = project.read("quality.yaml"), "Follow the file.\n"
    (project.folder / "quality.yaml").unlink()
    project.write("evals/data/tasks.jsonl", project.read("tasks.jsonl"))
    project.write("evals/prompts/agent.md", instructions)
    project.write("evals/prompts/metadata.yaml", "model: m\ninstruction_file: agent.md\n")
    project.write("evals/.agent_configs/baseline/instructions.md", instructions)
    project.write("evals/rubrics/quality.yaml", rubric)
    project.write("evals/.azure/.foundry/evaluators/quality.v1.yaml", rubric)
    project.write("evals/code/words.py", "WORD = 'Follow the file.'\n")
    project.write(
        "evals/code/agent.py",
        "from words import WORD\n\ndef respond(prompt):\n    return WORD\n",
    )
    server = project.serve(
        lambda request: request.system if request.schema_name is None else {"score": 1}
    )
    project.monkeypatch.delenv("OPENAI_API_KEY")
    project.write("evals/.env", "OPENAI_API_KEY=sk-beside-the-config\n")
    project.write(
        "evals/eval.yaml",
        f"agent: {{name: a, {AGENTS[agent]}}}\ndataset_file: data/tasks.jsonl\n"
        f"evaluators: {EVALUATORS[evaluators]}\noptions: {{eval_model: m}}\n",
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    command = "eval run -c ../project/evals/eval.yaml --json"
    done = project(*command.split(), cwd=elsewhere, OPENAI_BASE_URL=server.base_url)

    assert 0 == done.code, done.output
    assert (3, 18) == (done.json["tasks"]["passed"], done.json["usage"]["calls_by_role"]["judge"])
    trials = (project.folder / "evals" / done.json["run_dir"] / "trials.jsonl").read_text("utf-8")
    assert 3 == trials.count("Follow the file.")
    assert {"Bearer sk-beside-the-config"} == {c.headers["authorization"] for c in server.calls}
    assert [] == list(elsewhere.iterdir())


def test_case_037_paths_on_the_command_line_are_relative_to_the_shell(project, tmp_path):
    project.write_suite()
    server = project.serve()
    shell_folder = tmp_path / "shell"
    for name, text in {
        "mine.jsonl": write_rows([make_row("mine")]),
        "mine.md": "Mine.",
        "mine.yaml": project.read("quality.yaml").replace("quality", "mine"),
    }.items():
        project.write(f"../shell/{name}", text)
    flags = "-d mine.jsonl --instructions-file mine.md --evaluator ./mine.yaml --run-dir out"
    command = f"eval run -c ../project/eval.yaml --json {flags}"

    done = project(*command.split(), cwd=shell_folder, **connect(server))

    assert 0 == done.code, done.output
    assert (1, ["mine"]) == (done.json["tasks"]["total"], done.json["evaluators"])
    assert "Mine." == next(call.system for call in server.calls if call.schema_name is None)
    assert [done.json["run_id"]] == [path.name for path in (shell_folder / "out").iterdir()]


MISSING = {
    "dataset": ("dataset_file: tasks.jsonl", "dataset_file: data/none.jsonl", "data/none.jsonl"),
    "instructions": ("instructions.md", "prompts/none.md", "prompts/none.md"),
    "rubric": ("[builtin.task_adherence]", "[./none.yaml]", "none.yaml"),
    "callable": ("instructions_file: instructions.md", "callable: none.py:f", "none.py"),
    "config": ("instructions_file: instructions.md", "config: none/", "none"),
}


@pytest.mark.parametrize(("old", "new", "tried"), MISSING.values(), ids=MISSING)
def test_case_037_a_missing_file_is_named_with_the_path_tried(project, tmp_path, old, new, tried):
    project.write_suite()
    config = project.read("eval.yaml").replace("./tasks", "tasks")
    assert old in config
    project.write("eval.yaml", config.replace(old, new))
    project.serve()
    project.monkeypatch.chdir(tmp_path)

    with pytest.raises(InputError) as refused:
        project.evaluate()

    assert str(project.folder / tried) in refused.value.message


CONFIG = """\
agent:
  name: my-agent
  model: {model}
  instructions: Be kind. ${{KEPT}} and ${{UNSET}} stay.
dataset_file: {dataset}
options:
  eval_model: judge
models:
  judge:
    base_url: {url}
    api_key_env: MOCK_KEY
"""


FAULTS = {
    "url": "environment variable `MY_UNSET` is not set",
    "model": "`${MY_UNSET}` is not replaced in this field",
    "dataset": "`${MY_UNSET}` is not replaced in this field",
}


@pytest.mark.parametrize(("field", "fault"), FAULTS.items())
@pytest.mark.parametrize("value", [None, "", "  "])
def test_case_039_a_variable_without_a_value_stops_everything(project, field, fault, value):
    project.write_suite()
    server = project.serve()
    texts = {"model": "m", "dataset": "tasks.jsonl", "url": server.base_url}
    project.write("eval.yaml", CONFIG.format(**texts | {field: "a-${MY_UNSET}/v1"}))
    project.monkeypatch.setenv("MOCK_KEY", "sk-mock")
    if value is not None:
        project.monkeypatch.setenv("MY_UNSET", value)

    with pytest.raises(FilesRefused) as refused:
        project.evaluate()

    (problem,) = refused.value.problems
    lines = project.read("eval.yaml").splitlines()
    assert (fault, "MY_UNSET") == (problem.message, lines[problem.line - 1].split("{")[1][:8])
    assert problem.path.endswith("eval.yaml")
    assert [] == server.calls


def test_case_039_a_url_takes_variables_and_is_stored_as_it_was_written(project):
    project.write_suite()
    server = project.serve()
    texts = {"model": "m", "dataset": "tasks.jsonl", "url": "${ROOT}/v1"}
    project.write("eval.yaml", CONFIG.format(**texts))
    project.write(".env", "MOCK_KEY=sk-mock-of-the-file\n")
    project.monkeypatch.setenv("ROOT", server.root_url)

    run = project.evaluate()

    agents = [call for call in server.calls if call.schema_name is None]
    judges = [call for call in server.calls if call.schema_name]
    assert {"Be kind. ${KEPT} and ${UNSET} stay."} == {call.system for call in agents}
    assert {"Bearer sk-mock-of-the-file"} == {call.headers["authorization"] for call in judges}
    assert 3 == run.tasks.passed
    stored = json.loads(project.read(f"{run.run_dir}/manifest.json"))
    assert "${ROOT}/v1" == stored["settings"]["models"]["judge"]["base_url"]


def test_case_039_a_key_that_is_not_set_is_named_before_any_call(project):
    project.write_suite()
    server = project.serve()
    texts = {"model": "m", "dataset": "tasks.jsonl", "url": server.base_url}
    project.write("eval.yaml", CONFIG.format(**texts))

    with pytest.raises(FilesRefused, match=r"eval\.yaml:11:.*`MOCK_KEY` is not set"):
        project.evaluate()

    assert [] == server.calls
