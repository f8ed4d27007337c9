"""Ask a chat model for JSON: unwrap what it wrote, check it strictly, ask once more if need be.

Knows nothing of judging or drafting: callers hand in `read`, which turns one JSON value into what
they want, or raises `ValueError` with a sentence that the model can act on.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from azd_eval.domain.chat import ChatReply, ChatRequest, Message
from azd_eval.domain.ports import ChatModel
from azd_eval.errors import ModelError

T = TypeVar("T")

_MARK = re.compile(r'<(?P<thought>/?)think(?:ing)?>|\{(?=\s*["}])|\[', re.IGNORECASE)
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_OBJECT_START = re.compile(r'\{\s*"')
_MOST_TRIES = 1000


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice in one JSON object")
    return value


# Models write line breaks inside strings as they are; that leaves no doubt about what is meant.
_SHOWN_CHARACTERS = 100
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, strict=False)


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What came of a question: `value`, or `fault` and the raw text of the last try."""

    value: T | None
    fault: str | None
    raw: str


def json_values(text: str) -> list[Any]:
    """Find the JSON objects and arrays of a text, outermost only, in order.

    Prose, Markdown fences and thoughts around them are passed over; braces and tags inside strings
    do not count. Raises `ValueError` at an object that is cut off or malformed: what stands inside
    or after it may be a quotation, and nothing is repaired.
    """
    values: list[Any] = []
    position = tries = 0
    while mark := _MARK.search(text, position):
        position = mark.end()
        if mark["thought"] is None:
            # Each may take as long as the rest of the text.
            if (tries := tries + 1) > _MOST_TRIES:
                raise ValueError(f"more than {_MOST_TRIES} pieces of JSON, or brackets in prose")
            if decoded := _decode(text, mark.start()):
                values.append(decoded[0])
                position = decoded[1]
        elif mark["thought"]:
            # An end without a beginning: the server cut the tag that began the thought.
            values.clear()
        else:
            end = _THOUGHT_END.search(text, position)
            position = end.end() if end else len(text)
    return values


def _decode(text: str, start: int) -> tuple[Any, int] | None:
    """Decode the value at `start`; None when that is no JSON but a bracket in prose."""
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        if _OBJECT_START.search(text, start, error.pos + 1):
            raise ValueError(f"the JSON is cut off or malformed: {error.msg}") from error
        return None
    except RecursionError as error:
        raise ValueError("the JSON is nested too deep") from error


def read_reply(text: str, read: Callable[[Any], T]) -> T:
    """Find the one JSON value of a reply that `read` accepts.

    Raises `ValueError` when there is none, or when several differ: nobody knows which is meant.
    """
    accepted: list[T] = []
    excerpt = " ".join(text.split())[:_SHOWN_CHARACTERS]
    fault = f"no JSON object in the answer {excerpt!r}" if excerpt else "the answer is empty"
    for value in json_values(text):
        try:
            accepted.append(read(value))
        except ValueError as error:
            fault = str(error)
    if not accepted:
        raise ValueError(fault)
    if any(other != accepted[0] for other in accepted[1:]):
        raise ValueError("several different JSON answers in one reply")
    return accepted[0]


async def ask(model: ChatModel, request: ChatRequest, read: Callable[[Any], T]) -> Answer[T]:
    """Ask, read strictly, and on an unreadable answer ask once more with the fault named.

    What was cut off is asked for with twice the tokens. Raises `ModelError` as the model does.
    """
    try:
        reply = await model.complete(request)
    except ModelError as error:
        if error.code != "cut_off":
            raise
        return _read(await model.complete(replace(request, token_factor=2)), read)
    first = _read(reply, read)
    if first.fault is None:
        return first
    return _read(await model.complete(_word_repair(request, reply, first.fault)), read)


def _word_repair(request: ChatRequest, reply: ChatReply, fault: str) -> ChatRequest:
    repair = (
        f"That answer could not be used: {fault}. "
        "Answer again, with the JSON object only, complete and without any text around it."
    )
    messages = (*request.messages, Message("assistant", reply.text), Message("user", repair))
    factor = 2 if reply.finish_reason == "length" else 1
    return replace(request, messages=messages, token_factor=factor)


def _read(reply: ChatReply, read: Callable[[Any], T]) -> Answer[T]:
    try:
        return Answer(read_reply(reply.text, read), None, reply.text)
    except ValueError as error:
        fault = str(error)
    if reply.finish_reason == "length":
        fault = f"cut off at the token limit after {reply.output_tokens} tokens ({fault})"
    return Answer(None, fault, reply.text)
