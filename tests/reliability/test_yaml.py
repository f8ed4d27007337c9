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


SUITE = """\
agent: {name: a, instructions: Help.}
dataset_file: tasks.jsonl
evaluators: [./quality.yaml]
options: {eval_model: m}
"""
TABS = {
    "as reported": ("eval.yaml", "agent:\n\ttype: openai\n", 2),
    "after spaces": ("eval.yaml", f"{SUITE}models:\n  m:\n  \tmax_rpm: 3\n", 7),
    "in a list": ("eval.yaml", "agent: {name: a}\nevaluators:\n\t- ./quality.yaml\n", 3),
    "in a rubric": ("quality.yaml", "type: rubric\nname: q\ndimensions:\n\t- {id: d}\n", 4),
    "in metadata": ("metadata.yaml", "model: m\nmodel_parameters:\n\ttemperature: 1\n", 3),
}


@pytest.mark.parametrize(("name", "text", "line"), TABS.values(), ids=TABS)
def test_case_034_a_tab_is_named_in_one_sentence(project, name, text, line):
    project.write_suite()
    config = SUITE.replace("instructions: Help.", "config: metadata.yaml")
    project.write("eval.yaml", config if name == "metadata.yaml" else SUITE)
    project.write("metadata.yaml", "model: m\ninstruction_file: instructions.md\n")
    project.write(name, text)
    server = project.serve()

    done = project.run(server, "eval", "run")

    assert (2, "", []) == (done.code, done.stdout, server.calls), done.output
    (said,) = [one for one in done.stderr.splitlines() if one.startswith("error: ")]
    assert f"{name}:{line}:" in said
    assert said.endswith("invalid YAML: tab used for indentation, use spaces")


TWICE = {
    "a section": ("eval.yaml", f"{SUITE}options: {{eval_model: n}}\n", "options", (4, 5)),
    "a field": ("eval.yaml", "agent:\n  name: a\n  name: b\n", "name", (2, 3)),
    "far below": ("eval.yaml", f"{SUITE}{'# x' * 9}\n\nagent: {{name: b}}\n", "agent", (1, 7)),
    "in quotes": ("eval.yaml", f"{SUITE}'evaluators': [q]\n", "evaluators", (3, 5)),
    "a model": ("eval.yaml", f"{SUITE}models:\n  m: {{}}\n  m: {{}}\n", "m", (6, 7)),
    "a parameter": (
        "eval.yaml",
        f"{SUITE}models:\n  m:\n    parameters:\n      top_p: 1\n      top_p: 0\n",
        "top_p",
        (8, 9),
    ),
    "of a dimension": (
        "quality.yaml",
        "type: rubric\nname: q\ndimensions:\n- id: d\n  description: x\n  id: e\n",
        "id",
        (4, 6),
    ),
}


@pytest.mark.parametrize(("name", "text", "key", "lines"), TWICE.values(), ids=TWICE)
def test_case_036_a_key_that_stands_twice_is_named_with_both_lines(project, name, text, key, lines):
    project.write_suite()
    project.write("eval.yaml", SUITE)
    project.write(name, text)
    server = project.serve()

    with pytest.raises(FilesRefused) as refused:
        project.evaluate()

    first, second = lines
    (problem,) = refused.value.problems
    assert f'key "{key}" stands on line {first} and on line {second}' == problem.message
    assert (second, True) == (problem.line, problem.path.endswith(name))
    assert [] == server.calls


@pytest.mark.parametrize(
    "row",
    [
        '{"name": "t", "prompt": "p", "criteria": [], "criteria": []}',
        '{"name": "t", "prompt": "p", "criteria": [{"name": "a", "instruction": "", "name": ""}]}',
        '{"name": "t", "prompt": "p", "prompt": "p", "criteria": []}',
        '{"name": "t", "prompt": "p", "criteria": [], "metadata": {"a": {"k": 1, "k": 1}}}',
    ],
)
def test_case_036_a_key_twice_in_a_row_is_named_with_its_line(project, row):
    project.write_suite(tasks=write_rows([make_row("good"), "", row]))
    server = project.serve()

    with pytest.raises(FilesRefused, match=r"tasks\.jsonl:3:\d+: .*twice"):
        project.evaluate()

    assert [] == server.calls


