"""`runevals` as its users type it: the commands of the specification, and every way in."""

import csv
import io
import json

import pytest

import azd_eval
from tests.cli.shell import connect, count_roles
from tests.documents import document_world, find_results, last_prompt, make_document, write_agent
from tests.fake_openai import FakeReply, Status

EXPENSES = {
    "name": "Expense policy flow",
    "turns": [
        {"prompt": "I spent $250 on dinner. Is that okay?", "expected_response": "It is $200."},
        {
            "prompt": "What should I do?",
            "expected_response": "request manager approval.",
            "evaluators": {"ExactMatch": {"case_sensitive": False}},
            "evaluators_mode": "replace",
        },
    ],
}


@pytest.fixture
def run(request, shell, here, fake_openai):
    """Run `runevals` in a project whose models live at a server, which is `run.server`.

    The commands of the specification run as they are typed, in processes.
    """
    write_agent(shell)
    program = shell.runevals if request.cls is TestTheSpecification else here

    def start(*arguments, world=None):
        if world is not None or start.server is None:
            start.server = fake_openai(world or document_world())
        return program(*arguments, **connect(start.server))

    start.server = None
    return start


class TestTheSpecification:
    def test_one_prompt_inline(self, shell, run):
        result = run(
            "--prompts",
            "What is Microsoft Graph?",
            "--expected",
            "Microsoft Graph is the API gateway to Microsoft 365 data and intelligence.",
        )

        assert 0 == result.code, result.stderr
        (item,) = find_results(shell)["typed.json"]["items"]
        assert "Good day." == item["response"]
        assert {"relevance", "coherence"} == item["scores"].keys()

    def test_several_prompts_inline(self, shell, run):
        result = run(
            "--prompts",
            "What is Teams?",
            "What is SharePoint?",
            "--expected",
            "Teams is a collaboration platform",
            "SharePoint is a content management system",
        )

        assert 0 == result.code, result.stderr
        items = find_results(shell)["typed.json"]["items"]
        assert [
            ("What is Teams?", "Teams is a collaboration platform"),
            ("What is SharePoint?", "SharePoint is a content management system"),
        ] == [(item["prompt"], item["expected_response"]) for item in items]

    def test_the_tree_that_it_recommends(self, shell, run):
        names = ("knowledge-base", "tool-usage", "conversation-flow", "edge-cases", "regression")
        for name in names:
            shell.write(f"evals/{name}.json", make_document(f"Question of {name}?"))

        typed = [run("--prompts-file", f"./evals/{name}.json").code for name in names[:2]]
        rest = run(
            *(word for name in names[2:] for word in ("--prompts-file", f"evals/{name}.json"))
        )

        assert [0, 0, 0] == [*typed, rest.code]
        assert {f"{name}{end}" for name in names for end in (".json", ".summary.json")} == {
            *find_results(shell)
        }

    def test_a_result_under_its_own_name(self, shell, run):
        shell.write("evals/evals.json", make_document("Who?", EXPENSES))

        result = run("--output", "./evals/results/v1.6.0-results.json")

        assert 1 == result.code, result.stderr
        document = json.loads(shell.read("evals/results/v1.6.0-results.json"))
        assert ["pass", "fail"] == [
            document["items"][0]["status"],
            document["items"][1]["summary"]["overall_status"],
        ]
        summary = json.loads(shell.read("evals/results/v1.6.0-results.summary.json"))
        assert {"total": 2, "passed": 1, "failed": 1} == {
            key: summary["items"][key] for key in ("total", "passed", "failed")
        }

    @pytest.mark.parametrize(
        ("present", "found"),
        [
            (["prompts.json", "evals.json", "tests.json", "evals/prompts.json"], "prompts.json"),
            (["evals.json", "tests.json", "evals/prompts.json"], "evals.json"),
            (["tests.json", "evals/prompts.json"], "tests.json"),
            (["evals/prompts.json", "evals/evals.json"], "evals/prompts.json"),
            (["evals/evals.json", "evals/tests.json"], "evals/evals.json"),
            (["evals/tests.json", "other.json"], "evals/tests.json"),
        ],
    )
    def test_the_order_of_discovery(self, shell, run, present, found):
        for name in present:
            shell.write(name, make_document(f"Asked by {name}?"))

        result = run()

        assert f"Prompts file: {found}\n" in result.stderr
        assert [f"Asked by {found}?"] == [
            last_prompt(call) for call in run.server.calls if call.schema_name is None
        ]

    @pytest.mark.parametrize("kind", ["", "basic", "knowledge-base", "tool-usage"])
    def test_starters_run_as_they_are(self, shell, run, kind):
        made = run("--init", *([kind] if kind else []))

        assert (0, "Created ./evals/evals.json") == (made.code, made.stdout.splitlines()[0])
        assert 0 == run().code
        document = json.loads(shell.read("evals/evals.json"))
        assert ("1.0.0", 2) == (document["schemaVersion"], len(document["items"]))

    def test_nothing_to_run_and_nobody_to_ask(self, shell, run):
        result = run()

        assert 2 == result.code
        assert "no prompts file found in current directory or ./evals/" in result.stderr
        assert "hint: `runevals --init` writes one" in result.stderr
        assert not (shell.folder / "evals").exists()


