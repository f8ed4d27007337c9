"""What a run has spent, counted where calls happen."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from azd_eval.domain.chat import ChatReply, Usage
from azd_eval.errors import ModelError

Price = tuple[float, float]
TOKENS_PER_PRICE = 1_000_000


@dataclass
class _Tally:
    calls: int = 0
    cached_calls: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class Meter:
    """Counts calls, tries and tokens by role and model."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str], _Tally] = defaultdict(_Tally)

    def count_reply(self, role: str, model: str, reply: ChatReply) -> None:
        """Count an answer; one from the cache costs nothing."""
        tally = self._tallies[role, model]
        if reply.cached:
            tally.cached_calls += 1
            return
        tally.calls += 1
        tally.retries += reply.retries
        tally.input_tokens += reply.input_tokens
        tally.output_tokens += reply.output_tokens

    def count_failure(self, role: str, model: str, error: ModelError) -> None:
        """Count the further tries of a call that got no answer; it may have had none at all."""
        self._tallies[role, model].retries += max(0, error.tries - 1)

    def count_call(self, role: str, name: str) -> None:
        """Count an answered call of something that is no chat model, such as a Python agent."""
        self._tallies[role, name].calls += 1

    def usage(self, prices: Mapping[str, Price]) -> Usage:
        """Add up everything so far.

        `prices` are per million tokens (input, output), by model. The cost is None when a model
        that used tokens has no price: a part of the bill would be taken for the whole.
        """
        tallies = self._tallies.values()
        calls_by_role: dict[str, int] = {}
        for (role, _), tally in self._tallies.items():
            calls_by_role[role] = calls_by_role.get(role, 0) + tally.calls
        return Usage(
            calls=sum(tally.calls for tally in tallies),
            cached_calls=sum(tally.cached_calls for tally in tallies),
            retries=sum(tally.retries for tally in tallies),
            input_tokens=sum(tally.input_tokens for tally in tallies),
            output_tokens=sum(tally.output_tokens for tally in tallies),
            cost=self._cost(prices),
            calls_by_role=calls_by_role,
        )

    def _cost(self, prices: Mapping[str, Price]) -> float | None:
        if not prices:
            return None
        cost = 0.0
        for (_, model), tally in self._tallies.items():
            if not tally.input_tokens + tally.output_tokens:
                continue
            if model not in prices:
                return None
            input_price, output_price = prices[model]
            cost += tally.input_tokens * input_price + tally.output_tokens * output_price
        return cost / TOKENS_PER_PRICE
