"""What servers refuse in a request, and the same request without it.

Each line of the table is tried at most once for a request; what helped is remembered by the model.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from azd_eval.providers.refusals import Refusal

Body = Mapping[str, Any]

_STATUSES = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_IMPLEMENTED)
_UNSUPPORTED = (
    r"unsupported|unrecogni[sz]ed|unknown|extra|forbidden|deprecated|unexpected|cannot|"
    r"not (?:be )?(?:support|permit|allow|available|enabled|implemented)|n't support"
)
_FORMAT = r"response[_ ]?format|json_(?:schema|object)|json mode|structured.?output"
_OPTIONAL = ("temperature", "top_p", "presence_penalty", "frequency_penalty", "seed")


@dataclass(frozen=True, slots=True)
class Adaptation:
    """One thing that a server may refuse. All patterns of `signs` are found in its words."""

    note: str
    signs: tuple[str, ...]
    rewrite: Callable[[Body], Body]


def apply_adaptations(body: Body, adaptations: Iterable[Adaptation]) -> Body:
    """Rewrite a request in the order in which the adaptations were found."""
    for adaptation in adaptations:
        body = adaptation.rewrite(body)
    return body


def find_adaptation(
    refusal: Refusal, body: Body, applied: Iterable[Adaptation]
) -> Adaptation | None:
    """Find what answers a refusal of `body` and was not applied to it yet."""
    if refusal.status not in _STATUSES:
        return None
    said = f"{refusal.param} {refusal.codes} {refusal.sentence}"
    known = set(applied)
    for adaptation in ADAPTATIONS:
        if (
            adaptation not in known
            and all(re.search(sign, said, re.IGNORECASE) for sign in adaptation.signs)
            and adaptation.rewrite(body) != body
        ):
            return adaptation
    return None


def _without(name: str) -> Callable[[Body], Body]:
    return lambda body: {key: value for key, value in body.items() if key != name}


def _swap_token_limit(body: Body) -> Body:
    names = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
    return {names.get(key, key): value for key, value in body.items()}


def _loosen_schema(body: Body) -> Body:
    wanted = body.get("response_format", {}).get("type")
    return {**body, "response_format": {"type": "json_object"}} if wanted == "json_schema" else body


def _rename_system(body: Body) -> Body:
    def renamed(message: Body) -> Body:
        return {**message, "role": "developer"} if message["role"] == "system" else message

    return {**body, "messages": [renamed(message) for message in body["messages"]]}


def _fold_system(body: Body) -> Body:
    """Put the system message before the user's own words, where no such role exists."""
    first, *others = body["messages"]
    if first["role"] not in ("system", "developer") or not others:
        return body
    text = f"{first['content']}\n\n{others[0]['content']}"
    return {**body, "messages": [{**others[0], "content": text}, *others[1:]]}


ADAPTATIONS: tuple[Adaptation, ...] = (
    *(
        Adaptation(f"sent without `{name}`, which it refuses", (name, _UNSUPPORTED), _without(name))
        for name in _OPTIONAL
    ),
    Adaptation(
        "the token limit is sent under its other name",
        ("max_(?:completion_)?tokens", _UNSUPPORTED),
        _swap_token_limit,
    ),
    Adaptation("asked for JSON without a schema, which it refuses", (_FORMAT,), _loosen_schema),
    Adaptation(
        "asked for JSON in words only; it knows no `response_format`",
        (_FORMAT,),
        _without("response_format"),
    ),
    Adaptation(
        "instructions are sent with the role `developer`",
        (r"\bsystem\b", _UNSUPPORTED),
        _rename_system,
    ),
    Adaptation(
        "instructions are sent before the user's message; it knows no role for them",
        (r"\bsystem\b|developer", _UNSUPPORTED),
        _fold_system,
    ),
)
