"""Roles for FakeOpenAI, told apart by the JSON schema that they are asked to fit.

A world has one hidden rule. The agent does what its system message says and nothing else; the
judge finds a criterion met when the reply follows the rule, and its reasons alone reveal the rule;
the reflector adds the rules that it finds in reasons; the drafter writes other tasks for other
slots.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from azd_eval.structured import json_values
from tests.fake_openai import FakeRequest, Respond

RULE = "Always say that refunds take 30 days."

_REPLY = re.compile(r'^Reply to be judged[^\n]*\n(".*")$', re.MULTILINE)
_CRITERION = re.compile(r"^(\d+)\. ", re.MULTILINE)
_REVEALED = re.compile(r"does not follow the rule «(.*?)»")
_QUOTE = re.compile(
    r"^----- (\S+) begin -----\n(.*)\n----- \1 end -----$", re.DOTALL | re.MULTILINE
)


def support_world(rule: str = RULE) -> Respond:
    """Make the `respond` of a server that plays all roles."""

    def respond(request: FakeRequest) -> str | dict[str, Any]:
        match request.schema_name:
            case None:
                return answer(request)
            case "verdict":
                return decide(request, rule)
            case "verdicts":
                numbers = [int(number) for number in _CRITERION.findall(request.user)]
                verdict = decide(request, rule)
                return {"verdicts": [{"number": number, **verdict} for number in numbers]}
            case "instructions":
                return revise(request)
            case "blueprint":
                return draft_blueprint()
            case "tasks":
                return draft_tasks(request)
            case other:
                raise ValueError(f"nobody here answers {other!r}")

    return respond


def answer(request: FakeRequest) -> str:
    """Obey: say what the system message says, and mention the question."""
    return f"{request.system}\n\nYou asked: {request.body['messages'][-1]['content']}"


def decide(request: FakeRequest, rule: str) -> dict[str, Any]:
    """Give the best or the worst score that the schema allows, by the hidden rule."""
    found = _REPLY.search(request.user)
    reply = json.loads(found[1]) if found else request.user
    schema = request.body["response_format"]["json_schema"]["schema"]
    scores = [score for score in _find_scores(schema) if score is not None]
    if rule in reply:
        return {"reason": "the reply follows the rule", "score": max(scores)}
    return {"reason": f"the reply does not follow the rule «{rule}»", "score": min(scores)}


def _find_scores(schema: Mapping[str, Any]) -> list[int | None]:
    properties = schema.get("properties", {})
    if "verdicts" in properties:
        return _find_scores(properties["verdicts"]["items"])
    scores: list[int | None] = properties["score"]["enum"]
    return scores


def revise(request: FakeRequest) -> dict[str, str]:
    """Keep the instructions and add the rules that the reasons reveal."""
    quoted = _QUOTE.search(request.user)
    instructions = quoted[2] if quoted else ""
    rules = [json.loads(f'"{rule}"') for rule in _REVEALED.findall(request.user)]
    new = [rule for rule in dict.fromkeys(rules) if rule not in instructions]
    return {
        "rationale": f"rules that were not followed: {len(new)}",
        "instructions": "\n".join([instructions, *new]),
    }


def draft_blueprint() -> dict[str, Any]:
    """Give a rubric for any support agent."""
    dimensions = (
        ("policy_accuracy", "The reply states the policy that applies.", 9),
        ("next_step", "The reply names what the user can do next.", 5),
        ("honesty", "The reply promises nothing that it cannot do.", 4),
        ("general_quality", "The reply answers what was asked.", 2),
    )
    return {
        "topics": ["refunds", "broken products", "deliveries"],
        "dimensions": [
            {"id": name, "description": text, "weight": weight, "always_applicable": True}
            for name, text, weight in dimensions
        ],
    }


_SITUATION = (
    (
        "gift my sister gave me the parcel wrapped as a present",
        "work our office ordered several boxes before the holidays",
        "travel I am packing for a long journey abroad",
        "moving we moved into another flat last weekend",
        "student money is short during my studies",
        "baby the little one sleeps only with it",
        "garden everything outside depends on it this spring",
        "choir our singing group shares one account",
        "kitchen dinner guests arrive soon",
        "bicycle I ride past your shop daily",
        "school the teacher requires it for lessons",
        "hospital I write from a ward bed",
    ),
    (
        "scratched yet its surface carries deep marks",
        "silent but no sound ever comes out",
        "missing and half of the contents never came",
        "wrong although the colour differs from your picture",
        "late while tracking has shown nothing new",
        "double because two identical charges were booked",
        "wet since rain had soaked through",
        "locked as my login fails again and again",
        "small and none of us fits into it",
        "leaking so water drips onto wooden floors",
        "opened though somebody broke its seal before",
        "expired when the voucher stopped working yesterday",
    ),
    (
        "refund can I get what I paid returned",
        "exchange would you swap this for something similar",
        "repair who mends such damage nearby",
        "cancel please stop any further shipment",
        "invoice where do I find proof of purchase",
        "rights which guarantees apply here",
        "courier should I hand it over at your depot",
        "address may another person receive it instead",
        "deadline until when must I decide",
        "manual is there written guidance for beginners",
        "discount does loyalty earn me anything",
        "complaint whom could I tell about bad service",
    ),
    (
        "brief answer shortly",
        "thanks and thank you in advance",
        "unsure honestly I feel lost",
        "angry this annoys me greatly",
        "curious mostly for understanding why",
        "again an earlier mail went unanswered",
        "expert having sold such goods myself",
        "elderly asking for grandmother",
        "tired after hours of trying alone",
        "doubtful friends told me otherwise",
        "polite whenever you find a moment",
        "hasty my train leaves shortly",
    ),
)


def draft_tasks(request: FakeRequest) -> dict[str, Any]:
    """Write one task for each slot; other slots, or prompts to avoid, make other situations."""
    *_, avoid, slots = json_values(request.user)
    tasks = []
    for slot in slots:
        task = _draft_task(slot, 0)
        salt = 0
        while task["prompt"] in avoid:
            salt += 1
            task = _draft_task(slot, salt)
        tasks.append(task)
    return {"tasks": tasks}


def _draft_task(slot: Mapping[str, Any], salt: int) -> dict[str, Any]:
    digest = hashlib.sha256(json.dumps([slot, salt]).encode()).digest()
    parts = [
        options[byte % len(options)] for byte, options in zip(digest, _SITUATION, strict=False)
    ]
    keys, phrases = zip(*(part.split(maxsplit=1) for part in parts), strict=True)
    who, what, wish, manner = phrases
    return {
        "slot": slot["slot"],
        "name": "_".join(keys),
        "prompt": f"Concerning {slot['topic']}: {who}, {what}; {wish}, {manner}?",
        "criteria": [
            {"name": f"answers_{keys[2]}", "instruction": f"The reply answers: {wish}?"},
            {"name": f"notes_{keys[1]}", "instruction": f"The reply notes: {what}."},
            {"name": "no_promise", "instruction": "The reply promises no date."},
        ],
        "groundTruth": None,
    }


respond = support_world()
