"""Roles for FakeOpenAI, told apart by the JSON schema that they are asked to fit.

A world has one hidden rule. The agent does what its system message says and nothing else; the
judge finds a criterion met when the reply follows the rule, and its reasons alone reveal the rule;
the reflector adds the rules that it finds in reasons; the drafter fills whatever it is asked for.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

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


respond = support_world()
