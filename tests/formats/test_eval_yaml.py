import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.config import TASK_ADHERENCE, DatasetReference, EvalConfig
from azd_eval.errors import FilesRefused, InputError, Problem
from azd_eval.formats.eval_yaml import LoadedConfig, SuiteConfig, load_eval_yaml, write_eval_yaml
from azd_eval.formats.schema import fields_of, item_type, unwrap

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "eval.yaml.example"
AGENT = "agent:\n  name: my-agent\n"
SPECIFIED = """\
# eval.yaml
agent:
  name: my-agent

dataset_file: ./my_eval_dataset.jsonl

evaluators:
  - builtin.task_adherence

options:
  eval_model: gpt-4.1-mini
  optimization_model: gpt-5.1
  max_iterations: 10
"""


def load(text: str) -> LoadedConfig:
    path = Path("eval.yaml")
    path.write_text(text, encoding="utf-8")
    return load_eval_yaml(path)


def refusals(text: str) -> tuple[Problem, ...]:
    with pytest.raises(FilesRefused) as refused:
        load(text)
    return refused.value.problems


def refusal(text: str) -> Problem:
    (problem,) = refusals(text)
    return problem


def test_the_config_of_the_specification_is_good() -> None:
    loaded = load(SPECIFIED)

    config = loaded.config
    assert ("my-agent", "./my_eval_dataset.jsonl") == (config.agent.name, config.dataset_file)
    assert [TASK_ADHERENCE] == [reference.name for reference in config.evaluators]
    options = config.options
    assert ("gpt-4.1-mini", "gpt-5.1", 10) == (
        options.eval_model,
        options.optimization_model,
        options.max_iterations,
    )
    assert () == loaded.notes


def test_the_example_is_good() -> None:
    loaded = load_eval_yaml(EXAMPLE)

    assert () == loaded.notes
    assert 0.7 == loaded.config.options.fail_under


def test_the_example_shows_every_key() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")

    assert [] == [key for key in all_keys(EvalConfig) if f"{key}:" not in text]


def all_keys(kind: Any) -> Iterator[str]:
    for name, field in (fields_of(kind) or {}).items():
        yield name
        inner = unwrap(field)
        yield from all_keys(inner)
        yield from all_keys(unwrap(item_type(inner)))


@pytest.mark.parametrize("word", ["no", "on", "y", "1.10", "2026-01-01", "12:30", "true", "007"])
def test_text_stays_text(word: str) -> None:
    config = load(
        f"name: {word}\nagent:\n  name: {word}\n  version: {word}\n  model: {word}\n"
        f"evaluators: [{word}]\nmodels:\n  {word}: {{deployment: {word}}}\n"
    ).config

    assert [word] * 4 == [config.name, config.agent.name, config.agent.version, config.agent.model]
    assert word == config.evaluators[0].name
    assert word == config.models[word].deployment


def test_free_maps_have_the_types_of_yaml_1_2() -> None:
    parameters = "{temperature: 0.2, stop: [no, 1:30], logprobs: true, user: '5', seed: 7, x: ~}"
    config = load(f"agent:\n  name: a\n  parameters: {parameters}\n").config

    assert {
        "temperature": 0.2,
        "stop": ["no", "1:30"],
        "logprobs": True,
        "user": "5",
        "seed": 7,
        "x": None,
    } == config.agent.parameters


@pytest.mark.parametrize("text", ["", "# agent:\n#   name: x\n", "---\n", "- a\n", "text", "{}\n"])
def test_a_file_without_config_says_what_is_missing(text: str) -> None:
    problem = refusal(text)

    assert "agent" in problem.message
    assert "name: my-agent" in (problem.hint or "")


@pytest.mark.parametrize("text", ["agent:\n", "agent: {}\n", "agent:\n  name:\n", "name: x\n"])
def test_an_agent_without_a_name_says_what_is_missing(text: str) -> None:
    problem = refusal(text)

    assert problem.message in ("missing `name`", "missing `agent`")
    assert "name: my-agent" in (problem.hint or "")


@pytest.mark.parametrize("section", ["options", "models", "dataset_file", "dataset", "name"])
def test_a_section_left_empty_is_as_good_as_none(section: str) -> None:
    config = load(f"{AGENT}{section}:\n").config

    assert load(AGENT).config.model_dump(exclude={"dataset"}) == config.model_dump(
        exclude={"dataset"}
    )


@pytest.mark.parametrize("value", ["", " []", " ~"])
def test_evaluators_must_not_be_empty(value: str) -> None:
    problem = refusal(f"{AGENT}evaluators:{value}\n")

    assert ("evaluators", "must not be empty", 3) == (problem.field, problem.message, problem.line)


