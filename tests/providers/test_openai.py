"""The real client over real HTTP: every fault, every adaptation, nothing secret in any word."""

import asyncio
import socket
import traceback
from contextlib import ExitStack, suppress

import pytest

from azd_eval.domain.chat import ChatRequest, Message, ReplySchema
from azd_eval.errors import ModelError
from azd_eval.providers.endpoint import Endpoint
from azd_eval.providers.openai import OpenAIModel
from tests.fake_openai import (
    Body,
    CutBody,
    Disconnect,
    FakeOpenAI,
    FakeReply,
    Hang,
    Status,
)

KEY = "sk-test-do-not-show-4711"
VERDICT = ReplySchema("verdict", {"type": "object"})


def ask(text="hi", *, schema=None, **parameters):
    messages = (Message("system", "be kind"), Message("user", text))
    return ChatRequest(messages, "agent", schema, parameters)


async def complete(server, request=None, *, timeout_s=5.0, **fields):
    """Ask once; gives the reply and the notes on adaptations."""
    endpoint = Endpoint(
        **{"name": "m", "model": "m", "base_url": server.base_url, "api_key": KEY, **fields}
    )
    model = OpenAIModel(endpoint, timeout_s=timeout_s)
    try:
        return await model.complete(request or ask()), model.adaptations
    finally:
        await model.aclose()


def refuse(message, **fields):
    return Status(400, {"error": {"message": message, "type": "invalid_request_error", **fields}})


async def test_sends_what_was_asked_and_no_more(fake_openai):
    server = fake_openai(lambda request: "hello")

    reply, notes = await complete(server, ask(temperature=0.5), parameters={"top_p": 0.9})

    assert ("hello", "stop", 10, 5, 0) == (
        reply.text,
        reply.finish_reason,
        reply.input_tokens,
        reply.output_tokens,
        reply.retries,
    )
    assert reply.latency_ms > 0
    assert () == notes
    assert [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": "hi"},
            ],
            "temperature": 0.5,
            "top_p": 0.9,
        }
    ] == [call.body for call in server.calls]
    assert f"Bearer {KEY}" == server.calls[0].headers["authorization"]


async def test_wants_json_of_a_schema(fake_openai):
    server = fake_openai(lambda request: {"score": 1})

    reply, _ = await complete(server, ask(schema=VERDICT))

    assert '{"score": 1}' == reply.text
    assert {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "schema": {"type": "object"}, "strict": True},
    } == server.calls[0].body["response_format"]


@pytest.mark.parametrize(
    ("api_version", "path", "key_header"),
    [
        ("2024-10-21", "/openai/deployments/my%20dep/chat/completions", ("api-key", KEY)),
        (None, "/openai/v1/chat/completions", ("authorization", f"Bearer {KEY}")),
    ],
)
async def test_speaks_both_apis_of_azure(fake_openai, api_version, path, key_header):
    server = fake_openai(lambda request: request.model)
    root = server.root_url
    base_url = root if api_version else f"{root}/openai/v1"

    reply, _ = await complete(
        server, kind="azure", base_url=base_url, model="my dep", api_version=api_version
    )

    call = server.calls[0]
    assert "my dep" == reply.text
    assert path == call.path.replace(" ", "%20")
    assert ({"api-version": api_version} if api_version else {}) == call.query
    assert key_header[1] == call.headers[key_header[0]]


@pytest.mark.parametrize("api_version", ["2024-10-21", None])
async def test_a_token_takes_the_place_of_a_key(fake_openai, api_version):
    async def token():
        return "the-token"

    server = fake_openai(lambda request: "ok")
    base_url = server.root_url if api_version else server.base_url

    await complete(
        server, kind="azure", base_url=base_url, api_key=None, token=token, api_version=api_version
    )

    assert "Bearer the-token" == server.calls[0].headers["authorization"]
    assert "api-key" not in server.calls[0].headers


async def test_a_server_without_keys_needs_none(fake_openai):
    server = fake_openai(lambda request: "ok")

    reply, _ = await complete(server, api_key=None)

    assert "ok" == reply.text