NOTHING = {
    "no bytes": "",
    "a comment": "# agent: {name: a}\n",
    "spaces": " \n\n  ",
    "a mark": "\ufeff",
    "a null": "~\n",
    "a beginning": "---\n",
    "an agent without anything": "agent:\ndataset_file: tasks.jsonl\n",
    "an agent without a name": "agent: {name: }\n",
    "no agent": "dataset_file: tasks.jsonl\n",
    "a list": "- agent\n",
    "a word": "agent\n",
    "a number": "3\n",
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
@pytest.mark.parametrize("command", ["eval run", "optimize"])
def test_case_042_a_config_that_says_nothing_is_answered_with_the_smallest_one(
    project, text, command
):
    project.write_suite()
    project.write("eval.yaml", text)
    server = project.serve()

    done = project.run(server, *command.split())

    assert (2, "", []) == (done.code, done.stdout, server.calls), done.output
    assert f"{project.folder / 'eval.yaml'}:" in done.stderr
    smallest = [line.removeprefix("hint: ") for line in done.stderr.splitlines()[3:]]
    project.write("smallest.yaml", "\n".join(smallest))
    project.write("my_eval_dataset.jsonl", project.read("tasks.jsonl"))
    project.write(".agent_configs/baseline/instructions.md", "Help.")
    assert 0 == project.run(server, *"eval run -c smallest.yaml --dry-run".split()).code


@pytest.mark.parametrize("text", ["", "# nothing\n", "- id: d\n", "type: rubric\nname: q\n", "q"])
def test_case_042_a_rubric_that_says_nothing_is_refused_with_what_is_missing(project, text):
    project.write_suite()
    project.write("eval.yaml", SUITE)
    project.write("quality.yaml", text)
    server = project.serve()

    with pytest.raises(FilesRefused, match=r"quality\.yaml:\d+:.*(dimensions|expected)"):
        project.evaluate()

    assert [] == server.calls


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


FIELDS = {
    "agent.name": "agent: {name: '%', instructions: x}\n",
    "agent.model": "agent: {name: a, instructions: x, model: '%'}\n",
    "agent.parameters.user": "agent: {name: a, instructions: x, parameters: {user: '%'}}\n",
    "agent.instructions_file": "agent: {name: a, instructions_file: '%'}\n",
    "agent.callable": "agent: {name: a, callable: '%:f'}\n",
    "name": "name: '%'\nagent: {name: a, instructions: x}\n",
    "dataset_file": "dataset_file: '%'\nagent: {name: a, instructions: x}\n",
    "evaluators[0].name": "evaluators: ['%']\nagent: {name: a, instructions: x}\n",
    "options.eval_model": "options: {eval_model: '%'}\nagent: {name: a, instructions: x}\n",
    "models.m.parameters.user": (
        "models: {m: {parameters: {user: '%'}}}\nagent: {name: a, instructions: x}\n"
    ),
}


@pytest.mark.parametrize("form", ["${SET}", "x-${SET}-y", "${UNSET}", "${SET:-x}", "${ SET }"])
@pytest.mark.parametrize(("field", "text"), FIELDS.items(), ids=FIELDS)
def test_case_039_where_no_variable_is_replaced_none_is_sent(project, field, text, form):
    project.write_suite()
    server = project.serve()
    project.monkeypatch.setenv("SET", "a-private-value")
    config = text.replace("%", form)
    for line in ("dataset_file: tasks.jsonl", "options: {eval_model: m}"):
        if line.partition(":")[0] not in [one.partition(":")[0] for one in config.splitlines()]:
            config = f"{line}\n{config}"
    project.write("eval.yaml", config)

    with pytest.raises(FilesRefused) as refused:
        project.evaluate()

    (problem,) = refused.value.problems
    place = next(n for n, line in enumerate(config.splitlines(), start=1) if "${" in line)
    assert (field, place) == (problem.field, problem.line)
    assert "is not replaced in this field" in problem.message
    assert "a-private-value" not in str(problem)
    assert [] == server.calls


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
