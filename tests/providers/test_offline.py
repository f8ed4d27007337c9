"""The offline engine as an agent: what its instructions say decides what it answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.chat import ChatReply, ChatRequest, Message
from azd_eval.errors import ModelError
from azd_eval.providers.offline import OfflineModel

INSTRUCTIONS = """\
# Support

You are the support agent of an electronics shop. Returns are free for 30 days.

- When asked about shipping or delivery, say that parcels arrive within three days.
- Repairs are done in our own workshop.
- Thank the customer.
"""


async def _reply(instructions: str, prompt: str, **changes) -> str:
    messages = (Message("system", instructions), Message("user", prompt))
    request = ChatRequest(messages, **{"purpose": "agent"} | changes)
    return (await OfflineModel().complete(request)).text


@pytest.mark.parametrize(
    ("prompt", "quoted"),
    [
        ("Can I return this?", ["Returns are free for 30 days.", "Thank the customer."]),
        ("When is it delivered?", ["say that parcels arrive within three days.", "Thank"]),
        ("Who repairs my radio?", ["Repairs are done", "Thank"]),
        ("What is the capital of France?", ["Thank the customer."]),
    ],
)
async def test_lines_that_bear_on_the_prompt_are_quoted_and_no_others(prompt, quoted):
    text = await _reply(INSTRUCTIONS, prompt)

    assert all(line in text for line in quoted)
    assert len(quoted) == text.count(".")


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ('Response must mention the 30-day refund window. Use the words "30-day".', "30-day"),
        ('When asked "What is your refund policy?": Use the words "30-day".', "30-day"),
        ('When asked "What, in short: your "refund" policy?": Use the words "30-day".', "30-day"),
        ("If somebody asks about refunds, warranty or shipping, mention the 30-day window.", "30-"),
        ("Quando si chiede di policy e refund: cita i 30-day.", "30-day"),
        ("Mention the 30-day window.", "30-day"),
    ],
)
async def test_a_good_rule_changes_the_reply(rule, kept):
    prompt = "What is your refund policy?"

    before = await _reply("You are an agent.", prompt)
    after = await _reply(f"You are an agent.\n\n- {rule}\n", prompt)

    assert kept not in before
    assert kept in after


@pytest.mark.parametrize(
    "rule",
    [
        "When asked about batteries, mention the charger.",
        'When asked "How do I pair my earbuds with a phone?": Use the words "Bluetooth".',
        "Earbuds are paired in the app.",
    ],
)
async def test_an_irrelevant_rule_changes_nothing(rule):
    prompt = "What is your refund policy?"

    assert await _reply(INSTRUCTIONS, prompt) == await _reply(f"{INSTRUCTIONS}- {rule}\n", prompt)


@pytest.mark.parametrize("rule", ['Never use the words "free" or "gratis".', "Do not lie."])
async def test_what_is_forbidden_is_obeyed_and_not_quoted(rule):
    text = await _reply(f"{INSTRUCTIONS}- {rule}\n", "Can I return this?")

    assert rule not in text
    assert ("free" in text) is ("free" not in rule)


@pytest.mark.parametrize(("limit", "words"), [(9, 9), (8, 6), (3, 3)])
async def test_a_limit_drops_whole_sentences_before_words(limit, words):
    rules = f"- Say one two three four five.\n- Thank the customer.\n- Use at most {limit} words.\n"

    assert words == len((await _reply(rules, "Hello")).split())


async def test_an_exact_answer_is_given_alone():
    rules = 'Thank the customer.\n- Reply with "42, of course" and nothing else.\n'

    assert "42, of course" == await _reply(rules, "The answer?")


async def test_json_is_given_where_it_is_asked_for():
    text = await _reply(f"{INSTRUCTIONS}- Reply in JSON only.\n", "Hello")

    assert {"reply": "Thank the customer."} == json.loads(text)


@pytest.mark.parametrize("instructions", ["", "# Only a title", "Earbuds are small."])
async def test_without_anything_to_quote_it_says_so(instructions):
    assert "My instructions say nothing about that." == await _reply(instructions, "Refunds?")


async def test_only_the_last_prompt_counts():
    request = ChatRequest(
        messages=(
            Message("system", INSTRUCTIONS),
            Message("user", "Who repairs my radio?"),
            Message("assistant", "We do."),
            Message("user", "And delivery?"),
        ),
        purpose="agent",
    )

    reply = await OfflineModel().complete(request)

    expected = "say that parcels arrive within three days. Thank the customer."
    assert ChatReply(expected, "stop", 0, 0) == reply


@pytest.mark.parametrize("purpose", ["judge", "generator", "optimizer"])
async def test_it_answers_in_no_other_role(purpose):
    with pytest.raises(ModelError, match=f"not as {purpose}") as caught:
        await _reply(INSTRUCTIONS, "Hello", purpose=purpose)

    assert "refused_request" == caught.value.code
    assert not caught.value.is_retryable


@given(st.text(), st.text())
async def test_equal_requests_get_equal_answers_whatever_they_say(instructions, prompt):
    first = await _reply(instructions, prompt)

    assert first
    assert first == await _reply(instructions, prompt)