FAULTS = {
    "401": (Status(401, {"error": {"message": f"Incorrect API key: {KEY}"}}), "wrong_key"),
    "403": (Status(403, f"denied for {KEY}"), "wrong_key"),
    "402": (Status(402), "no_credit"),
    "quota": (Status(429, {"error": {"code": "insufficient_quota"}}), "no_credit"),
    "404": (Status(404), "not_found"),
    "429": (Status(429, retry_after=2), "rate_limited"),
    "408": (Status(408), "server_error"),
    "409": (Status(409), "server_error"),
    "500": (Status(500, f"<html>oops {KEY}</html>"), "server_error"),
    "503": (Status(503, ""), "server_error"),
    "filter": (refuse("no", code="content_filter"), "content_filter"),
    "filtered": (FakeReply("half", finish_reason="content_filter"), "content_filter"),
    "long": (refuse("no", code="context_length_exceeded"), "too_long"),
    "400": (refuse("Invalid value for 'n'"), "refused_request"),
    "unprocessable": (Status(422, {"detail": "no"}), "refused_request"),
    "cut body": (CutBody(), "connection"),
    "disconnect": (Disconnect(), "connection"),
    "hang": (Hang(), "timeout"),
    "broken JSON": (Body(), "unreadable_reply"),
    "empty": (Body(""), "unreadable_reply"),
    "HTML": (Body(f"<html>log in {KEY}</html>", "text/html"), "unreadable_reply"),
    "list": (Body("[]"), "unreadable_reply"),
    "null": (Body("null"), "unreadable_reply"),
    "no choices": (Body('{"choices": []}'), "unreadable_reply"),
    "null choices": (Body('{"choices": null}'), "unreadable_reply"),
    "null choice": (Body('{"choices": [null]}'), "unreadable_reply"),
    "no message": (Body('{"choices": [{}]}'), "unreadable_reply"),
    "text as message": (Body('{"choices": [{"message": "hi"}]}'), "unreadable_reply"),
    "content of the wrong type": (
        Body('{"choices": [{"message": {"content": {"a": 1}}}]}'),
        "unreadable_reply",
    ),
    "deep": (Body("[" * 100_000), "unreadable_reply"),
    "wrapped 429": (Body('{"error": {"code": 429, "message": "slow"}}'), "rate_limited"),
    "wrapped error": (Body('{"error": {"message": "no"}}'), "refused_request"),
    "cut off": (FakeReply("", finish_reason="length"), "cut_off"),
    "cut off in thought": (FakeReply(None, finish_reason="length"), "cut_off"),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_every_fault_is_a_model_error_without_the_key(fake_openai, name):
    answer, code = FAULTS[name]
    server = fake_openai(lambda request: answer)

    with pytest.raises(ModelError) as caught:
        await complete(server, timeout_s=0.3 if code == "timeout" else 5)

    assert code == caught.value.code
    assert 1 == len(server.calls)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert KEY not in shown + str(caught.value.hint)


async def test_the_wait_that_the_server_asks_for_is_kept(fake_openai):
    server = fake_openai(lambda request: Status(429, headers={"retry-after-ms": "1500"}))

    with pytest.raises(ModelError) as caught:
        await complete(server)

    assert 1.5 == caught.value.retry_after


async def test_a_port_where_nobody_listens_names_the_address():
    class Nobody:
        base_url = "http://127.0.0.1:9/v1"

    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9") as caught:
        await complete(Nobody())

    assert ("unreachable", True) == (caught.value.code, "base URL" in str(caught.value.hint))


async def test_a_connection_that_nobody_takes_is_no_slow_answer():
    with ExitStack() as opened:
        crowded = opened.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(2):
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(crowded.getsockname())

        class Crowded:
            base_url = f"http://127.0.0.1:{crowded.getsockname()[1]}/v1"

        with pytest.raises(ModelError, match="no connection: ConnectTimeout") as caught:
            await complete(Crowded(), timeout_s=0.3)

    assert "unreachable" == caught.value.code


@pytest.mark.parametrize("answer", ["ok", Status(429), Disconnect()], ids=["ok", "429", "cut"])
async def test_a_server_that_was_reached_before_is_not_unreachable(answer):
    with FakeOpenAI(lambda request: answer) as server:
        model = OpenAIModel(Endpoint("m", "m", server.base_url))
        with suppress(ModelError):
            await model.complete(ask())

    with pytest.raises(ModelError, match="no connection") as caught:
        await model.complete(ask())
    await model.aclose()

    assert "connection" == caught.value.code


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}\0", f"“{KEY}”"])
async def test_a_key_that_is_no_header_is_not_shown_either(fake_openai, key):
    server = fake_openai(lambda request: "ok")

    with pytest.raises(ModelError) as caught:
        await complete(server, api_key=key)

    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("names", [("max_tokens",), ("max_completion_tokens",), ()])