def test_all_problems_are_told_in_the_order_of_the_file() -> None:
    text = """\
agent:
  nme: x
  kind: modle
  model: [a]
options:
  max_iterations: ten
  concurency: 3
  fail_under: 70
  max_errors: 7.5
  repeats: 0
  judge: yes
  seed: 1.5
models:
  m: {base_url: x, api_key: sk-123, price: {input: -1}}
what: 1
"""

    found = [(each.line, each.column, each.field, each.message) for each in refusals(text)]

    assert [
        (2, 3, "agent.name", "missing `name`"),
        (2, 3, "agent.nme", 'unknown key "nme"'),
        (3, 9, "agent.kind", 'expected `model` or `python`, got "modle"'),
        (4, 10, "agent.model", "expected text, got list"),
        (6, 19, "options.max_iterations", 'expected a whole number, got "ten"'),
        (7, 3, "options.concurency", 'unknown key "concurency"'),
        (
            8,
            15,
            "options.fail_under",
            "a score limit is at most 1 (or 100%), got 70; did you mean 70%?",
        ),
        (
            9,
            15,
            "options.max_errors",
            "expected a whole number or a share such as 5%, got '7.5'",
        ),
        (10, 12, "options.repeats", "expected a number of at least 1, got 0"),
        (11, 10, "options.judge", 'expected `independent` or `batched`, got "yes"'),
        (12, 9, "options.seed", 'expected a whole number, got "1.5"'),
        (14, 20, "models.m.api_key", 'unknown key "api_key"'),
        (14, 52, "models.m.price.input", "expected a number of at least 0, got -1"),
        (14, 44, "models.m.price.output", "missing `output`"),
        (15, 1, "what", 'unknown key "what"'),
    ] == sorted(found, key=lambda each: (each[0], each[2]))


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("evaluator", "did you mean `evaluators`?"),
        ("dataset-file", "did you mean `dataset_file`?"),
        ("option", "did you mean `options`?"),
        ("Agent", "did you mean `agent`?"),
    ],
)
def test_an_unknown_key_is_an_error_with_a_suggestion(key: str, hint: str) -> None:
    assert hint == refusal(f"{AGENT}{key}: x\n").hint


@pytest.mark.parametrize(
    ("written", "value"),
    [("0.7", 0.7), ("70%", 0.7), ("1", 1.0), ("0", 0.0), ("'0.5'", 0.5), (".5", 0.5)],
)
def test_a_gate_is_a_share_or_a_percentage(written: str, value: float) -> None:
    config = load(f"{AGENT}options: {{fail_under: {written}}}\n").config

    assert value == config.options.fail_under


@pytest.mark.parametrize("written", ["70", "1.01", "101%", "-0.1", "high", "true", "[1]", "1/2"])
def test_another_gate_is_refused(written: str) -> None:
    assert "options.fail_under" == refusal(f"{AGENT}options: {{fail_under: {written}}}\n").field


@pytest.mark.parametrize("written", ["3", "5%", "0", "12.5%", "'4'"])
def test_errors_are_limited_by_number_or_share(written: str) -> None:
    config = load(f"{AGENT}options: {{max_errors: {written}}}\n").config

    assert written.strip("'") == str(config.options.max_errors)


@pytest.mark.parametrize("written", ["-1", "1.5", "101%", "some", "true"])
def test_another_limit_of_errors_is_refused(written: str) -> None:
    assert "options.max_errors" == refusal(f"{AGENT}options: {{max_errors: {written}}}\n").field


@pytest.mark.parametrize(
    ("written", "path", "value"),
    [
        ("options: {max_candidates: 3}", ("options", "max_iterations"), 3),
        ("options: {budget: 3}", ("options", "max_iterations"), 3),
        ("options: {reflection_model: m}", ("options", "optimization_model"), "m"),
        ("dataset_reference: {name: d}", ("dataset", "name"), "d"),
    ],
)
def test_older_spellings_are_read_with_a_note(
    written: str, path: tuple[str, str], value: object
) -> None:
    loaded = load(f"{AGENT}{written}\n")

    assert value == getattr(getattr(loaded.config, path[0]), path[1])
    (note,) = loaded.notes
    assert note.startswith("eval.yaml:3:")
    assert path[0] in note


