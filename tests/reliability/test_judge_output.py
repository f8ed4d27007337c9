"""What judges, generators and optimizers write around their JSON, and in its place (047 to 062)."""

import json

import pytest

from tests.cli.shell import judge_by_name
from tests.fake_openai import FakeReply, Status
from tests.personas import RULE, support_world
from tests.reliability.projects import make_rows, write_rows

WRAPPINGS = {
    "047-fence": "```json\n{}\n```  ",
    "047-fence without a word": "```\n{}\n```",
    "047-fence in capitals": "```JSON\n{}\n```",
    "049-prose around": "Sure! Here it is: {} Hope this helps {{smile}} [1]",
    "thoughts before": '<think>Maybe {{"score": 1, "tasks": []}}?</think>\n{}',
    "mark before": "\ufeff{}",
}


@pytest.mark.parametrize("wrapping", WRAPPINGS.values(), ids=WRAPPINGS)
def test_judge_generator_and_optimizer_are_unwrapped_alike(project, wrapping):
    def wrap(world):
        def respond(request):
            answer = world(request)
            if isinstance(answer, str):
                return answer
            before, after = wrapping.replace("{{", "\0").replace("}}", "\1").split("{}")
            frame = [part.replace("\0", "{").replace("\1", "}") for part in (before, after)]
            return json.dumps(answer, ensure_ascii=False).join(frame)

        return respond

    server = project.serve(wrap(support_world()))
    calls = "blueprint", "tasks", None, "verdict", "instructions"

    drafted = project.run(
        server, *"eval init -g".split(), "Test refunds.", *"-m m --max-samples 2 --json".split()
    )
    improved = project.optimize(max_iterations=1)

    assert (0, 2) == (drafted.code, drafted.json["tasks"]), drafted.output
    assert (0.0, 1.0) == (improved.baseline.score, improved.best.score)
    assert set(calls) == {call.schema_name for call in server.calls}
    # Nothing had to be asked for twice.
    assert all(2 == len(call.body["messages"]) for call in server.calls)


IN_PLACE = {
    "056-empty object": "{}",
    "056-empty list": "[]",
    "056-null": "null",
    "056-text": '""',
    "051-maybe": '{"score": "maybe", "reason": "x"}',
    "051-between": '{"score": 0.5, "reason": "x"}',
    "060-refusal": "I'm sorry, I can't evaluate this content.",
    "060-refusal apart": FakeReply(None, message={"refusal": "I cannot judge this."}),
    "nothing": FakeReply(""),
    "nothing at all": FakeReply(None),
}


@pytest.mark.parametrize("answer", IN_PLACE.values(), ids=IN_PLACE)
def test_an_unusable_verdict_is_asked_for_once_more_and_is_no_failed_criterion(project, answer):
    project.write_suite(tasks=write_rows(make_rows(5)))

    def respond(request):
        return answer if request.schema_name and "Question 2" in request.user else good(request)

    good = judge_by_name()
    server = project.serve(respond)

    run = project.evaluate(concurrency=1)

    counts = run.tasks
    assert (4, 0, 1) == (counts.passed, counts.failed, counts.errored)
    assert (1.0, 0.8) == (run.score, run.score_errors_as_zero)
    (criterion,) = run.criteria
    assert (4, 0, 1) == (criterion.met, criterion.unmet, criterion.unusable)
    assert 5 + 5 + 1 == len(server.calls)
    (verdict,) = project.trials(run.run_dir)["task_2"]["turns"][0]["scores"][0]["verdicts"]
    raw = answer if isinstance(answer, str) else answer.text or answer.message.get("refusal", "")
    assert ("unusable", raw) == (verdict["verdict"], verdict["raw"])


@pytest.mark.parametrize(
    "answer", ['{"score": 1}', '{"score": 1, "reason": null}', '{"score": "1"}']
)
def test_case_056_a_missing_reason_alone_is_fine(project, answer):
    project.write_suite(tasks=write_rows(make_rows(1)))
    server = project.serve(lambda request: answer if request.schema_name else "ok")

    assert (1.0, 2) == (project.evaluate().score, len(server.calls))