async def test_an_empty_reply_at_the_limit_names_the_limit(fake_openai, names):
    server = fake_openai(lambda request: FakeReply("", finish_reason="length"))

    with pytest.raises(ModelError, match="77 tokens" if names else "5 tokens"):
        await complete(server, ask(**dict.fromkeys(names, 77)))


@pytest.mark.parametrize(
    ("answer", "text", "finish_reason"),
    [
        (FakeReply("half of", finish_reason="length"), "half of", "length"),
        (FakeReply(""), "", "stop"),
        (FakeReply(None), "", "stop"),
        (FakeReply("ok", finish_reason=None), "ok", "stop"),
        (FakeReply("ok", usage=None), "ok", "stop"),
        (FakeReply(None, message={"refusal": "I cannot."}), "I cannot.", "stop"),
        (FakeReply(None, message={"tool_calls": []}, finish_reason="tool_calls"), "", "tool_calls"),
        (
            FakeReply(message={"content": [{"type": "text", "text": "a"}, {"type": "thinking"}]}),
            "a",
            "stop",
        ),
        (FakeReply("half \ud83d smile \ud83d\ude00"), "half \ufffd smile \U0001f600", "stop"),
        (FakeReply("\u2028 \u0000 {braces} ```"), "\u2028 \u0000 {braces} ```", "stop"),
    ],
)
async def test_unusual_replies_are_replies(fake_openai, answer, text, finish_reason):
    server = fake_openai(lambda request: answer)

    reply, _ = await complete(server)

    assert (text, finish_reason) == (reply.text, reply.finish_reason)


async def test_half_a_character_is_refused_and_not_taken_for_a_network_fault(fake_openai):
    server = fake_openai(lambda request: "ok")

    with pytest.raises(ModelError, match="surrogates") as caught:
        await complete(server, ask("smile \ud83d"))

    assert "refused_request" == caught.value.code
    assert [] == server.calls


def temperature_refused(code="unsupported_value", param="temperature"):
    return refuse(
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1)"
        " value is supported.",
        param=param,
        code=code,
    )


def max_tokens_refused(name="max_tokens", other="max_completion_tokens"):
    message = f"Unsupported parameter: '{name}' is not supported with this model. Use '{other}'"
    return refuse(message, param=name, code="unsupported_parameter")


EXTRA = Status(
    422,
    {
        "detail": [
            {"type": "extra_forbidden", "loc": ["body", "max_completion_tokens"], "msg": "Extra"}
        ]
    },
)


@pytest.mark.parametrize(
    ("name", "fault", "changed"),
    [
        ("temperature", temperature_refused(), {}),
        ("temperature", temperature_refused(code=None), {}),
        ("temperature", temperature_refused(param=None), {}),
        ("temperature", refuse("`temperature` is deprecated for this model."), {}),
        ("seed", refuse("Unknown parameter: 'seed'."), {}),
        ("top_p", refuse("'top_p' is not allowed here"), {}),
        ("max_tokens", max_tokens_refused(), {"max_completion_tokens": 1}),
        (
            "max_completion_tokens",
            refuse("Unrecognized request argument supplied: max_completion_tokens"),
            {"max_tokens": 1},
        ),
        ("max_completion_tokens", EXTRA, {"max_tokens": 1}),
    ],
)
async def test_adapts_parameters_and_remembers(fake_openai, name, fault, changed):
    server = fake_openai(lambda request: fault if name in request.body else "ok")
    model = OpenAIModel(Endpoint("m", "m", server.base_url))

    replies = [await model.complete(ask(**{name: 1})) for _ in range(3)]
    await model.aclose()

    sent = [
        {k: v for k, v in c.body.items() if k not in ("model", "messages")} for c in server.calls
    ]
    assert [{name: 1}, changed, changed, changed] == sent
    assert [1, 0, 0] == [reply.retries for reply in replies]
    assert 1 == len(model.adaptations)


