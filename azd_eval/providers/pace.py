"""How fast calls may follow each other: the limits per minute that the user sets."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from azd_eval.domain.chat import ChatReply, ChatRequest
from azd_eval.providers.endpoint import TOKEN_LIMITS, merge_parameters

_MINUTE_S = 60.0
_BYTES_PER_TOKEN = 4


@dataclass(slots=True)
class Pace:
    """Spreads calls and tokens evenly over the minute; without limits it knows no wait.

    Evenly, because OpenAI and Azure check a limit per minute over a few seconds, too: a burst would
    be refused. All times are those of one clock, in seconds.
    """

    calls_per_minute: float = math.inf
    tokens_per_minute: float = math.inf
    _next_call_at: float = 0.0
    _next_token_at: float = 0.0

    def tighten(self, calls: float | None, tokens: float | None) -> None:
        """Keep to these limits, too: of several, the lowest counts."""
        self.calls_per_minute = min(self.calls_per_minute, calls or math.inf)
        self.tokens_per_minute = min(self.tokens_per_minute, tokens or math.inf)

    @property
    def opens_at(self) -> float:
        """When the next call may go."""
        return max(self._next_call_at, self._next_token_at)

    def take(self, tokens: float, now: float) -> None:
        """Let a call of so many tokens go now."""
        self._next_call_at = max(now, self._next_call_at) + _MINUTE_S / self.calls_per_minute
        self._next_token_at = max(now, self._next_token_at)
        self.correct(tokens)

    def correct(self, tokens: float) -> None:
        """Count some tokens more than was taken for a call, or fewer."""
        self._next_token_at += tokens * _MINUTE_S / self.tokens_per_minute


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """What a call will count: its text, and all the output that it may ask for, used or not.

    OpenAI and Azure count output so.
    """

    text: int
    output: int

    @property
    def total(self) -> int:
        return self.text + self.output

    def find_error(self, reply: ChatReply) -> int:
        """Tell how many tokens more an answered call counts; 0 when the server does not say."""
        if not reply.input_tokens:
            return 0
        return reply.input_tokens + max(reply.output_tokens, self.output) - self.total


def estimate_tokens(request: ChatRequest, parameters: Mapping[str, Any]) -> TokenEstimate:
    """Estimate a call; `parameters` are those that the model adds to the request's own."""
    size = sum(len(message.text.encode(errors="replace")) for message in request.messages)
    sent = merge_parameters(parameters, request.parameters)
    limits = [sent[name] for name in TOKEN_LIMITS if isinstance(sent.get(name), int)]
    return TokenEstimate(size // _BYTES_PER_TOKEN, limits[0] if limits else 0)
