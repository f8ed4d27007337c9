"""`eval run` with the evaluators that are named with options: what is asked, kept and shown."""

import json

import pytest

from tests.cli.shell import connect, count_roles

GRADES = {"Relevance": 4, "Coherence": 5, "Groundedness": 3, "Similarity": 2, "voice": 5}
REPLY = "Refunds take 30 days [1], as the policy says [2](https://a.example/p)."
TASK = {
    "name": "refund",
    "prompt": "How long do refunds take?",
    "groundTruth": "30 days",
    "context": "The policy: refunds take 30 days.",
    "category": "policy",
}
EVALUATORS = """
  - Relevance
  - builtin.Coherence
  - {name: Groundedness, initialization_parameters: {threshold: 4}}
  - Similarity
  - {name: Citations, initialization_parameters: {threshold: 2, citation_format: mixed}}
  - ExactMatch
  - {name: PartialMatch, initialization_parameters: {threshold: 0.25}}
  - {name: RetrievalQuery, initialization_parameters: {capability: Files, selector: refund}}
  - name: ToolCallSelection
    initialization_parameters: {calls: [{tool: {plugin_name: files, function_name: find}}]}
  - {name: tone, callable: "checks.py:tone"}
  - {name: voice, prompt_file: voice.md}
"""
AGENT = f"""
def respond(prompt):
    diagnostics = {{
        "retrieval_executions": [
            {{"capability": "Files", "queries": [{{"queryString": "refund policy"}}]}}
        ],
        "tool_calls": {{
            "selected_functions": [{{"plugin_name": "files", "function_name": "find"}}],
            "executions": None,
        }},
    }}
    return {{"output": {REPLY!r}, "diagnostics": diagnostics}}
"""


def grade(request):
    """Play agent and judge: a grade for each graded evaluator."""
    if request.schema_name is None:
        return REPLY
    (score,) = [grade for name, grade in GRADES.items() if f'"{name}":' in request.user]
    verdict = {"reason": "as it is", "score": score}
    is_batch = request.schema_name == "verdicts"
    return {"verdicts": [{"number": 1, **verdict}]} if is_batch else verdict


@pytest.fixture
def judged(shell, fake_openai):
    """A suite with every kind of named evaluator, its agent a function that gives evidence."""
    shell.write("agent.py", AGENT)
    shell.write("checks.py", "async def tone(response):\n    return {'score': 0.5}\n")
    shell.write("voice.md", "Is {{response}} in our voice?\n")
    shell.write_suite(
        tasks=json.dumps(TASK) + "\n",
        evaluators=EVALUATORS,
        agent="{name: shop, kind: python, callable: 'agent.py:respond'}",
    )
    return fake_openai(grade)


def read_scores(shell, summary):
    (trial,) = shell.read(f"{summary['run_dir']}/trials.jsonl").splitlines()
    return {score["evaluator"]: score for score in json.loads(trial)["turns"][0]["scores"]}


def test_every_evaluator_scores_on_its_own_scale(shell, judged):
    planned = shell("eval", "run", "--dry-run", "--json", **connect(judged))
    done = shell("eval", "run", "--json", "--no-gate", **connect(judged))

    assert 0 == done.code, done.stderr
    assert {"judge": 5} == count_roles(judged)
    assert (1, 5) == (planned.json["agent"], planned.json["judge"])
    scores = read_scores(shell, done.json)
    assert {
        "Relevance": (4, 3, True),
        "Coherence": (5, 3, True),
        "Groundedness": (3, 4, False),
        "Similarity": (2, 3, False),
        "Citations": (2, 2, True),
        "ExactMatch": (None, None, True),
        "PartialMatch": (pytest.approx(2 * 2 / (9 + 2)), 0.25, True),
        "RetrievalQuery": (1, 1, True),
        "ToolCallSelection": (1, 1, True),
        "tone": (0.5, 1, False),
        "voice": (5, 3, True),
    } == {
        name: (score["native"], score.get("threshold"), score["passed"])
        for name, score in scores.items()
    }
    assert [1, 2] == [each["index"] for each in scores["Citations"]["details"]["citations"]]
    assert ["refund policy"] == scores["RetrievalQuery"]["details"]["matched_queries"]
    assert {"total": 1, "passed": 0, "failed": 1, "errored": 0, "skipped": 0} == done.json["tasks"]


def test_results_are_shown_on_their_own_scale(shell, judged):
    done = shell("eval", "run", **connect(judged))

    assert 1 == done.code, done.output
    assert "missing `criteria`" not in done.output
    assert "refund · Similarity graded 2 of 5: as it is" in done.stdout
    (report,) = shell.folder.glob(".azure/.foundry/runs/*/report.html")
    html = report.read_text(encoding="utf-8")
    for shown in (
        "Relevance: 0.75 (4 of 5, passes from 3)",
        "Citations: 1.00 (2, passes from 2)",
        "ExactMatch: 1.00<",
        "tone: 0.50 (passes from 1)",
    ):
        assert shown in html


