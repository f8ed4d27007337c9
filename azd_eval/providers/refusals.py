"""What a server says in place of an answer, and which `ModelError` that is."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from azd_eval.errors import ModelError, ModelErrorCode
from azd_eval.providers.endpoint import Endpoint

LONGEST_SENTENCE = 300
_LONGEST_HEADER = 100

# A limit that is lifted only after this time is no rate limit: the quota is used up.
HOPELESS_WAIT_S = 3600.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer with an error status.

    `sentence` is the server's own, short and on one line; `codes` all error codes it gave, in lower
    case; `param` the parameter it complains about. `retry_after` is in seconds.
    """

    status: int
    sentence: str
    codes: str = ""
    param: str = ""
    retry_after: float | None = None


def read_refusal(
    status: int, headers: Mapping[str, str], text: str, now: datetime | None = None
) -> Refusal:
    """Read an error answer of any OpenAI-compatible server: JSON in several shapes, text, HTML."""
    fields = _error_fields(text)
    sentence = _sentence(fields)
    inner = fields.get("innererror")
    codes = [fields.get("code"), fields.get("type"), fields.get("status")]
    codes += [inner.get("code")] if isinstance(inner, Mapping) else []
    return Refusal(
        status=status,
        sentence=sentence,
        codes=" ".join(str(code) for code in codes if code).lower(),
        param=str(fields.get("param") or ""),
        retry_after=read_retry_after(headers, sentence, now or datetime.now(UTC)),
    )


def _error_fields(text: str) -> Mapping[str, Any]:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        is_markup = text.lstrip().startswith("<")
        return {"message": re.sub(r"<[^<>]*>", " ", text) if is_markup else text}
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict):
        body = body.get("error") or body
    if isinstance(body, dict):
        return body
    return {"message": body if isinstance(body, str) else text}


def _sentence(fields: Mapping[str, Any]) -> str:
    said = fields.get("message") or fields.get("detail") or fields.get("message", fields)
    text = said if isinstance(said, str) else json.dumps(said)
    return " ".join(text.split(maxsplit=LONGEST_SENTENCE))[:LONGEST_SENTENCE] or "(no text)"


_UNITS = {
    name: seconds
    for names, seconds in (
        ("ns", 1e-9),
        ("us µs", 1e-6),
        ("ms millisecond", 1e-3),
        ("s sec second", 1.0),
        ("m min minute", 60.0),
        ("h hour", 3600.0),
        ("d day", 86400.0),
    )
    for name in names.split()
}
_PART = rf"(\d+(?:\.\d+)?)\s*({'|'.join(sorted(_UNITS, key=len, reverse=True))})s?(?![a-z])"
_DURATION = rf"(?:{_PART}[\s,]*(?:and\s+)?)+"
_IN_SENTENCE = re.compile(
    rf"(?:(?:try again|retry)\s+(?:in|after)|wait(?:\s+for)?)\s+(?P<wait>{_DURATION})",
    re.IGNORECASE,
)

# Numbers beyond these are no durations but dates: seconds, or milliseconds, since 1970.
_EPOCH_S = 1e9
_EPOCH_MS = 1e12


def read_retry_after(headers: Mapping[str, str], sentence: str, now: datetime) -> float | None:
    """Find how many seconds a server asks to wait, in any of the forms in use.

    `retry-after-ms`, `x-ms-retry-after-ms`, `retry-after` (seconds, duration or HTTP date), the
    words of the error, and the limit that is used up according to `x-ratelimit-reset-*`.
    """
    known = {name.lower(): value.strip()[:_LONGEST_HEADER] for name, value in headers.items()}
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        if (wait := _number(known.get(name, ""))) is not None:
            return wait / 1000
    if (wait := _seconds(known.get("retry-after", ""), now)) is not None:
        return wait
    if said := _IN_SENTENCE.search(sentence):
        return _add_up(said["wait"])
    return _reset(known, now)


def _reset(headers: Mapping[str, str], now: datetime) -> float | None:
    used_up: list[float] = []
    others: list[float] = []
    for what in ("requests", "tokens"):
        wait = _seconds(headers.get(f"x-ratelimit-reset-{what}", ""), now)
        if wait is not None:
            is_used_up = headers.get(f"x-ratelimit-remaining-{what}") == "0"
            (used_up if is_used_up else others).append(wait)
    return max(used_up, default=min(others, default=None))


def _seconds(text: str, now: datetime) -> float | None:
    if (number := _number(text)) is not None:
        if number < _EPOCH_S:
            return number
        date = number / 1000 if number > _EPOCH_MS else number
        return max(0.0, date - now.timestamp())
    if re.fullmatch(_DURATION, text, re.IGNORECASE):
        return _add_up(text)
    try:
        date_of_http = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    aware = date_of_http if date_of_http.tzinfo else date_of_http.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())


