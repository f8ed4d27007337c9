"""What models write when they are asked to draft."""

import json
from random import Random
from typing import Any

from azd_eval.domain.criterion import Criterion, Rubric
from azd_eval.domain.suite import Brief, Slot, TaskOrder

SENTENCE = (
    "Customer support agent. Test refund handling, troubleshooting, and out-of-scope deflection."
)
BRIEF = Brief("support", SENTENCE)
RUBRIC = Rubric("quality", (Criterion("kind", "The reply is kind"),))
CRITERIA = (
    {"name": "asks_order_number", "instruction": "The reply asks for the order number"},
    {"name": "no_promise", "instruction": "The reply promises no date"},
)

_WORDS = (
    "parcel kettle screen invoice neighbour voucher winter battery stairs garden driver label "
    "colour school charge mirror pocket receipt station letter hinge carpet manual button silent"
).split()


def prompt(number: int) -> str:
    """Make a prompt that resembles no other number's."""
    return " ".join(Random(number).sample(_WORDS, 10)) + "?"


def row(number: int, **fields: Any) -> dict[str, Any]:
    """Write the row of a good task; `number` tells it from others."""
    plain = {"name": f"situation_{prompt(number)[:12]}_{number}", "prompt": prompt(number)}
    return {"slot": number, **plain, "criteria": list(CRITERIA), "groundTruth": None, **fields}


def reply(*rows: Any) -> str:
    return json.dumps({"tasks": rows})


def order(count: int = 3, **fields: Any) -> TaskOrder:
    kinds = ("ordinary", "out_of_scope", "ambiguous", "adversarial", "multi_step")
    slots = tuple(Slot(10 + place, f"topic {place}", kinds[place % 5]) for place in range(count))
    return TaskOrder(BRIEF, RUBRIC, slots, **fields)