def test_flags_name_them_too_and_keep_what_the_config_says(shell, judged):
    done = shell(
        *("eval", "run", "--json", "--no-gate"),
        *("--evaluator", "Groundedness", "--evaluator", "tone", "--evaluator", "ToolCallExecution"),
        **connect(judged),
    )

    assert 2 == done.code
    assert "missing `calls`" in done.stderr
    done = shell(
        *("eval", "run", "--json", "--no-gate", "--evaluator", "Groundedness"),
        *("--evaluator", "tone"),
        **connect(judged),
    )
    scores = read_scores(shell, done.json)
    assert {"Groundedness": 4, "tone": 1} == {
        name: score["threshold"] for name, score in scores.items()
    }


@pytest.mark.parametrize("judge", ["independent", "batched"])
def test_turns_choose_their_evaluators_and_the_dry_run_counts_them(shell, fake_openai, judge):
    chosen = {
        "Similarity": {},
        "Relevance": {"threshold": 5},
    }
    turns = [
        {"prompt": "How long?", "groundTruth": "30 days", "evaluators": chosen},
        {
            "prompt": "And then?",
            "groundTruth": "30 days",
            "evaluators": {"ExactMatch": {}},
            "evaluators_mode": "replace",
        },
        {"prompt": "So?"},
    ]
    shell.write_suite(
        tasks=json.dumps({"name": "talk", "turns": turns}) + "\n",
        evaluators="[{name: Relevance, initialization_parameters: {threshold: 2}}, Coherence]",
        options=f"{{eval_model: m, judge: {judge}}}",
    )
    server = fake_openai(grade)

    planned = shell("eval", "run", "--dry-run", "--json", **connect(server))
    done = shell("eval", "run", "--json", "--no-gate", **connect(server))

    assert 0 == done.code, done.output
    assert {"agent": 3, "judge": 5} == count_roles(server)
    assert (3, 5) == (planned.json["agent"], planned.json["judge"])
    (trial,) = shell.read(f"{done.json['run_dir']}/trials.jsonl").splitlines()
    thresholds = [
        {score["evaluator"]: score.get("threshold") for score in turn["scores"]}
        for turn in json.loads(trial)["turns"]
    ]
    assert [
        {"Relevance": 5, "Coherence": 3, "Similarity": 3},
        {"ExactMatch": None},
        {"Relevance": 2, "Coherence": 3},
    ] == thresholds


@pytest.mark.parametrize(
    ("evaluators", "row", "message", "hint"),
    [
        (
            "[Similarity]",
            {"name": "a", "prompt": "b"},
            "groundTruth (a): Similarity needs an expected answer",
            "add `groundTruth`",
        ),
        (
            "[ExactMatch]",
            {"name": "a", "turns": [{"prompt": "b"}, {"prompt": "c", "groundTruth": "d"}]},
            "turns[0].groundTruth (a): ExactMatch needs an expected answer",
            "or do not score the task with ExactMatch",
        ),
        (
            "[relevance]",
            {"name": "a", "prompt": "b"},
            "evaluator 'relevance' not found",
            "did you mean `Relevance`?",
        ),
        (
            "[{name: Relevance, initialization_parameters: {threshold: 6}}]",
            {"name": "a", "prompt": "b"},
            "eval.yaml:3:71: evaluators[0].initialization_parameters.threshold: expected a number",
            "",
        ),
        (
            "[Relevance]",
            {"name": "a", "prompt": "b", "evaluators": {"tone": {}}},
            'unknown evaluator "tone"',
            "",
        ),
    ],
)
def test_what_cannot_be_scored_is_said_before_any_call(
    shell, fake_openai, evaluators, row, message, hint
):
    shell.write_suite(tasks=json.dumps(row) + "\n", evaluators=evaluators)
    server = fake_openai(grade)

    done = shell("eval", "run", **connect(server))

    assert (2, []) == (done.code, server.calls)
    assert message in done.stderr
    assert hint in done.stderr


def test_offline_rules_decide_and_graded_evaluators_stay_undecided(shell):
    shell.write_suite(
        tasks=json.dumps(TASK | {"groundTruth": "kind"}) + "\n",
        evaluators="[Relevance, ExactMatch]",
        options="{eval_model: offline}",
        agent="{name: my-agent, model: offline, instructions: Be kind.}",
    )

    done = shell("eval", "run", "--json", "--no-gate")

    assert 0 == done.code, done.output
    outcomes = {
        name: score["verdicts"][0]["verdict"]
        for name, score in read_scores(shell, done.json).items()
    }
    assert "undecided" == outcomes["Relevance"]
    assert outcomes["ExactMatch"] in ("met", "unmet")
