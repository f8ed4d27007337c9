"""Results of `runevals` over time: comparison, interruption, resumption."""

import json
import signal
import time

import pytest

from tests.cli.shell import connect, count_roles, runevals
from tests.documents import document_world, find_results, last_prompt, make_document, write_agent
from tests.fake_openai import Status

ITEMS = [
    {"prompt": f"{name}?", "testId": name, "category": category}
    for name, category in (("KB-1", "knowledge"), ("KB-2", "knowledge"), ("TOOL-1", "tools"))
]


@pytest.fixture
def project(shell):
    write_agent(shell)
    shell.write("evals/evals.json", make_document(*ITEMS))
    return shell


def fail(*prompts):
    """Make a server whose agent answers some prompts badly."""
    return document_world(
        lambda request: "Bad." if last_prompt(request) in prompts else "Good day.",
    )


def judge_bad(respond):
    def grade(request):
        if request.schema_name is not None and '"Bad."' in request.user:
            return {"reason": "bad", "score": 1}
        return respond(request)

    return grade


def world_failing(*prompts):
    return judge_bad(fail(*prompts))


class TestCategories:
    def test_totals_are_told_by_evaluator_and_category(self, project, here, fake_openai):
        server = fake_openai(world_failing("KB-2?"))

        result = here("--json", **connect(server))

        assert 1 == result.code, result.stderr
        summary = result.json
        assert {"total": 3, "passed": 2, "failed": 1, "partial": 0, "errored": 0, "not_run": 0} == (
            summary["items"]
        )
        assert [("knowledge", 1, 1, 0.5), ("tools", 1, 0, 1.0)] == [
            (each["name"], each["items"]["passed"], each["items"]["failed"], each["score"])
            for each in summary["categories"]
        ]
        assert [("Relevance", 3, 2, 1, 11 / 3), ("Coherence", 3, 2, 1, 11 / 3)] == [
            (each["name"], each["count"], each["passed"], each["failed"], each["mean"])
            for each in summary["evaluators"]
        ]
        assert summary == find_results(project)["evals.summary.json"]

    def test_the_screen_shows_them(self, project, here, fake_openai):
        result = here(**connect(fake_openai(world_failing("KB-2?"))))

        lines = [line.split() for line in result.stdout.splitlines()]
        assert ["knowledge", "2", "1", "1", "0", "0", "0.50"] in lines
        assert ["Relevance", "3", "2", "1", "0", "3.67", "67%"] in lines
        assert ["KB-2", "fail", "0.00", "knowledge"] in lines
        assert "  KB-2 · relevance 1: bad" in result.stdout.splitlines()


class TestComparison:
    @pytest.fixture
    def results(self, project, here, fake_openai):
        """Write v1.json, in which KB-2 fails, and v2.json, in which TOOL-1 does; KB-1 is gone."""
        run = here
        run("--output", "v1.json", **connect(fake_openai(world_failing("KB-2?"))))
        new = [*ITEMS[1:], {"prompt": "New?"}]
        project.write("evals/evals.json", make_document(*new))
        run("--output", "v2.json", "--no-cache", **connect(fake_openai(world_failing("TOOL-1?"))))
        return project

    def test_what_got_better_worse_new_and_gone(self, results, here):
        shown = here("--compare", "v1.json", "v2.json")
        as_json = here("--compare", "v1.json", "v2.json", "--json")

        assert (0, 0) == (shown.code, as_json.code)
        changes = {(item["name"], item["change"]) for item in as_json.json["items"]}
        assert {
            ("KB-1", "gone"),
            ("KB-2", "better"),
            ("TOOL-1", "worse"),
            ("New?", "new"),
        } == changes
        assert "Compared 1 worse, 1 better, 1 new, 1 gone" in shown.stdout
        assert "Pairs    2: 1 fixed, 1 broken\n" in shown.stdout
        assert "Passing  +0.00 (95 % interval -1.00 to +1.00, p = 1)\n" in shown.stdout

    def test_a_regression_fails_only_if_asked(self, results, here):
        assert 0 == here("--compare", "v1.json", "v2.json").code
        assert 1 == here("--compare", "v1.json", "v2.json", "--fail-on-regression").code
        assert 0 == here("--compare", "v2.json", "v2.json", "--fail-on-regression").code

    @pytest.mark.parametrize(
        ("failing", "arguments", "code"),
        [
            ("TOOL-1?", ["--fail-under", "0.5"], 0),
            ("TOOL-1?", ["--fail-under", "0.5", "--fail-on-regression"], 1),
            ("KB-2?", ["--fail-under", "0.5", "--fail-on-regression"], 0),
        ],
    )
    def test_a_run_is_held_against_a_baseline(
        self, project, here, fake_openai, failing, arguments, code
    ):
        first = connect(fake_openai(world_failing("KB-2?")))
        here("--output", "v1.json", **first)

        later = connect(fake_openai(world_failing(failing)))
        result = here("--baseline", "v1.json", "--no-cache", *arguments, **later)

        assert code == result.code, result.output
        assert "Compared " in result.stdout

    def test_the_baseline_may_be_replaced_by_the_run(self, project, here, fake_openai):
        first = connect(fake_openai(world_failing("KB-2?")))
        here("--output", "last.json", **first)

        later = connect(fake_openai(world_failing("TOOL-1?")))
        command = ["--baseline", "last.json", "--output", "last.json", "--force", "--no-cache"]
        result = here(*command, **later)

        assert "1 fixed, 1 broken" in result.stdout
        assert "fail" == json.loads(project.read("last.json"))["items"][2]["status"]

    def test_a_result_runs_again_as_a_document(self, project, here, fake_openai):
        first = connect(fake_openai(world_failing("KB-2?")))
        here("--output", "v1.json", **first)

        again = here(
            "--prompts-file", "v1.json", "--category", "tools", **connect(fake_openai(fail()))
        )

        assert 0 == again.code, again.stderr
        (item,) = find_results(project)["v1.json"]["items"]
        assert ("TOOL-1", "pass") == (item["extensions"]["testId"], item["status"])


