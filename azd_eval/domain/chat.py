"""One exchange with a chat model: request, reply, and what it cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Purpose = Literal["agent", "judge", "generator", "optimizer"]
MessageRole = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: MessageRole
    text: str


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """The JSON schema that a structured reply should fit; `name` is what the API shows for it."""

    name: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a chat model is asked.

    `parameters` (temperature, max_tokens …) hold only what somebody set. `token_factor` multiplies
    the limit of tokens, whoever set it. `repeat` tells equal requests apart that must not share a
    cached answer; it is never sent.
    """

    messages: tuple[Message, ...]
    purpose: Purpose
    schema: ReplySchema | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 0
    token_factor: int = 1


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a chat model answered. `retries` counts the failed tries before it."""

    text: str
    finish_reason: str = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    latency_ms: float = 0.0
    retries: int = 0
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """What was spent, over all roles or one.

    `calls` are answered calls that reached a server or an agent, `cached_calls` were answered from
    disk, `retries` failed tries. Tokens are those of `calls`; `cost` is None without a price.
    """

    calls: int = 0
    cached_calls: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    calls_by_role: Mapping[str, int] = field(default_factory=dict)