class TestConversations:
    def test_turns_build_on_real_replies_and_items_share_nothing(self, shell, run):
        flow = {"name": "Flow", "turns": [{"prompt": "One?"}, {"prompt": "Two?"}]}
        shell.write("evals.json", make_document(flow, "Alone?"))

        result = run(world=document_world(lambda request: f"re {last_prompt(request)}"))

        assert 0 == result.code, result.stderr
        said = {
            last_prompt(call): [message["content"] for message in call.body["messages"][1:]]
            for call in run.server.calls
            if call.schema_name is None
        }
        assert {
            "One?": ["One?"],
            "Two?": ["One?", "re One?", "Two?"],
            "Alone?": ["Alone?"],
        } == said

    def test_a_failed_turn_stops_its_thread_alone(self, shell, run):
        thread = {"turns": [{"prompt": prompt} for prompt in ("One?", "Broken?", "Three?")]}
        shell.write("evals.json", make_document(thread, "Alone?"))

        def reply(request):
            broken = last_prompt(request) == "Broken?"
            return Status(400, {"error": {"message": "nobody is here"}}) if broken else "Yes."

        result = run(world=document_world(reply))

        assert 3 == result.code
        thread, alone = find_results(shell)["evals.json"]["items"]
        assert ["pass", "error", "error"] == [turn["status"] for turn in thread["turns"]]
        assert ["agentRequestFailed", "turnSkipped"] == [
            turn["error"]["code"] for turn in thread["turns"][1:]
        ]
        assert "error" == thread["summary"]["overall_status"]
        assert "pass" == alone["status"]
        assert "Three?" not in {last_prompt(call) for call in run.server.calls}

    def test_an_empty_reply_takes_nobody_with_it(self, shell, run):
        shell.write("evals.json", make_document("One?", "Empty?", "Three?"))

        def reply(request):
            return FakeReply("" if last_prompt(request) == "Empty?" else "Yes.")

        result = run(world=document_world(reply))

        assert 3 == result.code
        items = find_results(shell)["evals.json"]["items"]
        assert ["pass", "error", "pass"] == [item["status"] for item in items]
        assert "the agent returned no text" in items[1]["error"]["message"]

    def test_a_judge_that_fails_makes_a_partial_result(self, shell, run):
        shell.write("evals.json", make_document("One?"))

        result = run(world=document_world(grades={"Coherence": "no idea"}))

        assert 3 == result.code
        assert "1 of 1 items have no full result" in result.stderr
        (item,) = find_results(shell)["evals.json"]["items"]
        assert ("partial", "pass", "error") == (
            item["status"],
            item["scores"]["relevance"]["result"],
            item["scores"]["coherence"]["result"],
        )
        assert "judgeOutputUnparseable" == item["scores"]["coherence"]["code"]
        assert ["One?", "partial", "-"] == next(
            line.split() for line in result.stdout.splitlines() if line.startswith("One?")
        )