SCORELESS = ['{"reason": "x"}', '{"reason": "x", "score": null}', '{"Score": 1}', '[{"a": 1}]']


@pytest.mark.parametrize("answer", SCORELESS)
def test_case_056_a_missing_score_is_an_error_and_a_repair_mends_it(project, answer):
    project.write_suite(tasks=write_rows(make_rows(2)))

    def respond(request):
        if request.schema_name is None:
            return "ok"
        is_repair = len(request.body["messages"]) > 2
        return good(request) if is_repair and "Question 1" in request.user else answer

    good = judge_by_name()
    server = project.serve(respond)

    run = project.evaluate()

    assert (1, 0, 1) == (run.tasks.passed, run.tasks.failed, run.tasks.errored)
    assert 2 + 2 * 2 == len(server.calls)


REFUSALS = [
    "I'm sorry, I can't evaluate this content.",
    "score: I would rather not say",
    "<think>0 or 1?</think>",
    FakeReply(None, message={"refusal": "I cannot judge this."}),
    Status(400, {"error": {"message": "too long", "code": "context_length_exceeded"}}),
]


@pytest.mark.parametrize("judge", ["independent", "batched"])
@pytest.mark.parametrize("refusal", REFUSALS, ids=range(len(REFUSALS)))
def test_case_060_an_error_of_the_judge_is_a_third_state_and_does_not_stick(
    project, refusal, judge
):
    project.write_suite(
        tasks=write_rows(make_rows(5)), options=f"{{eval_model: m, judge: {judge}, concurrency: 1}}"
    )

    def respond(request):
        if request.schema_name is None:
            return "ok"
        if "Question 2" in request.user:
            return refusal
        verdict = {"number": 1, "reason": "so", "score": int("Question 3" not in request.user)}
        return {"verdicts": [verdict]} if judge == "batched" else verdict

    server = project.serve(respond)

    done = project.run(server, "eval", "run")

    assert 3 == done.code, done.output
    assert "Tasks    5: 3 passed, 1 failed, 1 errored, 0 skipped" in done.stdout
    assert "Verdicts 3 met, 1 unmet, 1 unusable" in done.stdout
    errors, _, not_met = done.stdout.partition("Not met")
    assert "task_2 · right [builtin.task_adherence]: the judge" in errors
    assert "task_2" not in not_met
    (folder,) = (project.folder / ".azure/.foundry/runs").iterdir()
    trials = project.trials(folder.relative_to(project.folder).as_posix())
    found = [trials[f"task_{n}"]["turns"][0]["scores"][0]["verdicts"][0] for n in range(5)]
    assert ["met", "met", "unusable", "unmet", "met"] == [each["verdict"] for each in found]
    raw = refusal if isinstance(refusal, str) else ""
    assert raw in str(found[2].get("raw"))


KNOWN = {
    '"false"': 0, '"False"': 0, '"no"': 0, '"0"': 0, "false": 0, "0.0": 0,
    '"true"': 1, '"Yes"': 1, '"1"': 1, "true": 1, "1.0": 1,
}  # fmt: skip


@pytest.mark.parametrize(("score", "wanted"), KNOWN.items(), ids=KNOWN)
def test_case_051_known_spellings_count_as_what_they_say(project, score, wanted):
    project.write_suite(tasks=write_rows(make_rows(1)))
    server = project.serve(
        lambda request: f'{{"score": {score}, "reason": "so"}}' if request.schema_name else "ok"
    )

    assert (wanted, 2) == (project.evaluate().score, len(server.calls))


