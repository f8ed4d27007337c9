"""The agent that is the user's own Python function."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from azd_eval.domain.ports import CallGate, TargetRequest
from azd_eval.domain.task import Reply
from azd_eval.errors import TargetError
from azd_eval.targets.callables import PythonFunction
from azd_eval.targets.calls import call_function, name_type

_EVIDENCE = ("citations", "diagnostics")


@dataclass(frozen=True, slots=True)
class PythonTarget:
    """Call a function, sync (each call in a thread of its own) or async.

    The function gets what its parameters ask for: `prompt`, `history` (messages with `role` and
    `content`), `instructions`, `context`. It returns text, a mapping with `output`, other JSON data
    (shown as JSON), or yields pieces of text; an awaitable of these will do. Beside `output` may
    stand `citations` and `diagnostics`, for the evaluators that look at them.

    `timeout_s` bounds one call.
    """

    function: PythonFunction
    gate: CallGate
    timeout_s: float

    async def respond(self, request: TargetRequest) -> Reply:
        """Answer one turn."""
        fields = {
            "prompt": request.prompt,
            "history": _messages(request),
            "instructions": request.instructions,
            "context": request.context,
        }
        async with self.gate.slot():
            started = time.perf_counter()
            value = await call_function(self.function, fields, self.timeout_s)
            elapsed_ms = (time.perf_counter() - started) * 1000
        try:
            return Reply(_render(value), latency_ms=elapsed_ms, evidence=_read_evidence(value))
        except (TypeError, ValueError, RecursionError) as error:
            raise TargetError(
                f"`{self.function.name}` returned {name_type(value)}, not a reply: {error}",
                hint="return text, a mapping with `output`, or data that JSON can show",
            ) from error


def _messages(request: TargetRequest) -> list[dict[str, str]]:
    messages = []
    for exchange in request.history:
        messages.append({"role": "user", "content": exchange.prompt})
        messages.append({"role": "assistant", "content": exchange.reply})
    return messages


def _render(value: object) -> str:
    """Turn a result into text: `false` and `0` are answers, `None` is none."""
    if isinstance(value, Mapping) and "output" in value:
        value = value["output"]
    if value is None:
        raise ValueError("there is no text in it")
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, indent=2)
    return _make_encodable(value)


def _read_evidence(value: object) -> dict[str, Any]:
    """Take what stands beside `output`, as JSON can hold it."""
    if not isinstance(value, Mapping) or "output" not in value:
        return {}
    found = {key: value[key] for key in _EVIDENCE if value.get(key) is not None}
    text = json.dumps(found, ensure_ascii=False, allow_nan=False)
    evidence: dict[str, Any] = json.loads(_make_encodable(text))
    return evidence


def _make_encodable(text: str) -> str:
    # Half a surrogate pair can be neither stored nor sent.
    return text.encode("utf-8", "replace").decode("utf-8")
