"""What servers refuse in a request, and the same request without it.

Each line of the table is tried at most once for a request; what helped is remembered by the model.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from azd_eval.providers.endpoint import TOKEN_LIMITS
from azd_eval.providers.refusals import Refusal

Body = Mapping[str, Any]

_STATUSES = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_IMPLEMENTED)
_UNSUPPORTED = (
    r"unsupported|unrecogni[sz]ed|unknown|extra|forbidden|deprecated|unexpected|cannot|fixed at|"
    r"not (?:be )?(?:support|permit|allow|available|enabled|implemented|recogni[sz]ed)|"
    r"n't support|only (?:\S+ ){1,9}?(?:support|permit|allow)|only be set|invalid param"
)
_FORMAT = (
    r"response[_ ]?(?:format|schema|mime)|json[_ ](?:schema|object)|json mode|structured.?output|"
    r"grammar"
)
_NEEDED = ("model", "messages", "response_format", *TOKEN_LIMITS)
_SHORTEST_NAME = 6
_NAMING = r"(?:^|['\"`\[]|: |(?:param|arg|field|key|property|name)\w* )"


@dataclass(frozen=True, slots=True)
class Adaptation:
    """One thing that a server may refuse. All patterns of `signs` are found in its words."""

    note: str
    signs: tuple[str, ...]
    rewrite: Callable[[Body], Body] = field(compare=False)


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
    optional = (_leave_out(name) for name in body if name not in _NEEDED)
    for adaptation in (*optional, *ADAPTATIONS):
        if (
            adaptation not in known
            and all(re.search(sign, said, re.IGNORECASE) for sign in adaptation.signs)
            and adaptation.rewrite(body) != body
        ):
            return adaptation
    return None


def _leave_out(name: str) -> Adaptation:
    spelled = re.escape(name).replace("_", "_?")
    # Short names are words, too: `stop`, `user`, `n`. They count where they are meant as names.
    before = "" if len(name) >= _SHORTEST_NAME or "_" in name else _NAMING
    sign = rf"{before}\b{spelled}\b"
    return Adaptation(
        f"sent without `{name}`, which it refuses", (sign, _UNSUPPORTED), _without(name)
    )


def _without(name: str) -> Callable[[Body], Body]:
    return lambda body: {key: value for key, value in body.items() if key != name}


def _swap_token_limit(body: Body) -> Body:
    names = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
    return {names.get(key, key): value for key, value in body.items()}


def _loosen_schema(body: Body) -> Body:
    match body:
        case {"response_format": {"type": "json_schema"}}:
            return {**body, "response_format": {"type": "json_object"}}
    return body


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
    Adaptation(
        "the token limit is sent under its other name",
        ("max_?(?:completion_?)?tokens", _UNSUPPORTED),
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