def test_an_older_spelling_beside_ours_must_agree() -> None:
    same = "options: {max_iterations: 3, max_candidates: 3}\n"

    assert 3 == load(AGENT + same).config.options.max_iterations
    problem = refusal(AGENT + same.replace("candidates: 3", "candidates: 4"))
    assert "options.max_candidates" == problem.field
    assert "the same as `options.max_iterations`, and they differ" == problem.message


def test_faults_in_an_older_spelling_are_told_as_it_was_written() -> None:
    problem = refusal(f"{AGENT}dataset_reference:\n  local_uri: x\n  versoin: 1\n")

    assert (5, "dataset_reference.versoin") == (problem.line, problem.field)


def test_azds_dataset_map_names_a_file() -> None:
    loaded = load(f"{AGENT}dataset: {{name: d, version: 2.0, local_uri: ./d.jsonl}}\n")

    reference = loaded.config.dataset
    assert reference is not None
    assert ("d", "2.0", "./d.jsonl") == (reference.name, reference.version, reference.local_uri)
    assert "`dataset_file`, the preferred key" in loaded.notes[0]


@pytest.mark.parametrize(
    "written",
    ["dataset: ./d.jsonl", "dataset_file: a.jsonl\ndataset: {local_uri: b.jsonl}"],
)
def test_a_dataset_must_be_clear(written: str) -> None:
    assert "dataset_file" in str(refusal(f"{AGENT}{written}\n")) + str(
        refusal(f"{AGENT}{written}\n").hint
    )


def test_azds_evaluator_maps_are_read() -> None:
    loaded = load(
        f"{AGENT}evaluators:\n  - builtin.task_adherence\n  - name: quality\n    version: 2\n"
        "    local_uri: q.yaml\n    initialization_parameters: {use_ground_truth: true}\n"
    )

    _, reference = loaded.config.evaluators
    assert ("quality", "2", "q.yaml") == (reference.name, reference.version, reference.local_uri)
    assert {"use_ground_truth": True} == reference.initialization_parameters
    assert 1 == len(loaded.notes)


@pytest.mark.parametrize(
    ("written", "reference"),
    [
        ("validation_dataset: v.jsonl", DatasetReference(local_uri="v.jsonl")),
        ("validation_dataset: {local_uri: v.jsonl}", DatasetReference(local_uri="v.jsonl")),
        ("validation_reference: {name: v}", DatasetReference(name="v")),
    ],
)
def test_tasks_to_hold_out_may_be_named_in_several_ways(
    written: str, reference: DatasetReference
) -> None:
    assert reference == load(f"{AGENT}{written}\n").config.validation_dataset


@pytest.mark.parametrize("written", ["hold_out: 25%", "hold_out: 0.25"])
def test_the_share_to_hold_out_may_be_a_percentage(written: str) -> None:
    assert 0.25 == load(f"{AGENT}options: {{{written}}}\n").config.options.hold_out


@pytest.mark.parametrize(
    "written",
    [
        "max_samples: 15",
        "trace_days: 7",
        "generation_instruction: text",
        "options: {max_stalls: 5}",
        "options: {max_concurrent_agent_runs: 2}",
        "options: {evaluation_level: turn}",
        "options: {strategies: [instruction]}",
    ],
)
def test_what_azd_needs_and_we_do_not_is_passed_over_with_a_note(written: str) -> None:
    loaded = load(f"{AGENT}{written}\n")

    assert load(AGENT).config == loaded.config
    assert "not used" in loaded.notes[-1]


@pytest.mark.parametrize(
    "written",
    [
        "criteria: [{name: c, instruction: i}]",
        "options: {optimization_config: {model_search_space: [a]}}",
        "options: {target_config: {model: a}}",
        "options: {pass_threshold: 0.8}",
    ],
)
def test_what_would_change_the_result_is_refused_with_help(written: str) -> None:
    assert refusal(f"{AGENT}{written}\n").hint


def test_a_prompt_agent_is_a_model_agent() -> None:
    loaded = load("agent: {name: a, kind: prompt}\n")

    assert "model" == loaded.config.agent.kind
    assert "`prompt` is read as `model`" in loaded.notes[0]


def test_a_hosted_agent_is_refused_with_a_way_out() -> None:
    problem = refusal("agent: {name: a, kind: hosted}\n")

    assert "`kind: model`" in (problem.hint or "")


@pytest.mark.parametrize("key", ["sk-proj-abc", "sk abc", "$KEY", "${KEY}", "1KEY"])
def test_a_key_pasted_for_its_name_is_refused_and_not_shown(key: str) -> None:
    problem = refusal(f"{AGENT}models:\n  m: {{api_key_env: '{key}'}}\n")

    assert "expected the name of a variable" == problem.message
    assert key not in f"{problem} {problem.hint}"