class TestWaysIn:
    def test_stored_responses_are_scored_without_an_agent(self, shell, here, fake_openai):
        server = fake_openai(document_world(grades={"Relevance": 2}))
        shell.write(
            "old.json",
            make_document(
                {"prompt": "One?", "response": "Stored.", "scores": {"relevance": {}}},
                {"turns": [{"prompt": "Two?", "response": ""}, {"prompt": "Three?"}]},
                metadata={"agentName": "The real one"},
            ),
        )

        result = here("--evaluate-only", "old.json", "-m", "m", **connect(server))

        assert 3 == result.code
        assert {"judge": 2} == count_roles(server)
        document = find_results(shell)["old.json"]
        stored, missing = document["items"]
        assert ("Stored.", 2, "fail") == (
            stored["response"],
            stored["scores"]["relevance"]["score"],
            stored["status"],
        )
        assert ["Agent request failed: no stored response to score"] == [
            turn["error"]["message"] for turn in missing["turns"][:1]
        ]
        assert "The real one" == document["metadata"]["agentName"]

    def test_otherwise_stored_responses_are_passed_over_and_it_is_said(self, shell, run):
        shell.write("evals.json", make_document({"prompt": "One?", "response": "Stored."}))

        result = run()

        assert 0 == result.code
        assert "note: stored responses (1) are passed over" in result.stderr
        assert "Good day." == find_results(shell)["evals.json"]["items"][0]["response"]

    def test_several_files_are_several_results_and_a_total(self, shell, run):
        shell.write("a.json", make_document("One?", "Two?"))
        shell.write("b.json", make_document("Three?", EXPENSES))

        result = run("--prompts-file", "a.json", "--prompts-file", "b.json")
        as_json = run("--prompts-file", "a.json", "--prompts-file", "b.json", "--json")

        assert (1, 1) == (result.code, as_json.code)
        assert ["Total", "4", "3", "1", "0", "0", "0"] == result.stdout.split("\n")[-2].split()
        assert [2, 2] == [summary["items"]["total"] for summary in as_json.json["runs"]]
        assert {"a.json", "b.json", "a.summary.json", "b.summary.json"} == {*find_results(shell)}

    def test_no_file_is_asked_when_one_is_broken(self, shell, run):
        shell.write("a.json", make_document("One?"))
        shell.write("b.json", make_document({"promt": "Two?"}))

        result = run("--prompts-file", "a.json", "--prompts-file", "b.json", world=document_world())

        assert 2 == result.code
        assert [] == run.server.calls

    @pytest.mark.parametrize(
        ("arguments", "asked"),
        [
            (["--category", "tool-*"], ["Two?", "Three?"]),
            (["--category", "knowledge", "--category", "tool-use"], ["One?", "Two?"]),
            (["--test-id", "REG-*"], ["One?", "Three?"]),
            (["--test-id", "REG-2", "--category", "tool-*"], ["Three?"]),
        ],
    )
    def test_items_are_chosen_by_category_and_id(self, shell, run, arguments, asked):
        shell.write(
            "evals.json",
            make_document(
                {"prompt": "One?", "category": "knowledge", "testId": "REG-1"},
                {"prompt": "Two?", "category": "tool-use"},
                {"prompt": "Three?", "category": "tool-call", "testId": "REG-2"},
            ),
        )

        result = run(*arguments)

        assert 0 == result.code, result.stderr
        result_items = find_results(shell)["evals.json"]["items"]
        assert asked == [item["prompt"] for item in result_items]

    def test_the_agent_may_be_a_function(self, shell, here, fake_openai):
        shell.write(
            "agent.py", "def respond(prompt, history):\n    return f'{len(history)} {prompt}'"
        )
        shell.write("evals.json", make_document(EXPENSES))

        result = here(
            "--callable", "agent.py:respond", "-m", "m", **connect(fake_openai(document_world()))
        )

        assert 1 == result.code, result.stderr
        turns = find_results(shell)["evals.json"]["items"][0]["turns"]
        assert "2 What should I do?" == turns[1]["response"]

    def test_the_agent_may_be_a_bare_model(self, shell, here, fake_openai):
        server = fake_openai(document_world())

        result = here("--prompts", "Who?", "--model", "m", **connect(server))

        assert 0 == result.code, result.stderr
        assert "its model answers as it is" in result.stderr
        (asked,) = [call for call in server.calls if call.schema_name is None]
        assert [{"role": "user", "content": "Who?"}] == asked.body["messages"]

    def test_without_an_agent_the_lines_to_add_are_told(self, shell, here):
        result = here("--prompts", "Who?")

        assert 2 == result.code
        assert "error: there is no agent to ask" in result.stderr
        assert "instructions_file: instructions.md" in result.stderr

    @pytest.mark.parametrize("name", [".env.local", ".env.local.user"])
    def test_the_names_of_the_vendor_lead_to_the_judge(self, shell, here, fake_openai, name):
        server = fake_openai(document_world())
        shell.write(".agent_configs/baseline/instructions.md", "Be kind.")
        shell.write(
            name,
            f"AZURE_AI_OPENAI_ENDPOINT={server.root_url}\nAZURE_AI_API_KEY=k-0123456789\n"
            "AZURE_AI_API_VERSION=2024-12-01-preview\nAZURE_AI_MODEL_NAME=gpt-4o-mini\n",
        )

        result = here("--prompts", "Who?")

        assert 0 == result.code, result.stderr
        assert {"gpt-4o-mini"} == {call.model for call in server.calls}
        assert {"2024-12-01-preview"} == {call.query["api-version"] for call in server.calls}

    def test_what_eval_yaml_says_of_evaluators_holds_in_documents(self, shell, run):
        equals = "evaluators: [{name: ExactMatch, initialization_parameters: {mode: equals}}]\n"
        write_agent(shell, evaluators=equals)
        exact = {"prompt": "One?", "expected_response": "good", "evaluators": {"ExactMatch": {}}}
        shell.write("evals.json", make_document(exact, default_evaluators={}))

        strict, typed = run(), run("--prompts", "One?", "--expected", "Good day.")
        write_agent(shell)

        assert (1, 0, 0) == (strict.code, typed.code, run().code)
        assert {"exactMatch"} == {*find_results(shell)["typed.json"]["items"][0]["scores"]}

    @pytest.mark.parametrize(
        ("root", "own", "passes"),
        [
            ({}, {"evaluators": {"Relevance": {}}}, False),
            ({"default_evaluators": {"Relevance": {"threshold": 2}}}, {}, True),
            (
                {"default_evaluators": {"Relevance": {"threshold": 2}}},
                {"evaluators": {"Relevance": {}}},
                True,
            ),
            (
                {"default_evaluators": {"Relevance": {"threshold": 2}}},
                {"evaluators": {"Relevance": {}}, "evaluators_mode": "replace"},
                False,
            ),
            ({}, {"evaluators": {"Relevance": {"threshold": 3}}}, True),
        ],
    )
    def test_the_document_stands_over_eval_yaml(
        self, shell, fake_openai, monkeypatch, root, own, passes
    ):
        server = fake_openai(document_world(grades={"Relevance": 3}))
        for name, value in connect(server).items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(shell.folder)
        options = "{name: Relevance, initialization_parameters: {threshold: 4}}"
        write_agent(shell, evaluators=f"evaluators: [{options}]\n")
        shell.write("evals.json", make_document({"prompt": "One?", **own}, **root))

        (result,) = azd_eval.run_documents()

        scores = result.document["items"][0]["scores"]
        assert passes == (scores["relevance"]["result"] == "pass")

    def test_an_own_evaluator_is_named_by_documents(self, shell, run):
        shell.write("checks.py", "def tone(response):\n    return 'Good' in response")
        write_agent(shell, evaluators="evaluators: [{name: tone, callable: 'checks.py:tone'}]\n")
        shell.write("evals.json", make_document("One?", default_evaluators={"tone": {}}))

        assert 0 == run().code
        assert {"tone"} == {*find_results(shell)["evals.json"]["items"][0]["scores"]}


