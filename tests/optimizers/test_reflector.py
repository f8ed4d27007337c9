import json
from typing import Any

import pytest

from azd_eval.domain.chat import ChatReply
from azd_eval.errors import ModelError
from azd_eval.optimizers.reflector import Reflector
from tests.fakes import ScriptedModel
from tests.optimization_worlds import make_evidence, make_failure

CURRENT = "You help customers of the shop. Be brief and polite."
REVISED = "You help customers of the shop. Be brief and polite.\nState the return window: 30 days."
EVIDENCE = make_evidence(CURRENT, make_failure("dates", "the window of 30 days is missing"))


def answer(**fields: Any) -> str:
    return json.dumps({"rationale": "The window was missing.", "instructions": REVISED} | fields)


async def test_proposes_what_the_model_wrote() -> None:
    model = ScriptedModel(lambda request: answer())

    proposal = await Reflector(model).propose(EVIDENCE)

    assert (REVISED, "The window was missing.", None) == (
        proposal.instructions,
        proposal.rationale,
        proposal.fault,
    )


async def test_asks_once_as_optimizer_with_a_schema_and_the_attempt() -> None:
    model = ScriptedModel(lambda request: answer())
    parameters = {"temperature": 1.0}

    await Reflector(model, parameters).propose(
        make_evidence(CURRENT, *EVIDENCE.failures, attempt=7)
    )

    (request,) = model.history
    assert ("optimizer", 7, parameters) == (request.purpose, request.repeat, request.parameters)
    assert request.schema is not None
    assert "instructions" == request.schema.name
    assert ["system", "user"] == [message.role for message in request.messages]


@pytest.mark.parametrize(
    "reply",
    [
        f"```json\n{answer()}\n```",
        f"Here it is: {answer()} Good luck {{smile}}!",
        answer(rationale='uses {name} and "}"'),
        json.dumps({"instructions": REVISED}),
        answer().replace("\\n", "\n"),
    ],
)
async def test_reads_json_however_it_is_wrapped(reply: str) -> None:
    proposal = await Reflector(ScriptedModel(lambda request: reply)).propose(EVIDENCE)

    assert REVISED == proposal.instructions


async def test_an_unreadable_answer_is_asked_for_once_more() -> None:
    model = ScriptedModel(
        lambda request: answer() if len(request.messages) > 2 else "I would add a rule."
    )

    proposal = await Reflector(model).propose(EVIDENCE)

    assert REVISED == proposal.instructions
    assert 2 == len(model.history)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("I cannot help with that.", id="refusal"),
        pytest.param("The agent should name the window. I suggest a rule.", id="commentary"),
        pytest.param("", id="empty"),
        pytest.param(ChatReply(answer()[:-20], "length", output_tokens=99), id="cut JSON"),
        pytest.param(answer(instructions=" \n"), id="blank instructions"),
        pytest.param(answer(instructions=["a", "b"]), id="list"),
        pytest.param(answer(instructions=None), id="null"),
        pytest.param(answer(rationale=3), id="rationale is no text"),
        pytest.param('{"rationale": "because"}', id="no instructions"),
        pytest.param(json.dumps([REVISED]), id="array"),
        pytest.param(answer() + answer(instructions="Other."), id="two answers"),
        pytest.param('{"instructions": "half \\ud83d"}', id="half a character"),
        pytest.param(f"```\n{REVISED}\n", id="fence never closed"),
        pytest.param(f"```\n{REVISED}\n```json\n{{}}\n```\nmore\n```", id="fence in fence"),
        pytest.param(f"```\n{REVISED}\n```json\n{{}}\n```", id="fence in fence, cut"),
        pytest.param("Add this:\n```\n- State it.\n```", id="excerpt"),
        pytest.param(f"```python\n{'x = 1' * 20}\n```", id="code"),
        pytest.param(f'```\n{{"instructions": "{REVISED} "he" said"}}\n```', id="broken JSON"),
        pytest.param(
            f'{{"instructions": "a "quote"\n```\n{REVISED}\n```\n"}}', id="broken JSON round fence"
        ),
    ],
)
async def test_what_is_no_complete_text_is_a_fault(reply: str | ChatReply) -> None:
    proposal = await Reflector(ScriptedModel(lambda request: reply)).propose(EVIDENCE)

    assert proposal.instructions is None
    assert proposal.fault


async def test_a_cut_answer_says_so() -> None:
    model = ScriptedModel(lambda request: ChatReply(answer()[:40], "length", output_tokens=99))

    proposal = await Reflector(model).propose(EVIDENCE)

    assert "cut off" in (proposal.fault or "")


@pytest.mark.parametrize("fence", ["```", "```markdown", "```md", "~~~", "````text"])
async def test_a_whole_text_in_one_fence_is_taken(fence: str) -> None:
    end = fence.rstrip("abcdefghijklmnopqrstuvwxyz")
    reply = f"The revised instructions:\n\n{fence}\n{REVISED}\n{end}\n\nThat should help."

    proposal = await Reflector(ScriptedModel(lambda request: reply)).propose(EVIDENCE)

    assert REVISED == proposal.instructions


async def test_errors_of_the_model_pass() -> None:
    error = ModelError("no credit is left", code="no_credit")

    with pytest.raises(ModelError, match="no credit"):
        await Reflector(ScriptedModel(lambda request: error)).propose(EVIDENCE)


async def test_the_rules_that_were_changed_are_named() -> None:
    changes = [
        {"rule": "return window", "change": "added", "why": "the window was missing"},
        {"rule": "tone", "change": "invented", "why": "no such change"},
        "none",
    ]

    proposal = await Reflector(ScriptedModel(lambda request: answer(changes=changes))).propose(
        EVIDENCE
    )

    assert (
        "The window was missing.\n- added: return window (the window was missing)"
        == proposal.rationale
    )