def test_a_secret_is_not_shown() -> None:
    problem = refusal(f"{AGENT}models:\n  m: {{api_key: sk-123}}\n")

    assert "sk-123" not in f"{problem} {problem.hint}"


def test_a_missing_config_is_named_with_its_absolute_path() -> None:
    with pytest.raises(InputError, match=f"config not found: {Path.cwd() / 'eval.yaml'}"):
        load_eval_yaml(Path("eval.yaml"))


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(names, names, names, st.lists(names, min_size=1, max_size=3), st.none() | names)
def test_what_is_written_is_read_back(
    agent: str, model: str, dataset: str, evaluators: list[str], function: str | None
) -> None:
    suite = SuiteConfig(
        agent=agent,
        model=model,
        dataset_file=dataset,
        evaluators=tuple(evaluators),
        callable=function,
    )

    loaded = load(write_eval_yaml(suite))

    config = loaded.config
    assert () == loaded.notes
    assert (agent, function) == (config.agent.name, config.agent.callable)
    assert ("python" if function else "model") == config.agent.kind
    assert dataset == config.dataset_file
    assert evaluators == [reference.name for reference in config.evaluators]
    assert model == config.options.eval_model == config.options.optimization_model
    assert 10 == config.options.max_iterations


def test_a_new_config_has_the_keys_of_the_specification() -> None:
    written = write_eval_yaml(
        SuiteConfig(
            agent="my-agent",
            model="gpt-4.1-mini",
            dataset_file=".azure/.foundry/datasets/my-agent-eval-seed.v1.jsonl",
            evaluators=(TASK_ADHERENCE, "my-agent-quality"),
        )
    )

    assert (
        "agent:\n  name: my-agent\n  kind: model\n  model: gpt-4.1-mini\n"
        "dataset_file: .azure/.foundry/datasets/my-agent-eval-seed.v1.jsonl\n"
        "evaluators:\n  - builtin.task_adherence\n  - my-agent-quality\n"
        "options:\n  eval_model: gpt-4.1-mini\n  optimization_model: gpt-4.1-mini\n"
        "  max_iterations: 10\n"
    ) == "".join(
        line
        for line in written.splitlines(keepends=True)
        if line.strip() and not line.startswith("#")
    )


PARTS = "agent options models evaluators dataset name : \n - { } [ ] , 70% no sk ' ~ # 1".split(" ")


@given(st.lists(st.sampled_from([*PARTS, "\n  ", "\n    ", ": "]), max_size=30).map("".join))
def test_any_text_is_a_config_or_problems(text: str) -> None:
    with contextlib.suppress(FilesRefused):
        load(text)


@pytest.mark.parametrize(
    "line",
    [
        "agent: {name: a, model: '${M}'}",
        "agent: {name: a, parameters: {user: {id: ['x ${M}']}}}",
        "agent: {name: a, instructions_file: '${M}/a.md'}",
        "agent: {name: a}\ndataset_file: '${M}.jsonl'",
        "agent: {name: a}\nevaluators: [quality, '${M}']",
        "agent: {name: a}\nmodels: {m: {parameters: {user: '${M}'}}}",
    ],
)
@pytest.mark.parametrize("reference", ["${M}", "${M:-x}", "${ M }", "${env.M}", "${}", "${M"])
def test_a_variable_that_nobody_replaces_is_refused(line: str, reference: str) -> None:
    problem = refusal(line.replace("${M}", reference))

    assert problem.message.startswith(f"`{reference}")
    assert problem.message.endswith("` is not replaced in this field")
    assert "`base_url`" in (problem.hint or "")


def test_variables_stay_for_wiring_to_replace_and_prose_keeps_its_braces() -> None:
    loaded = load(
        "agent: {name: a, instructions: 'Say ${HOME}.'}\n"
        "models: {m: {base_url: '${U}/v1', deployment: '${D}', api_version: '${V}'}}"
    )

    assert "Say ${HOME}." == loaded.config.agent.instructions
    assert ("${U}/v1", "${D}") == (
        loaded.config.models["m"].base_url,
        loaded.config.models["m"].deployment,
    )


def test_a_problem_of_a_field_gets_its_place() -> None:
    loaded = load("agent: {name: a}\nmodels:\n  m:\n    base_url: ${U}\n")

    placed = loaded.place(Problem("variable `U` is not set", field="models.m.base_url"))

    assert "eval.yaml:4:15: models.m.base_url: variable `U` is not set" == str(placed)