class TestFlags:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--prompts", "A", "B", "--expected", "X"], "2 prompts and 1 expected responses"),
            (["--expected", "X"], "`--expected` without `--prompts`"),
            (
                ["--prompts"],
                "Option '--prompts' requires an argument.\n\nhint: see `runevals --help`",
            ),
            (["--prompts", "--expected", "X"], "Option '--prompts' requires an argument."),
            (["--prompts", " "], "a prompt is empty"),
            (["--prompts", "A", "--prompts-file", "a.json"], "exclude each other"),
            (["--evaluate-only", "a.json", "--interactive"], "exclude each other"),
            (["--interactive"], "`--interactive` needs a terminal"),
            (["--prompts-file", "none.json"], "none.json"),
            (["--init", "advanced"], "there is no starter 'advanced'"),
            (["--prompts", "A", "--output", "r.html"], "cannot write results as 'r.html'"),
            (["--prompts", "A", "--fail-on-regression"], "needs `--baseline OLD`"),
            (["--prompts", "A", "--baseline", "a.json"], "'a.json' is no result"),
            (["--compare", "a.json", "a.json"], "'a.json' is no result"),
            (["--prompts-file", "a.json", "--category", "nowledge"], "no task matches"),
            (["--prompts", "A", "--fail-under", "70"], "--fail-under"),
            (["--prompts-file", "b.json"], "did you mean `Relevance`?"),
            (["--prompts-file", "b.json", "--strict"], "did you mean `Relevance`?"),
            (["--prompts-file", "c.json"], "ExactMatch needs `expected_response`"),
            (
                ["--prompts-file", "a.json", "--output", "./a.json", "--force"],
                "`--output` would replace 'a.json', which is to be run",
            ),
            (
                ["--prompts-file", "a.json", "--prompts-file", "a.json", "--output", "r.json"],
                "`--output` goes with one document, not with 2",
            ),
        ],
    )
    def test_slips_are_told_before_anything_is_asked(self, shell, run, arguments, message):
        shell.write("a.json", make_document({"prompt": "One?", "category": "knowledge"}))
        shell.write("b.json", make_document("One?", default_evaluators={"relevance": {}}))
        shell.write("c.json", make_document("One?", default_evaluators={"ExactMatch": {}}))

        result = run(*arguments)

        assert 2 == result.code
        assert message in result.stderr
        assert [] == run.server.calls

    def test_dry_run_counts(self, shell, run):
        shell.write("evals.json", make_document("One?", EXPENSES))
        legacy = shell.write("old.json", '[{"prompt": "One?"}]')
        files = ["--prompts-file", "evals.json", "--prompts-file", "old.json"]

        result = run("--dry-run", "--json", "--upgrade", *files)

        assert (4, 6) == (result.json["agent"], result.json["judge"])
        assert ([], {}) == (run.server.calls, find_results(shell))
        assert legacy.read_text().startswith("[")

    def test_scoring_stored_responses_asks_no_agent(self, shell, run):
        shell.write("old.json", make_document({"prompt": "One?", "response": "Yes."}))

        assert 0 == run("--evaluate-only", "old.json", "--dry-run", "--json").json["agent"]

    def test_results_are_not_replaced_unless_asked(self, shell, run):
        shell.write("evals.json", make_document("One?"))
        command = ["--output", "out/r.json", "--output", "out/r.csv"]
        first = run(*command)
        before, calls = shell.files(), len(run.server.calls)

        again = run(*command)

        assert (0, 2) == (first.code, again.code)
        assert "exists and is not overwritten" in again.stderr
        assert (before, calls) == (shell.files(), len(run.server.calls))
        assert 0 == run(*command, "--force").code
        (row,) = csv.DictReader(io.StringIO(shell.read("out/r.csv").removeprefix("\ufeff")))
        assert ("One?", "pass", "5") == (row["prompt"], row["status"], row["relevance_score"])

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            ([], 1),
            (["--fail-under", "0.25"], 0),
            (["--fail-under", "26%"], 1),
            (["--no-gate"], 0),
        ],
    )
    def test_the_gate(self, shell, run, arguments, code):
        shell.write("evals.json", make_document("One?"))

        result = run(*arguments, world=document_world(grades={"Relevance": 2, "Coherence": 2}))

        assert code == result.code

    def test_errors_may_be_tolerated(self, shell, run):
        shell.write("evals.json", make_document("One?", "Empty?"))
        world = document_world(
            lambda request: FakeReply("" if last_prompt(request) == "Empty?" else "Yes.")
        )

        assert 3 == run(world=world).code
        assert 1 == run("--max-errors", "1").code
        assert 0 == run("--max-errors", "50%", "--fail-under", "0.5").code

    def test_strict_takes_only_the_official_schema(self, shell, run):
        shell.write("evals.json", make_document({"prompt": "One?", "testId": "REG-1"}))

        strict, lenient = run("--strict"), run()

        assert (2, 0) == (strict.code, lenient.code)
        assert "testId" in strict.stderr

    @pytest.mark.parametrize("text", ['[{"prompt": "One?"}]', '{"prompts": ["One?"]}'])
    def test_legacy_documents_are_rewritten_only_when_asked(self, shell, run, text):
        path = shell.write("evals.json", text)

        untouched = run()
        assert (0, text) == (untouched.code, path.read_text())

        upgraded = run("--upgrade")
        (backup,) = shell.folder.glob("evals.json.bak.*")
        assert (0, text) == (upgraded.code, backup.read_text())
        assert [{"prompt": "One?"}] == json.loads(path.read_text())["items"]

    def test_a_legacy_document_with_faults_stays_as_it_is(self, shell, run):
        path = shell.write("evals.json", text := '[{"promt": "One?"}]')

        refused = run("--upgrade")

        assert (2, text) == (refused.code, path.read_text())
        assert "did you mean `prompt`?" in refused.stderr
        assert not [*shell.folder.glob("*.bak.*")]

    def test_version_and_help(self, shell, here):
        version, text = here("--version"), here("-h")

        assert (0, 0) == (version.code, text.code)
        assert version.stdout.startswith("runevals of azd-eval ")
        assert "Usage: runevals [OPTIONS]" in text.stdout

    def test_an_unknown_option_points_to_the_help_of_this_program(self, shell, here):
        result = here("--m365-agent-id", "x")

        assert 2 == result.code
        assert "hint: see `runevals --help`" in result.stderr
