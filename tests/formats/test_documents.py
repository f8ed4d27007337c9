"""Evaluation documents as tasks: what is read, what is kept, what is said."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.criterion import Check, Criterion
from azd_eval.domain.task import Reply, Task, Turn
from azd_eval.errors import FilesRefused, Problem
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.formats.document_schema import find_schema_faults
from azd_eval.formats.documents import (
    DocumentDataset,
    make_header,
    read_document,
    write_document,
)
from azd_eval.formats.task_rules import TaskRules
from tests.formats.strategies import datasets, evidence, metadata, options, texts
from tests.formats.test_document_schema import SAMPLES, needs_samples, read_list

RULES = TaskRules(find_pattern_fault=pattern_fault)
RESULTS = ("scores", "status", "error", "summary")


def write(tree: object, name: str = "evals.json") -> Path:
    path = Path(name)
    path.write_text(json.dumps(tree, indent=2), encoding="utf-8")
    return path


def document(*items: Any, version: str = "1.11.0", **root: Any) -> dict[str, Any]:
    return {"schemaVersion": version, **root, "items": list(items)}


def tasks_of(*items: Any, **root: Any) -> tuple[Task, ...]:
    return read_document(write(document(*items, **root))).tasks


def problems_of(tree: object, rules: TaskRules = RULES) -> tuple[Problem, ...]:
    return DocumentDataset(write(tree), rules).inspect().problems


def only_problem(*items: Any, **root: Any) -> Problem:
    rules = root.pop("rules", RULES)
    (problem,) = (
        each
        for each in problems_of(document(*items, **root), rules)
        if "no evaluator needs it" not in each.message
    )
    return problem


def rewrite(tree: object, *, official: bool = False) -> Any:
    read = read_document(write(tree))
    return json.loads(write_document(read.header, read.tasks, official=official))


def without_results(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: without_results(tree[key]) for key in tree if key not in RESULTS}
    return [without_results(each) for each in tree] if isinstance(tree, list) else tree


any_text = st.just("") | texts
own = st.dictionaries(st.sampled_from(["x-own", "zzz"]), st.none() | texts, max_size=2)
choice = {
    "evaluators": st.fixed_dictionaries({}, optional=options),
    "evaluators_mode": st.sampled_from(["extend", "replace"]),
}
turn_fields = {
    "expected_response": any_text,
    "context": any_text,
    "response": any_text,
    "tags": st.lists(texts, max_size=2),
    "allowed_tools": st.lists(texts, max_size=2),
    "extensions": metadata,
    "scores": st.just({"relevance": 1}),
    **choice,
}


@st.composite
def turn_rows(draw: st.DrawFn) -> dict[str, Any]:
    fields = draw(st.fixed_dictionaries({"prompt": texts}, optional=turn_fields))
    return {**draw(own), **draw(evidence), **fields}


@st.composite
def item_rows(draw: st.DrawFn) -> dict[str, Any]:
    optional = dict.fromkeys(("name", "description", "testId", "category", "notes"), any_text)
    fields = draw(st.fixed_dictionaries({}, optional=optional))
    extended = draw(st.dictionaries(st.sampled_from(["testId", "category"]), any_text, max_size=2))
    if draw(st.booleans()):
        fields |= draw(turn_rows())
    else:
        fields["turns"] = draw(st.lists(turn_rows(), min_size=1, max_size=3))
        fields |= draw(st.fixed_dictionaries({}, optional=choice)) | draw(own)
    return fields | ({"extensions": extended} if extended else {})


roots = st.fixed_dictionaries(
    {},
    optional={
        "default_evaluators": st.fixed_dictionaries({}, optional=options),
        "metadata": st.fixed_dictionaries({}, optional={"name": texts, "own": texts}),
        "description": texts,
        "default_allowed_tools": st.lists(texts, max_size=2),
        "$schema": texts,
        "zzz": st.none() | texts,
    },
)


@given(roots, st.lists(item_rows(), min_size=1, max_size=3))
def test_a_document_becomes_tasks_and_is_the_same_again(root: Any, items: list[Any]) -> None:
    tree = document(*items, **root)

    assert without_results(tree) == rewrite(tree)


@given(roots, st.lists(item_rows(), min_size=1, max_size=3))
def test_what_the_official_schema_lacks_survives_in_extensions(root: Any, items: list[Any]) -> None:
    read = read_document(write(document(*items, **root)))
    official = write_document(read.header, read.tasks, official=True)
    again = read_document(write(json.loads(official)))

    assert [] == find_schema_faults(json.loads(official))
    assert [described(task) for task in read.tasks] == [described(task) for task in again.tasks]
    assert official == write_document(again.header, again.tasks, official=True)


def described(task: Task) -> object:
    turns = [
        (turn.prompt, turn.criteria, turn.expected, turn.grounding, turn.evaluators, turn.recorded)
        for turn in task.turns
    ]
    return task.name, task.test_id, task.category, task.context, task.metadata, turns


@given(datasets)
def test_tasks_of_jsonl_are_the_same_again_after_a_document(tasks: list[Task]) -> None:
    path = Path("evals.json")
    path.write_text(write_document(make_header(tasks), tasks), encoding="utf-8")

    assert tasks == list(DocumentDataset(path))


@given(datasets)
def test_tasks_of_jsonl_fit_the_official_schema(tasks: list[Task]) -> None:
    path = Path("evals.json")
    text = write_document(make_header(tasks), tasks, official=True)
    path.write_text(text, encoding="utf-8")

    assert [] == find_schema_faults(json.loads(text))
    assert [described(task) for task in tasks] == list(map(described, DocumentDataset(path)))


@needs_samples
@pytest.mark.parametrize("verdict", read_list("verdicts.json"), ids=lambda each: each["file"])
def test_the_vendors_documents_are_read_as_documented(verdict: Any) -> None:
    path = SAMPLES / verdict["file"]
    tree = json.loads(path.read_text(encoding="utf-8"))
    inspection = DocumentDataset(path, RULES).inspect()
    errors = [problem for problem in inspection.problems if problem.severity == "error"]

    is_document = isinstance(tree, list) or "items" in tree or "prompts" in tree
    # Those of earlier are passed over, so their faults are none of ours.
    is_about_results = "error" in path.stem or path.stem == "missing-schema-version"
    documented = ("docs/create-tests", "docs/reference", "repo/samples")
    expected = is_document and (
        verdict["1.11r"] == "ok" or is_about_results or verdict["file"].startswith(documented)
    )
    assert expected == (not errors), errors
    if expected and "schemaVersion" in tree:
        assert without_results(tree) == rewrite(tree)
        assert [] == find_schema_faults(rewrite(tree, official=True))


def test_an_item_fills_the_fields_of_a_task() -> None:
    (task,) = tasks_of(
        {
            "prompt": "p",
            "expected_response": "e",
            "context": "g",
            "response": "r",
            "citations": [{"index": 1}],
            "testId": "T-1",
            "category": "k",
            "notes": "n",
            "evaluators": {"Citations": {"threshold": 2}},
            "evaluators_mode": "replace",
            "scores": {},
        }
    )

    turn = Turn(
        "p",
        expected="e",
        grounding="g",
        evaluators={"Citations": {"threshold": 2}},
        evaluators_mode="replace",
        recorded=Reply("r", evidence={"citations": [{"index": 1}]}),
    )
    assert task == Task("T-1", (turn,), category="k", test_id="T-1", carried={"notes": "n"})


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ({"name": "n", "testId": "T"}, "n"),
        ({"testId": "T"}, "T"),
        ({"name": " "}, "what_is_teams"),
        ({}, "what_is_teams"),
    ],
)
def test_a_task_is_called_by_name_else_test_id_else_its_words(item: Any, name: str) -> None:
    first, second = tasks_of(*[{"prompt": "What is Teams?", **item}] * 2)

    assert first.name.startswith(name)
    assert f"{first.name}_2" == second.name


def test_names_and_categories_are_found_in_extensions_too() -> None:
    extensions = {"testId": "T-1", "category": "k"}

    (task,) = tasks_of({"prompt": "p", "extensions": extensions})

    assert ("T-1", "k") == (task.test_id, task.category)


@pytest.mark.parametrize(
    ("item", "turn", "expected"),
    [
        ({"Coherence": {}}, {}, (["Coherence"], None)),
        (
            {"Coherence": {"threshold": 2}},
            {"evaluators": {"Coherence": {}, "Citations": {}}},
            (["Coherence", "Citations"], None),
        ),
        (
            {"Coherence": {}},
            {"evaluators": {"Citations": {}}, "evaluators_mode": "replace"},
            (["Citations"], "replace"),
        ),
    ],
)
def test_a_thread_gives_its_evaluators_to_its_turns(item: Any, turn: Any, expected: Any) -> None:
    (task,) = tasks_of({"evaluators": item, "turns": [{"prompt": "p", **turn}]})

    (read,) = task.turns
    assert expected == (list(read.evaluators), read.evaluators_mode)


def test_defaults_score_every_turn_that_does_not_replace_them() -> None:
    turns = [
        {"prompt": "a"},
        {"prompt": "b", "evaluators": {"Relevance": {"threshold": 5}, "Citations": {}}},
        {"prompt": "c", "evaluators": {"Citations": {}}, "evaluators_mode": "replace"},
        {"prompt": "d", "evaluators_mode": "replace"},
    ]
    path = write(document({"turns": turns}, default_evaluators={"Relevance": {"threshold": 2}}))

    (task,) = DocumentDataset(path)

    assert [
        {"Relevance": {"threshold": 2}},
        {"Relevance": {"threshold": 5}, "Citations": {}},
        {"Citations": {}},
        {},
    ] == [turn.evaluators for turn in task.turns]


@pytest.mark.parametrize(
    ("root", "expected"),
    [({}, ["Relevance", "Coherence"]), ({"default_evaluators": {}}, [])],
)
def test_without_defaults_those_of_the_system_apply(root: Any, expected: list[str]) -> None:
    read = read_document(write(document({"prompt": "p"}, **root)))

    assert expected == list(read.header.evaluators)


@pytest.mark.parametrize(
    "tree",
    [
        [{"prompt": "p", "expected_response": "e"}],
        {"items": [{"prompt": "p", "expected_response": "e"}]},
        {"prompts": ["p"], "expected_responses": ["e"]},
    ],
    ids=["array", "object without version", "parallel lists"],
)
def test_every_legacy_shape_is_read_with_a_note(tree: Any) -> None:
    (note,) = problems_of(tree)

    assert "note" == note.severity
    assert "--upgrade" in str(note.hint)
    assert document({"prompt": "p", "expected_response": "e"}, version="1.0.0") == rewrite(tree)


@pytest.mark.parametrize(
    ("tree", "message", "field"),
    [
        ({"prompt": "p"}, "this is a single item, not a document", None),
        ({}, "missing `items`", "items"),
        (1, "expected an evaluation document, got number", None),
        ({"prompts": "p"}, "expected a list, got text", "prompts"),
        ({"prompts": ["p", 1]}, "expected text, got number", "prompts[1]"),
        (
            {"prompts": ["p"], "expected_responses": []},
            "0 expected responses for 1 prompts",
            "expected_responses",
        ),
    ],
)
def test_what_is_no_document_is_told(tree: Any, message: str, field: str | None) -> None:
    (problem,) = problems_of(tree)

    assert (message, field) == (problem.message, problem.field)
    assert "error" == problem.severity


@pytest.mark.parametrize(
    ("version", "severity", "word"),
    [
        ("2.0.0", "error", "2.0.0"),
        ("0.9.0", "error", "0.9.0"),
        ("1.0", "error", "such as 1.6.0"),
        ("1.0.0-beta", "error", "such as 1.6.0"),
        (1, "error", "such as 1.6.0"),
        (f"1.{'9' * 5000}.0", "error", "such as 1.6.0"),
        ("1.99.0", "note", "newer than"),
    ],
)
def test_other_majors_are_refused_and_newer_minors_noted(
    version: Any, severity: str, word: str
) -> None:
    problem = only_problem({"prompt": "p"}, version=version)

    assert (severity, "schemaVersion") == (problem.severity, problem.field)
    assert word in problem.message


@pytest.mark.parametrize(
    ("item", "root", "minor"),
    [
        ({"evaluators": {"Relevance": {}}}, {}, 2),
        ({}, {"default_evaluators": {}}, 2),
        ({"evaluators": {"Similarity": {}}, "expected_response": "e"}, {}, 3),
        ({"evaluators": {"Citations": {"citation_format": "markdown"}}}, {}, 8),
        ({"diagnostics": {}}, {}, 6),
        ({"tags": []}, {}, 9),
        ({"allowed_tools": []}, {}, 11),
    ],
)
def test_what_is_newer_than_the_stated_version_is_used_with_a_note(
    item: Any, root: Any, minor: int
) -> None:
    stated = f"1.{minor - 1}.0"

    problem = only_problem({"prompt": "p", **item}, version=stated, **root)

    assert "note" == problem.severity
    assert f"came with schema version 1.{minor}.0; this is {stated}" in problem.message


def test_an_evaluator_of_ones_own_is_newer_than_the_first_ones() -> None:
    item = {"prompt": "p", "evaluators": {"tone": {}}}
    rules = TaskRules(custom_evaluators=frozenset({"tone"}))

    assert (
        "came with schema version 1.6.0" in only_problem(item, version="1.5.0", rules=rules).message
    )


@pytest.mark.parametrize("name", ["Similarity", "ExactMatch", "PartialMatch"])
@pytest.mark.parametrize("place", ["root", "item", "turn"])
def test_an_evaluator_that_compares_needs_an_expected_response(name: str, place: str) -> None:
    turn: dict[str, Any] = {"prompt": "p"}
    item: dict[str, Any] = {"turns": [turn]}
    tree = document(item)
    {"root": tree, "item": item, "turn": turn}[place][
        "default_evaluators" if place == "root" else "evaluators"
    ] = {name: {}}

    (problem,) = problems_of(tree)

    assert "error" == problem.severity
    assert f"{name} needs `expected_response`" == problem.message
    assert "items[0].turns[0].expected_response" == problem.field


def test_a_missing_expected_response_that_nothing_needs_is_noted_once() -> None:
    replaced = {"evaluators": {"Citations": {}}, "evaluators_mode": "replace"}
    items = [{"prompt": "a"}, {"prompt": "b", "expected_response": ""}, {"prompt": "c"} | replaced]

    needed = problems_of(document(*items, default_evaluators={"ExactMatch": {}}))

    assert ["error", "error", "note"] == [problem.severity for problem in needed]
    (note,) = problems_of(document(*items))
    assert ("note", True) == (note.severity, "2 more like this" in note.message)


@pytest.mark.parametrize(
    ("evaluators", "hint"),
    [
        ({"relevance": {}}, "did you mean `Relevance`?"),
        ({"ExactMach": {}}, "did you mean `ExactMatch`?"),
        ({"Politness": {}}, "did you mean `politeness`?"),
        ({"mine": {}}, "the evaluators are `Relevance`, `Coherence`,"),
    ],
)
def test_an_unknown_evaluator_is_an_error_when_the_document_is_run(
    evaluators: Any, hint: str
) -> None:
    rules = TaskRules(custom_evaluators=frozenset({"politeness"}))

    problem = only_problem({"prompt": "p", "evaluators": evaluators}, rules=rules)

    assert "error" == problem.severity
    assert str(problem.hint).startswith(hint)


def test_an_evaluator_of_the_users_own_is_known_or_warned_of() -> None:
    item = {"prompt": "p", "evaluators": {"politeness": {"threshold": -2, "options": {"a": 1}}}}
    known = TaskRules(custom_evaluators=frozenset({"politeness"}))

    assert [] == [p for p in problems_of(document(item), known) if p.severity != "note"]
    assert "warning" == only_problem(item).severity


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"Relevance": {"threshold": 6}}, "Relevance.threshold"),
        ({"PartialMatch": {"threshold": 1.5}}, "PartialMatch.threshold"),
        ({"Citations": {"threshold": 0}}, "Citations.threshold"),
        ({"Citations": {"citation_format": "numbered"}}, "Citations.citation_format"),
        ({"RetrievalResult": {"capability": "c"}}, "RetrievalResult"),
        ({"Coherence": {"treshold": 2}}, "Coherence.treshold"),
        ({"Coherence": None}, "Coherence"),
    ],
)
def test_options_out_of_range_are_found_before_anything_runs(options: Any, field: str) -> None:
    item = {"prompt": "p", "expected_response": "e", "evaluators": options}

    problems = problems_of(document(item))

    assert f"items[0].evaluators.{field}" in {problem.field for problem in problems}
    assert {"error"} == {problem.severity for problem in problems}


def test_inline_citations_are_mixed_with_a_note() -> None:
    problem = only_problem(
        {"prompt": "p", "evaluators": {"Citations": {"citation_format": "inline"}}}
    )

    assert ("note", "`citation_format: inline` is taken as `mixed`") == (
        problem.severity,
        problem.message,
    )


@pytest.mark.parametrize(
    ("item", "field", "hint"),
    [
        ({"prompt": "p", "expeceted_response": "e"}, "expeceted_response", "expected_response"),
        ({"prompt": "p", "testid": "e"}, "testid", "testId"),
        ({"question": "p"}, "question", "rename it to `prompt`"),
        ({"prompt": "p", "expected": "e"}, "expected", "rename it to `expected_response`"),
        ({"turns": [{"prompt": "p"}], "expected_response": "e"}, "expected_response", "its turn"),
        ({"turns": [{"prompt": "p"}], "prompt": "p"}, "prompt", "the first turn"),
    ],
)
def test_a_misplaced_or_misspelt_field_is_an_error_with_its_cure(
    item: Any, field: str, hint: str
) -> None:
    problems = problems_of(document(item))

    (problem,) = (each for each in problems if each.field == f"items[0].{field}")
    assert "error" == problem.severity
    assert hint in str(problem.hint)


@pytest.mark.parametrize("key", ["prompts", "expected_responses"])
def test_a_list_beside_the_items_is_not_passed_over(key: str) -> None:
    problems = problems_of(document({"prompt": "p", "expected_response": "e"}, **{key: ["x"]}))

    assert [("error", key)] == [(each.severity, each.field) for each in problems]


def test_every_problem_has_its_place_and_its_item() -> None:
    path = Path("evals.json")
    path.write_text(
        '{"schemaVersion": "1.0.0",\n'
        ' "items": [\n'
        '  {"prompt": "", "testId": "T-1", "expected_response": "e"},\n'
        '  {"name": "flow", "turns": [{"prompt": "p", "expected_response": 1}, 2]}\n'
        " ]\n}\n",
        encoding="utf-8",
    )

    problems = DocumentDataset(path).inspect().problems

    assert [
        (3, 14, "T-1", "items[0].prompt"),
        (4, 29, "flow", "items[1].turns"),
        (4, 67, "flow", "items[1].turns[0].expected_response"),
        (4, 71, "flow", "items[1].turns[1]"),
    ] == [(each.line, each.column, each.item, each.field) for each in problems]
    assert str(problems[3]).startswith("evals.json:4:71: items[1].turns[1] (flow): ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"items": [}', "invalid JSON"),
        (b'{"items": ["\xff"]}', "not UTF-8"),
        ("", "invalid JSON"),
        ('{"items": [], "items": []}', "stands twice"),
    ],
)
def test_a_broken_file_is_told(content: str | bytes, message: str) -> None:
    path = Path("evals.json")
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(FilesRefused, match=message):
        read_document(path)


def test_a_missing_file_is_told_with_its_path() -> None:
    (problem,) = DocumentDataset(Path("evals.json")).inspect().problems

    assert f"dataset_file not found: {Path('evals.json').absolute()}" == problem.message


def test_our_fields_are_checked_as_in_jsonl() -> None:
    ours = {"criteria": [{"name": "c", "instruction": "i", "check": {"regex": "("}}], "context": 1}

    problems = problems_of(
        document({"prompt": "p", "expected_response": "e", "extensions": {"azd_eval": ours}})
    )

    assert {
        "items[0].extensions.azd_eval.criteria[0].check.regex",
        "items[0].extensions.azd_eval.context",
    } == {problem.field for problem in problems}


def test_criteria_of_a_document_score_its_turns() -> None:
    criterion = {"name": "c", "instruction": "i", "check": {"contains": "x"}}
    ours = {"criteria": [criterion], "context": "b", "metadata": {"m": 1}}

    (task,) = tasks_of({"prompt": "p", "extensions": {"azd_eval": ours}})

    assert (Criterion("c", "i", check=Check("contains", "x")),) == task.turns[0].criteria
    assert ("b", {"m": 1}) == (task.context, task.metadata)


def test_options_that_the_official_schema_lacks_stand_in_extensions() -> None:
    item = {
        "prompt": "p",
        "expected_response": "e",
        "evaluators": {"ExactMatch": {"mode": "equals"}},
    }

    official = rewrite(document(item), official=True)

    assert [] == find_schema_faults(official)
    assert {"ExactMatch": {}} == official["items"][0]["evaluators"]
    assert item["evaluators"] == read_document(write(official)).tasks[0].turns[0].evaluators


def test_strict_takes_the_official_schema_and_nothing_else() -> None:
    path = write(document({"prompt": "p", "testId": "T"}))

    inspection = DocumentDataset(path, TaskRules(strict=True)).inspect()

    assert (False, 0) == (inspection.is_good, inspection.tasks)
    assert ["items[0].testId"] == [problem.field for problem in inspection.problems]


@pytest.mark.parametrize("ours", [{"criteria": 5}, {"fields": {"prompt": 5}}, {"context": 1}])
def test_what_stands_under_our_key_is_checked_with_strict_rules_too(ours: Any) -> None:
    path = write(document({"prompt": "p", "extensions": {"azd_eval": ours}}))

    assert not DocumentDataset(path, TaskRules(strict=True)).inspect().is_good


def test_what_no_run_can_use_is_refused_with_strict_rules_only_when_it_is_run() -> None:
    path = write(document({"prompt": "p", "evaluators": {"Similarity": {}, "relevance": {}}}))
    strict = TaskRules(strict=True)

    assert DocumentDataset(path, strict).inspect().is_good
    assert 1 == len(list(DocumentDataset(path, strict)))
    with pytest.raises(FilesRefused, match="unknown evaluator") as refused:
        read_document(path, strict)
    assert "Similarity needs `expected_response`" in str(refused.value)


def test_tasks_are_numbered_by_the_lines_of_their_items() -> None:
    path = write(document({"prompt": "a"}, {"prompt": "b"}))
    lines = path.read_text(encoding="utf-8").splitlines()

    numbers = [number for number, _ in DocumentDataset(path).numbered()]

    assert ["{", "{"] == [lines[number - 1].strip() for number in numbers]
    assert [4, 7] == numbers
