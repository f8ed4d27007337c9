"""Ask a chat model for JSON: unwrap what it wrote, check it strictly, ask once more if need be.

Knows nothing of judging or drafting: callers hand in `read`, which turns one JSON value into what
they want, or raises `ValueError` with a sentence that the model can act on.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from azd_eval.domain.chat import ChatReply, ChatRequest, Message
from azd_eval.domain.ports import ChatModel

T = TypeVar("T")

_THINKING = re.compile(r"<(think|thinking)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"[{\[]\s*")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice in one JSON object")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What came of a question: `value`, or `fault` and the raw text of the last try."""

    value: T | None
    fault: str | None
    raw: str


def json_values(text: str) -> Iterator[Any]:
    """Yield the JSON objects and arrays of a text, outermost only, in order.

    Prose, Markdown fences and thinking blocks around them are passed over; braces inside strings do
    not count. A value that begins as JSON and breaks off ends the search: what stands inside it was
    not said by itself, and nothing is repaired.
    """
    text = _THOUGHT_END.sub(" ", _THINKING.sub(" ", text))
    position = 0
    while match := _OPENING.search(text, position):
        try:
            value, position = _DECODER.raw_decode(text, match.start())
        except json.JSONDecodeError as error:
            if error.pos > match.end():
                return
            position = match.start() + 1
        except (ValueError, RecursionError):
            return
        else:
            yield value


def read_reply(text: str, read: Callable[[Any], T]) -> T:
    """Find the one JSON value of a reply that `read` accepts.

    Raises `ValueError` when there is none, or when several differ: nobody knows which is meant.
    """
    accepted: list[T] = []
    fault = "no JSON object in the answer"
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

    Raises `ModelError` as the model does.
    """
    reply = await model.complete(request)
    first = _read(reply, read)
    if first.fault is None:
        return first
    repair = (
        f"That answer could not be used: {first.fault}. "
        "Answer again, with the JSON object only, complete and without any text around it."
    )
    again = replace(
        request,
        messages=(
            *request.messages,
            Message("assistant", reply.text),
            Message("user", repair),
        ),
    )
    return _read(await model.complete(again), read)


def _read(reply: ChatReply, read: Callable[[Any], T]) -> Answer[T]:
    try:
        return Answer(read_reply(reply.text, read), None, reply.text)
    except ValueError as error:
        fault = str(error)
    if reply.finish_reason == "length":
        fault = f"cut off at the token limit after {reply.output_tokens} tokens ({fault})"
    return Answer(None, fault, reply.text)