def _add_up(duration: str) -> float:
    parts = re.findall(_PART, duration.lower())
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


_BY_WORDS: tuple[tuple[str, ModelErrorCode], ...] = (
    (r"content_filter|content_policy|responsibleaipolicy|content management", "content_filter"),
    (r"context_length|maximum context|context window|too many tokens|too long", "too_long"),
    (r"insufficient_quota|exceeded_current_quota|billing_(hard|soft)_limit", "no_credit"),
    (r"insufficient[_ ](funds|balance|credit)|credit balance|out of credit", "no_credit"),
    (r"any credits|key limit exceeded|arrearage", "no_credit"),
    (r"model_not_found|deploymentnotfound|model not exist|not a valid model", "not_found"),
    (r"json_validate_failed", "unreadable_reply"),
)
_BY_STATUS: dict[int, ModelErrorCode] = {
    HTTPStatus.UNAUTHORIZED: "wrong_key",
    HTTPStatus.PAYMENT_REQUIRED: "no_credit",
    HTTPStatus.FORBIDDEN: "wrong_key",
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.REQUEST_TIMEOUT: "server_error",
    HTTPStatus.CONFLICT: "server_error",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too_long",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limited",
}
_QUOTA_SENTENCE = re.compile(r"exceeded your current quota", re.IGNORECASE)
_NO_QUOTA = re.compile(r"\bquota\b.*\blimit: 0\b", re.IGNORECASE | re.DOTALL)


def error_code(refusal: Refusal) -> ModelErrorCode:
    """Decide what kind of failure an error answer is."""
    if refusal.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "server_error"
    said = _said(refusal)
    for words, code in _BY_WORDS:
        if re.search(words, said, re.IGNORECASE):
            return code
    wait = refusal.retry_after
    # With a short wait this sentence is a rate limit: Gemini says it of the quota of a minute. Of a
    # quota that there is not at all it says `limit: 0`, whatever the wait.
    is_spent = wait >= HOPELESS_WAIT_S if wait is not None else _QUOTA_SENTENCE.search(said)
    is_spent = is_spent or _NO_QUOTA.search(said)
    if refusal.status == HTTPStatus.TOO_MANY_REQUESTS and is_spent:
        return "no_credit"
    return _BY_STATUS.get(refusal.status, "refused_request")


def _said(refusal: Refusal) -> str:
    return f"{refusal.codes} {refusal.sentence}"


def model_error(refusal: Refusal, endpoint: Endpoint) -> ModelError:
    """Put an error answer into words: what failed where, the server's sentence, the cure."""
    code = error_code(refusal)
    hint: str | None
    if code == "wrong_key":
        what, hint = _explain_wrong_key(endpoint)
    elif code == "not_found":
        what, hint = _explain_not_found(refusal, endpoint)
    else:
        what, hint = _WORDS.get(code, ("failed", None))
    if code == "no_credit" and refusal.retry_after:
        what = f"{what}, to wait {refusal.retry_after:.0f} s is asked"
    return ModelError(
        f"{endpoint.place}: {what} ({refusal.status}): {endpoint.redact(refusal.sentence)}",
        code=code,
        retry_after=refusal.retry_after,
        hint=hint,
    )


_WORDS: dict[ModelErrorCode, tuple[str, str | None]] = {
    "no_credit": ("no credit or quota left", "add credit or use another key"),
    "rate_limited": ("rate limited", "set `max_rpm` and `max_tpm` of the model in eval.yaml"),
    "content_filter": ("the content filter blocked the request", None),
    "too_long": ("the request is too long", None),
    "refused_request": ("refused the request", None),
}


def _explain_wrong_key(endpoint: Endpoint) -> tuple[str, str]:
    if endpoint.token:
        role = "`Cognitive Services OpenAI User`"
        return "your Azure sign-in was refused", f"it needs the role {role} on the resource"
    if endpoint.api_key is None:
        wanted = f"`{endpoint.key_name}`" if endpoint.key_name else "`api_key_env` of the model"
        return "wants a key and none was sent", f"set {wanted}"
    return (
        f"the key in `{endpoint.key_name}` was refused",
        f"check the key in `{endpoint.key_name}`",
    )


def _explain_not_found(refusal: Refusal, endpoint: Endpoint) -> tuple[str, str]:
    is_name = re.search(r"\bmodel\b|model_not_found|deployment", _said(refusal), re.IGNORECASE)
    if endpoint.kind != "azure":
        if is_name:
            return "no such model", "check the name of the model"
        return "nothing answers here", "check the base URL; most end in `/v1`"
    if is_name:
        return "no such deployment", "Azure wants the name of the deployment, not of its model"
    version = endpoint.api_version or "none: the undated v1 API is used"
    return "nothing answers here", f"check the endpoint and the API version ({version})"