@pytest.mark.parametrize(
    "words",
    [
        "Invalid parameter: 'response_format' of type '{}' is not supported with this model.",
        "This model does not support response format `{}`.",
        "{} is enabled only for api versions 2024-08-01-preview and later",
        "This response_format type is unavailable now",
    ],
)
@pytest.mark.parametrize("known", [(), ("json_object",)])
async def test_steps_down_from_schema_to_json_to_words(fake_openai, words, known):
    def respond(request):
        wanted = request.body.get("response_format", {}).get("type")
        return "{}" if wanted in (None, *known) else refuse(words.replace("{}", wanted))

    server = fake_openai(respond)
    model = OpenAIModel(Endpoint("m", "m", server.base_url))

    for _ in range(2):
        await model.complete(ask(schema=VERDICT))
    await model.aclose()

    kinds = [call.body.get("response_format", {}).get("type") for call in server.calls]
    end = "json_object" if known else None
    assert ["json_schema", "json_object", *([] if known else [None]), end] == kinds


async def test_structured_outputs_in_other_words(fake_openai):
    fault = refuse("model does not support feature: structured-outputs")
    server = fake_openai(lambda r: fault if r.schema_name else "{}")

    reply, _ = await complete(server, ask(schema=VERDICT))

    assert "{}" == reply.text


@pytest.mark.parametrize("known_roles", [("developer", "user"), ("user",)])
async def test_instructions_change_their_role_where_system_is_refused(fake_openai, known_roles):
    def respond(request):
        for message in request.body["messages"]:
            if message["role"] not in known_roles:
                return refuse(f"'messages[0].role' does not support '{message['role']}'")
        return "ok"

    server = fake_openai(respond)

    await complete(server)

    first = server.calls[-1].body["messages"][0]
    text = "be kind" if "developer" in known_roles else "be kind\n\nhi"
    assert (known_roles[0], text) == (first["role"], first["content"])


async def test_several_adaptations_for_one_model(fake_openai):
    def respond(request):
        if "temperature" in request.body:
            return temperature_refused()
        if "max_tokens" in request.body:
            return max_tokens_refused()
        return refuse("no json_schema") if request.schema_name else "{}"

    server = fake_openai(respond)
    model = OpenAIModel(Endpoint("m", "m", server.base_url))
    request = ask(schema=VERDICT, temperature=0, max_tokens=9)

    replies = await asyncio.gather(*(model.complete(request) for _ in range(5)))
    again = await model.complete(request)
    await model.aclose()

    assert ["{}"] * 5 == [reply.text for reply in replies]
    assert 0 == again.retries
    assert 3 == len(model.adaptations)


@pytest.mark.parametrize(
    "fault",
    [
        temperature_refused(),
        max_tokens_refused(),
        max_tokens_refused("max_completion_tokens", "max_tokens"),
        refuse("response_format: no"),
        refuse("max_tokens is too large: 9. This model supports at most 5 completion tokens"),
    ],
)
async def test_a_server_that_refuses_for_ever_is_asked_a_few_times_only(fake_openai, fault):
    server = fake_openai(lambda request: fault)
    model = OpenAIModel(Endpoint("m", "m", server.base_url))

    with pytest.raises(ModelError, match="refused the request"):
        await model.complete(ask(schema=VERDICT, temperature=0, max_tokens=9))
    await model.aclose()

    assert len(server.calls) <= 3
    assert () == model.adaptations


async def test_both_names_of_the_token_limit_are_never_sent_together(fake_openai):
    server = fake_openai(lambda request: "ok")

    await complete(server, ask(max_completion_tokens=5), parameters={"max_tokens": 9})

    assert (5, False) == (
        server.calls[0].body["max_completion_tokens"],
        "max_tokens" in server.calls[0].body,
    )


async def test_parameters_reach_neither_model_nor_messages(fake_openai):
    server = fake_openai(lambda request: "ok")

    await complete(server, ask(model="other", messages=[], top_k=3))

    body = server.calls[0].body
    assert ("m", 2, 3) == (body["model"], len(body["messages"]), body["top_k"])


async def test_many_calls_fly_at_once(fake_openai):
    server = fake_openai(lambda request: "ok", latency=0.2)
    model = OpenAIModel(Endpoint("m", "m", server.base_url))

    await asyncio.gather(*(model.complete(ask(str(n))) for n in range(150)))
    await model.aclose()

    assert 150 == server.most_in_flight