class TestInterruption:
    def test_ctrl_c_keeps_what_was_measured_and_a_later_run_goes_on(self, project, fake_openai):
        server = fake_openai(fail(), latency=0.3)
        variables = connect(server)

        process = project.start("--concurrency", "1", program=runevals, **variables)
        deadline = time.monotonic() + 30
        while len(server.calls) < 4 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)

        assert 130 == process.returncode
        assert (
            "hint: go on with the same command, for this document, and `--resume-run evals-"
            in stderr
        )
        summary = find_results(project)["evals.summary.json"]
        assert 1 <= summary["items"]["passed"] < 3 == summary["items"]["total"]
        assert summary["items"]["not_run"] == 3 - summary["items"]["passed"]

        before = count_roles(server)["agent"]
        resumed = project.runevals("--resume", **variables)

        assert 0 == resumed.code, resumed.stderr
        assert 3 == find_results(project)["evals.summary.json"]["items"]["passed"]
        assert before <= count_roles(server)["agent"] <= 3
        assert 2 == len(list((project.folder / ".evals/results").glob("*.json")))

    def test_nothing_unfinished_is_said(self, project, here, fake_openai):
        variables = connect(fake_openai(fail()))
        here(**variables)

        result = here("--resume", **variables)

        assert 2 == result.code
        assert "no unfinished run of this dataset" in result.stderr

    def test_other_responses_are_not_mixed_with_those_scored_before(
        self, project, here, fake_openai
    ):
        world = document_world(grades={"Coherence": "no idea"})
        command = ["--evaluate-only", "old.json"]
        variables = connect(fake_openai(world))
        project.write("old.json", make_document({"prompt": "One?", "response": "Yes."}))
        assert 3 == here(*command, **variables).code
        project.write("old.json", make_document({"prompt": "One?", "response": "No."}))

        result = here(*command, "--resume", **variables)

        assert 2 == result.code
        assert "changed since it began: responses" in result.stderr

    def test_a_wrong_key_is_no_measurement(self, project, here, fake_openai):
        server = fake_openai(lambda request: Status(401))

        result = here(**connect(server))

        assert 3 == result.code
        items = find_results(project)["evals.json"]["items"]
        assert {"agentAuthenticationError"} == {item["error"]["code"] for item in items}


def test_offline_nothing_passes_unmeasured(shell, here):
    shell.write(".agent_configs/baseline/instructions.md", "Be kind.")

    result = here("--prompts", "Who?")

    assert 3 == result.code
    assert "rules, not a language model" in result.output
    assert "hint: no language model is configured" in result.stderr
    (item,) = find_results(shell)["typed.json"]["items"]
    assert ("partial", "evaluatorConfigurationError") == (
        item["status"],
        item["scores"]["relevance"]["code"],
    )


def test_a_secret_never_reaches_a_result(project, here, fake_openai):
    project.write(
        "agent.py",
        "import os\n\ndef respond(prompt):\n    return os.environ['OPENAI_API_KEY']\n",
    )
    variables = connect(fake_openai(fail()))

    here("--callable", "agent.py:respond", **variables)

    key = variables["OPENAI_API_KEY"].encode()
    assert [] == [name for name, text in project.files().items() if key in text]
    assert "***" == find_results(project)["evals.json"]["items"][0]["response"]