LIMITS = ["max_tokens", "max_completion_tokens"]
CUT = {
    "in the reason": '{"score": 1, "reason": "The reply is pol',
    "after the score": '{"reason": "x", "score": 1',
    "before the first word": "",
}


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("text", CUT.values(), ids=CUT)
@pytest.mark.parametrize("recovers", [True, False])
def test_case_054_a_verdict_cut_off_is_asked_for_with_twice_the_limit(
    project, limit, text, recovers
):
    project.write_suite(tasks=write_rows(make_rows(1)))
    config = project.read("eval.yaml") + f"models: {{m: {{parameters: {{{limit}: 40}}}}}}\n"
    project.write("eval.yaml", config)

    def respond(request):
        if request.schema_name is None:
            return "Good day."
        if recovers and request.body[limit] > 40:
            return {"reason": "so", "score": 1}
        return FakeReply(text, "length")

    server = project.serve(respond)

    run = project.evaluate()

    assert [40, 80] == [call.body[limit] for call in server.calls if call.schema_name]
    (verdict,) = project.trials(run.run_dir)["task_0"]["turns"][0]["scores"][0]["verdicts"]
    if recovers:
        assert (1.0, "met") == (run.score, verdict["verdict"])
    else:
        assert (None, "unusable") == (run.score, verdict["verdict"])
        assert "token limit" in verdict["reason"] or "limit of 80 tokens" in verdict["reason"]


@pytest.mark.parametrize("schema", ["instructions", "blueprint", "tasks"])
def test_case_054_the_other_roles_ask_with_twice_the_limit_too(project, schema):
    config = "models: {m: {parameters: {max_tokens: 400}}}\n"
    project.write_suite()
    project.write("eval.yaml", project.read("eval.yaml") + config)
    world = support_world()

    def respond(request):
        if request.schema_name == schema and request.body["max_tokens"] <= 400:
            return FakeReply('{"rationale": "a', "length")
        return world(request)

    server = project.serve(respond)
    if schema == "instructions":
        assert 1.0 == project.optimize(max_iterations=1).best.score
    else:
        done = project.run(server, *"eval init --force -m m --max-samples 2 -g".split(), "Refunds.")
        assert 0 == done.code, done.output

    assert [400, 800] == [
        call.body["max_tokens"] for call in server.calls if call.schema_name == schema
    ]


def test_case_058_the_content_filter_stops_one_verdict_only(project):
    project.write_suite(tasks=write_rows(make_rows(5)))
    refusal = {"error": {"message": "filtered", "code": "content_filter"}}

    def respond(request):
        if request.schema_name and "Question 2" in request.user:
            return Status(400, refusal)
        return judge_by_name()(request)

    server = project.serve(respond)

    run = project.evaluate()

    assert (4, 1) == (run.tasks.passed, run.tasks.errored)
    assert 10 == len(server.calls)
    (verdict,) = project.trials(run.run_dir)["task_2"]["turns"][0]["scores"][0]["verdicts"]
    assert "content_filter" == verdict["error_code"]


def test_case_062_backticks_inside_a_reason_stay_there(project):
    reason = "uses ```json fences\n```\nand {braces}"
    project.write_suite(tasks=write_rows(make_rows(1)))
    text = f"```json\n{json.dumps({'reason': reason, 'score': 1})}\n```"
    project.serve(lambda request: text if request.schema_name else RULE)

    run = project.evaluate()

    (verdict,) = project.trials(run.run_dir)["task_0"]["turns"][0]["scores"][0]["verdicts"]
    assert (reason, 1.0) == (verdict["reason"], run.score)


VERDICT = {"name": "verdict", "arguments": '{"reason": "so", "score": 1}'}
CALLS = {
    "tool_calls": [{"id": "1", "type": "function", "function": VERDICT}],
    "function_call": VERDICT,
}


@pytest.mark.parametrize(("kind", "call"), CALLS.items())
def test_a_verdict_given_as_a_call_of_a_function_is_read_and_kept(project, kind, call):
    project.write_suite(tasks=write_rows(make_rows(1)))
    verdict = FakeReply(None, kind, message={kind: call})
    server = project.serve(lambda request: verdict if request.schema_name else "ok")

    runs = [project.evaluate() for _ in range(2)]

    assert ([1.0, 1.0], 2) == ([run.score for run in runs], len(server.calls))
