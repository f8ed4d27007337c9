"""Chat models of OpenAI, Azure OpenAI, Foundry and every compatible server, by the openai client.

Imported only when such a model is used: the client takes half a second to load.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

import openai

from azd_eval.domain.chat import ChatReply, ChatRequest
from azd_eval.errors import ModelError
from azd_eval.providers.adaptations import Adaptation, Body, apply_adaptations, find_adaptation
from azd_eval.providers.endpoint import TOKEN_LIMITS, Endpoint, merge_parameters
from azd_eval.providers.refusals import Refusal, model_error, read_refusal

CONNECT_TIMEOUT_S = 10.0
_SHOWN_CHARACTERS = 80

# A server that counts more than any model can read does not count.
_MOST_TOKENS = 10**9

# The client insists on a key; a server without keys does not look at it.
_NO_KEY = "no-key"


class OpenAIModel:
    """One model at one endpoint.

    Never retries a failure. What the server refuses by nature (a parameter, a role, a response
    format) is left out from then on. `admit` is asked before anything is sent and may raise
    `ModelError`. Belongs to one event loop and is to be closed in it.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout_s: float = 120.0,
        admit: Callable[[], None] = lambda: None,
    ) -> None:
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._admit = admit
        self._client = _make_client(endpoint, timeout_s)
        self._adaptations: tuple[Adaptation, ...] = ()
        self._was_reached = False

    @property
    def adaptations(self) -> tuple[str, ...]:
        """Say what is asked otherwise than configured, a sentence each."""
        return tuple(f"{self._endpoint.name}: {item.note}" for item in self._adaptations)

    async def complete(self, request: ChatRequest) -> ChatReply:
        started = time.perf_counter()
        body = _make_body(self._endpoint, request)
        applied = self._adaptations
        refused = 0
        while True:
            sent = apply_adaptations(body, applied)
            answer = await self._post(sent)
            if not isinstance(answer, Refusal):
                break
            adaptation = find_adaptation(answer, sent, applied)
            if adaptation is None:
                raise model_error(answer, self._endpoint)
            applied = (*applied, adaptation)
            refused += 1
        new = [item for item in applied if item not in self._adaptations]
        self._adaptations = (*self._adaptations, *new)
        latency_ms = (time.perf_counter() - started) * 1000
        reply = self._read(answer, sent, wants_json=request.schema is not None)
        return replace(reply, latency_ms=latency_ms, retries=refused)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _post(self, body: Body) -> Mapping[str, Any] | Refusal:
        self._admit()
        try:
            # `chat.completions.create` checks each field against its types first, which costs more
            # than all that we do; our body is JSON already, and servers know more fields than it.
            content = await self._client.post(
                "/chat/completions",
                cast_to=bytes,
                body=body,
                options={"security": {"bearer_auth": True}},
            )
        except openai.APIStatusError as error:
            self._was_reached = True
            response = error.response
            return read_refusal(response.status_code, response.headers, response.text)
        except openai.APIConnectionError as error:
            # The cause may quote the header with the key, so it is not shown.
            raise self._explain_silence(error) from None
        except UnicodeEncodeError as error:
            message = f"{self._endpoint.place}: text that cannot be sent: {error.reason}"
            raise ModelError(message, code="refused_request") from error
        self._was_reached = True
        return self._parse(content)

    def _explain_silence(self, error: openai.APIConnectionError) -> ModelError:
        cause = error.__cause__ or error
        # The client may rest on either of two libraries; both have these names.
        is_connected = type(cause).__name__ not in ("ConnectError", "ConnectTimeout")
        self._was_reached |= is_connected
        if is_connected and isinstance(error, openai.APITimeoutError):
            message = f"{self._endpoint.place}: no answer within {self._timeout_s:g} s"
            return ModelError(message, code="timeout")
        why = self._endpoint.redact(str(cause) or type(cause).__name__)
        return ModelError(
            f"{self._endpoint.place}: no connection: {why}",
            code="connection" if self._was_reached else "unreachable",
            hint="check the base URL, the network, and that the server runs",
        )

    def _parse(self, content: bytes) -> Mapping[str, Any] | Refusal:
        try:
            payload = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self._unreadable(content) from error
        if not isinstance(payload, dict):
            raise self._unreadable(content)
        fault = payload.get("error")
        if fault and not payload.get("choices"):
            # Gateways wrap the errors of their providers in a 200.
            code = fault.get("code") if isinstance(fault, dict) else None
            status = code if isinstance(code, int) else 0
            text = content.decode(errors="replace")
            return read_refusal(max(status, HTTPStatus.BAD_REQUEST), {}, text)
        return payload

    def _read(self, payload: Mapping[str, Any], sent: Body, *, wants_json: bool) -> ChatReply:
        try:
            choice = payload["choices"][0]
            text = _read_text(choice["message"])
            finish_reason = choice.get("finish_reason")
            if wants_json and not text and (called := _read_calls(choice["message"])):
                text, finish_reason = called, "stop"
            reply = ChatReply(
                text=self._endpoint.hide_key(
                    text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
                ),
                finish_reason=str(finish_reason or "stop"),
                input_tokens=_read_tokens(payload, "prompt_tokens"),
                output_tokens=_read_tokens(payload, "completion_tokens"),
            )
        except (LookupError, TypeError, AttributeError) as error:
            raise self._unreadable(json.dumps(payload).encode()) from error
        if reply.finish_reason == "content_filter":
            message = f"{self._endpoint.place}: the content filter stopped the reply"
            raise ModelError(message, code="content_filter")
        if reply.finish_reason == "length" and not reply.text.strip():
            limits = (sent[name] for name in TOKEN_LIMITS if name in sent)
            limit = next(limits, reply.output_tokens)
            raise ModelError(
                f"{self._endpoint.place}: the limit of {limit} tokens was reached before any text",
                code="cut_off",
                hint="raise `max_tokens` in `parameters`: thinking counts, too",
            )
        return reply

    def _unreadable(self, content: bytes) -> ModelError:
        start = " ".join(content.decode(errors="replace").split())[:_SHOWN_CHARACTERS]
        message = f"{self._endpoint.place}: not a chat reply: {self._endpoint.redact(start)!r}"
        return ModelError(message, code="unreadable_reply")


