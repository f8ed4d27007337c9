"""Spread the tasks of a dataset over topics and kinds before any of them is written."""

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import Final

from azd_eval.domain.suite import TASK_KINDS, Slot, TaskKind

# Kinds that are about their topic are dealt the topics first: none is left to a refusal alone.
_CLOSEST_TO_TOPIC: Final = ("ordinary", "multi_step", "ambiguous", "adversarial", "out_of_scope")


def plan_slots(
    topics: Sequence[str], count: int, named_kinds: Iterable[TaskKind] = ()
) -> tuple[Slot, ...]:
    """Plan exactly `count` slots, numbered from 1, well mixed from the first on.

    About half are ordinary; the other kinds share the rest, `named_kinds` first. Every topic has a
    slot when there are as many slots as topics, and three kinds are met when there are three slots.
    """
    others = list(dict.fromkeys(kind for kind in (*named_kinds, *TASK_KINDS) if kind != "ordinary"))
    special = max(count // 2, min(2, count - 1))
    dealt: list[TaskKind] = [others[place % len(others)] for place in range(special)]
    ordinary: list[TaskKind] = ["ordinary"] * (count - special)
    kinds = [kind for kind in chain(*zip_longest(ordinary, dealt)) if kind]
    order = sorted(range(count), key=lambda place: _CLOSEST_TO_TOPIC.index(kinds[place]))
    topic_at = {place: topics[turn % len(topics)] for turn, place in enumerate(order)}
    return tuple(Slot(place + 1, topic_at[place], kind) for place, kind in enumerate(kinds))


def batch_slots(slots: Iterable[Slot], size: int) -> list[tuple[Slot, ...]]:
    """Put slots of one kind and topic together, so that who fills them can tell them apart."""
    ordered = sorted(slots, key=lambda slot: (slot.kind, slot.topic, slot.number))
    return [tuple(ordered[at : at + size]) for at in range(0, len(ordered), size)]
