"""What servers refuse in a request, in the words of many providers: asked otherwise, once."""

import json
from dataclasses import replace

import pytest

from azd_eval.domain.chat import ChatRequest, Message, ReplySchema
from azd_eval.errors import ModelError
from azd_eval.prompts import template
from azd_eval.providers.endpoint import Endpoint
from azd_eval.providers.openai import OpenAIModel
from tests.fake_openai import Status
from tests.personas import support_world
from tests.reliability.projects import make_rows, write_rows

OPTIONAL = {
    "temperature": 0.5,
    "top_p": 0.9,
    "top_k": 40,
    "seed": 7,
    "n": 1,
    "stop": ["END"],
    "user": "me",
    "presence_penalty": 0.1,
    "frequency_penalty": 0.1,
    "logit_bias": {},
    "logprobs": True,
    "top_logprobs": 2,
    "reasoning_effort": "low",
    "verbosity": "low",
    "parallel_tool_calls": False,
    "service_tier": "flex",
    "store": False,
    "metadata": {"a": "b"},
}


def refuse(message, status=400, **fields):
    return Status(status, {"error": {"message": message, **fields}})


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


REFUSALS = {
    "openai, value": lambda name: refuse(
        f"Unsupported value: '{name}' does not support 0 with this model. Only the default (1) "
        "value is supported.",
        param=name,
        code="unsupported_value",
    ),
    "openai, code null": lambda name: refuse(
        f"Unsupported value: '{name}' does not support 0 with this model.", param=name, code=None
    ),
    "openai, param null": lambda name: refuse(
        f"Unsupported parameter: '{name}' is not supported with this model.",
        param=None,
        code="unsupported_parameter",
    ),
    "openai, early": lambda name: refuse(
        f"This model has beta-limitations: '{name}' is fixed at 1.", param=name
    ),
    "openai, unknown": lambda name: refuse(f"Unknown parameter: '{name}'.", param=name),
    "azure": lambda name: refuse(f"Unrecognized request argument supplied: {name}"),
    "groq": lambda name: refuse(f"property '{name}' is unsupported"),
    "xai": lambda name: refuse(f"Argument not supported on this model: {camel(name)}"),
    "mistral": lambda name: Status(
        422,
        {
            "detail": [
                {
                    "type": "extra_forbidden",
                    "loc": ["body", name],
                    "msg": "Extra inputs are not permitted",
                }
            ]
        },
    ),
    "gemini": lambda name: Status(
        400,
        json.dumps(
            [
                {
                    "error": {
                        "code": 400,
                        "message": f'Invalid JSON payload received. Unknown name "{name}": '
                        "Cannot find field.",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ]
        ),
    ),
    "litellm": lambda name: refuse(
        f"litellm.UnsupportedParamsError: o1 does not support parameters: ['{name}']"
    ),
    "anthropic": lambda name: refuse(f"`{name}` may only be set to 1 when thinking is enabled."),
    "bedrock": lambda name: refuse(f"extraneous key [{name}] is not permitted"),
    "kimi": lambda name: refuse(f"invalid '{name}': only 1 is allowed for this model"),
    "text": lambda name: Status(400, f"parameter {name} isn't supported by this server"),
    "not implemented": lambda name: refuse(f"'{name}' is not implemented", status=501),
}


def ask(text="hi", schema=None, **parameters):
    return ChatRequest((Message("user", text),), "agent", schema, parameters)


async def complete(model, *requests):
    try:
        return [await model.complete(request) for request in requests]
    finally:
        await model.aclose()


@pytest.mark.parametrize("words", REFUSALS.values(), ids=REFUSALS)
async def test_case_063_any_parameter_may_be_refused_in_any_words(fake_openai, words):
    def respond(request):
        return words(request.model) if request.model in request.body else "ok"

    server = fake_openai(respond)

    for name in OPTIONAL:
        server.calls.clear()
        model = OpenAIModel(Endpoint(name, name, server.base_url, parameters=OPTIONAL))
        replies = await complete(model, ask("one"), ask("two"))

        assert [name in call.body for call in server.calls] == [True, False, False]
        assert OPTIONAL.keys() - {name} == server.calls[-1].body.keys() - {"model", "messages"}
        assert [1, 0] == [reply.retries for reply in replies]
        assert (f"{name}: sent without `{name}`, which it refuses",) == model.adaptations


@pytest.mark.parametrize(
    "words",
    [
        "Invalid value for '{}': expected a number.",
        "Invalid type for '{}': got a string.",
        "Invalid value: 'hihg'. Supported values are: 'low' and 'high'.",
        "{} must be at most 2",
        "the prompt is not supported here",
    ],
)
async def test_case_063_a_wrong_value_is_told_and_not_left_out(fake_openai, words):
    server = fake_openai(lambda request: refuse(words.format(request.model)))

    for name in OPTIONAL:
        server.calls.clear()
        with pytest.raises(ModelError, match="refused the request"):
            await complete(OpenAIModel(Endpoint(name, name, server.base_url)), ask(**OPTIONAL))

        assert 1 == len(server.calls)


@pytest.fixture
def work(project):
    """Do all that asks models, against a server that refuses some bodies; gives calls and notes."""

    def work(refuse_body, parameters=""):
        project.write_suite(tasks=write_rows(make_rows(2)), options="{eval_model: m}")
        with (project.folder / "eval.yaml").open("a", encoding="utf-8") as file:
            file.write(f"models: {{m: {{parameters: {{{parameters}}}}}}}\n")
        server = project.serve(refusing(refuse_body))
        done = []
        for start in (
            lambda: project.evaluate(cache=False, concurrency=1).notes,
            lambda: project.optimize(cache=False, concurrency=1, max_iterations=1).notes,
            lambda: project.run(server, *INIT.split()).json["notes"],
        ):
            server.calls.clear()
            notes = start()
            done.append((list(server.calls), [note for note in notes if note.startswith("m: ")]))
        return done

    return work


INIT = "eval init -m m -g Refunds. --max-samples 3 --force --json"


WANTED = {
    template("judge.md"): "verdict",
    template("reflect.md"): "instructions",
    template("draft_blueprint.md"): "blueprint",
    template("draft_tasks.md"): "tasks",
}


def refusing(refuse_body):
    """Make a support world that refuses some bodies; it knows its roles without a schema, too."""
    world = support_world()

    def respond(request):
        if fault := refuse_body(request.body):
            return fault
        if (name := WANTED.get(request.system)) and not request.schema_name:
            schema = {"name": name, "schema": {"properties": {"score": {"enum": [0, 1]}}}}
            wanted = {"type": "json_schema", "json_schema": schema}
            request = replace(request, body={**request.body, "response_format": wanted})
        return world(request)

    return respond


def find_refused(calls, refuse_body):
    return [number for number, call in enumerate(calls) if refuse_body(call.body)]


@pytest.mark.parametrize("name", ["temperature", "seed", "reasoning_effort"])
def test_case_063_each_command_drops_it_once_in_all_roles_and_says_so(work, name):
    def refuse_body(body):
        return REFUSALS["openai, value"](name) if name in body else None

    for calls, notes in work(refuse_body, f"{name}: 0.5"):
        assert [0] == find_refused(calls, refuse_body)
        assert [f"m: sent without `{name}`, which it refuses"] == notes


def test_case_063_only_the_judge_is_given_a_temperature_that_nobody_set(work):
    for calls, notes in work(lambda body: None):
        for call in calls:
            is_judge = call.schema_name == "verdict"
            assert (0 if is_judge else None) == call.body.get("temperature")
            assert not OPTIONAL.keys() - {"temperature"} & call.body.keys()
        assert [] == notes


LIMITS = ("max_tokens", "max_completion_tokens")
SWAPPED = dict(zip(LIMITS, LIMITS[::-1], strict=True))


@pytest.mark.parametrize("name", LIMITS)
def test_case_064_each_command_swaps_the_name_once_in_all_roles(work, name):
    def refuse_body(body):
        return REFUSALS["openai, param null"](name) if name in body else None

    for calls, notes in work(refuse_body, f"{name}: 900"):
        assert [0] == find_refused(calls, refuse_body)
        assert [{name}, {SWAPPED[name]}] == [set(LIMITS) & call.body.keys() for call in calls[:2]]
        assert {900} == {call.body[SWAPPED[name]] for call in calls[1:]}
        assert ["m: the token limit is sent under its other name"] == notes


@pytest.mark.parametrize("words", REFUSALS.values(), ids=REFUSALS)
@pytest.mark.parametrize("name", LIMITS)
async def test_case_064_the_limit_may_be_refused_in_any_words(fake_openai, name, words):
    server = fake_openai(lambda request: words(name) if name in request.body else "ok")

    await complete(OpenAIModel(Endpoint("m", "m", server.base_url)), *[ask(**{name: 5})] * 2)

    sent = [{limit: call.body.get(limit) for limit in LIMITS} for call in server.calls]
    assert [{name: 5, SWAPPED[name]: None}, *[{name: None, SWAPPED[name]: 5}] * 2] == sent


@pytest.mark.parametrize(
    ("of_model", "of_agent", "sent"),
    [
        ({"max_tokens": 9}, {}, {"max_tokens": 9}),
        ({"max_tokens": 9}, {"max_tokens": 5}, {"max_tokens": 5}),
        ({"max_tokens": 9}, {"max_completion_tokens": 5}, {"max_completion_tokens": 5}),
        ({"max_completion_tokens": 9}, {"max_tokens": 5}, {"max_tokens": 5}),
        (dict.fromkeys(LIMITS, 9), {"max_tokens": 5}, {"max_tokens": 5}),
        ({"max_tokens": 9, "max_completion_tokens": 8}, {}, {"max_completion_tokens": 8}),
        ({}, {"max_tokens": 9, "max_completion_tokens": 8}, {"max_completion_tokens": 8}),
    ],
)
def test_case_064_one_limit_is_sent_and_the_agents_own_wins(project, of_model, of_agent, sent):
    agent = {"name": "my-agent", "model": "a", "instructions": "Be kind.", "parameters": of_agent}
    project.write_suite(agent=json.dumps(agent))
    with (project.folder / "eval.yaml").open("a", encoding="utf-8") as file:
        file.write(f"models: {json.dumps({'a': {'parameters': of_model}})}\n")
    server = project.serve()

    project.evaluate(limit=1)

    (call,) = [call for call in server.calls if call.model == "a"]
    assert sent == {name: call.body[name] for name in LIMITS if name in call.body}


FORMATS = {
    "case": "model does not support response format {}",
    "feature": "model does not support feature: structured-outputs",
    "openai": "Invalid parameter: 'response_format' of type '{}' is not supported with this model.",
    "openai, schema": "Invalid schema for response_format 'verdict': 'required' is required.",
    "azure": "response_format value as {} is enabled only for api versions 2024-08-01-preview",
    "deepseek": "This response_format type is unavailable now",
    "groq": "This model does not support response format `{}`.",
    "vllm": "Invalid response_format: input should be 'text'",
    "llama.cpp": "Failed to parse grammar",
    "lm studio": "'response_format.type' must be 'text'",
    "gemini": "Unknown name \"additionalProperties\" at 'generation_config.response_schema'",
    "gemini, mime": "Function calling with a response mime type: '{}' is unsupported",
    "words": "JSON mode is not enabled for this model ({})",
    "mistral": "JSON schema is not supported: {}",
}
STEPS = ["json_schema", "json_object", None]


def find_format(body):
    return body.get("response_format", {}).get("type")


@pytest.mark.parametrize("known", STEPS[1:])
@pytest.mark.parametrize("words", FORMATS.values(), ids=FORMATS)
async def test_case_066_steps_down_in_any_words_and_remembers(fake_openai, words, known):
    steps = STEPS[: STEPS.index(known) + 1]

    def respond(request):
        wanted = find_format(request.body)
        return refuse(words.format(wanted)) if wanted in steps[:-1] else "{}"

    server = fake_openai(respond)
    schema = ReplySchema("verdict", {"type": "object"})

    model = OpenAIModel(Endpoint("m", "m", server.base_url))
    await complete(model, ask("one", schema), ask("two", schema))

    assert [*steps, known] == [find_format(call.body) for call in server.calls]


@pytest.mark.parametrize("known", STEPS[1:])
def test_case_066_each_command_steps_down_once_and_reads_what_comes(work, known):
    steps = STEPS[: STEPS.index(known) + 1]

    def refuse_body(body):
        wanted = find_format(body)
        is_refused = wanted in steps[:-1] and wanted is not None
        return refuse(FORMATS["openai"].format(wanted)) if is_refused else None

    for calls, notes in work(refuse_body):
        refused = [find_format(calls[number].body) for number in find_refused(calls, refuse_body)]
        assert steps[:-1] == refused
        assert len(steps) - 1 == len(notes)


def test_case_066_is_remembered_for_one_model_of_a_server_and_not_for_another(project):
    project.write_suite(agent="{name: my-agent, model: a, instructions: Be kind.}")

    def respond(request):
        if request.model == "old" and request.schema_name:
            return refuse("This model does not support response format `json_schema`.")
        return "Good day." if request.model == "a" else {"reason": "it is", "score": 1}

    server = project.serve(respond)

    old = project.evaluate(eval_model="old", concurrency=1)
    new = project.evaluate(eval_model="new", concurrency=1)

    assert [6, 6] == [sum(row.met for row in each.criteria) for each in (old, new)]
    judged = [find_format(call.body) for call in server.calls if call.model == "old"]
    assert ["json_schema", *["json_object"] * 6] == judged
    assert {"json_schema"} == {find_format(c.body) for c in server.calls if c.model == "new"}


@pytest.mark.parametrize("refuses", [True, False])
def test_case_066_what_comes_without_a_schema_is_still_held_to_it(project, refuses):
    project.write_suite(tasks=write_rows(make_rows(1)))

    def respond(request):
        if find_format(request.body) and refuses:
            return refuse("response_format is not supported")
        return "That is a fine reply, I would say: 1 of 1."

    project.serve(respond)

    summary = project.evaluate()

    assert (1, None) == (summary.tasks.errored, summary.score)
    assert 1 == sum(row.unusable for row in summary.criteria)