def _make_client(endpoint: Endpoint, timeout_s: float) -> openai.AsyncOpenAI:
    timeout = openai.Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s))
    if endpoint.api_version:
        return openai.AsyncAzureOpenAI(
            azure_endpoint=endpoint.base_url,
            api_version=endpoint.api_version,
            api_key=None if endpoint.token else endpoint.api_key or _NO_KEY,
            azure_ad_token_provider=endpoint.token,
            timeout=timeout,
            max_retries=0,
        )
    return openai.AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.token or endpoint.api_key or _NO_KEY,
        timeout=timeout,
        max_retries=0,
    )


def _make_body(endpoint: Endpoint, request: ChatRequest) -> Body:
    parameters = merge_parameters(endpoint.parameters, request.parameters)
    # Replies are read whole.
    parameters.pop("stream", None)
    for name in TOKEN_LIMITS:
        if isinstance(parameters.get(name), int):
            parameters[name] *= request.token_factor
    body: dict[str, Any] = {
        **parameters,
        "model": endpoint.model,
        "messages": [{"role": item.role, "content": item.text} for item in request.messages],
    }
    if request.schema is not None:
        schema = {"name": request.schema.name, "schema": request.schema.body, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _read_text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    # A refusal is what the model answered, so it is judged like any other reply.
    content = content or message.get("refusal") or ""
    if not isinstance(content, str):
        raise TypeError("the content of a reply is text")
    return content


def _read_calls(message: Mapping[str, Any]) -> str:
    """Read what some servers make of JSON that was asked for: the arguments of a function."""
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    calls += [call] if (call := message.get("function_call")) else []
    return "\n".join(str(call.get("arguments") or "") for call in calls)


def _read_tokens(payload: Mapping[str, Any], name: str) -> int:
    usage = payload.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and 0 < count < _MOST_TOKENS else 0
