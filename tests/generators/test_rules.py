"""Finding checkable rules and facts in instructions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.evaluators.checks import run_check
from azd_eval.generators.rules import find_rules, find_word_limit


@pytest.mark.parametrize(
    ("text", "name", "kind", "good", "bad"),
    [
        (
            "Refunds are possible within 30 days of delivery.",
            "states_30_days",
            "contains_any",
            "You have a 30-day window.",
            "You have 14 days.",
        ),
        ("- Shipping costs $9.50.", "states_9_50", "contains", "It costs $9.50.", "It is free."),
        (
            "Il reso è possibile entro 30 giorni.",
            "states_30_giorni",
            None,
            "30 giorni",
            "14 giorni",
        ),
        ("返品は30日以内です。", "states_30日", "contains", "30日以内です", "14日以内です"),
        (
            "2. Always ask for the order number before you look anything up.",
            "asks_for_order_number",
            "contains",
            "What is your order number?",
            "What is your name?",
        ),
        (
            'Close every reply with "Team Contoso".',
            "says_team_contoso",
            "contains",
            "Bye, team contoso",
            "Bye",
        ),
        (
            'Never say "guaranteed".',
            "avoids_guaranteed",
            "not_contains",
            "It is likely.",
            "It is guaranteed!",
        ),
        (
            "Send complaints to help@contoso.com.",
            "states_help_contoso_com",
            "contains",
            "Write to help@contoso.com",
            "Write to us",
        ),
        (
            "* Zeige auf https://contoso.example/hilfe, wenn es um Reparatur geht.",
            "states_https_contoso_example_hilfe",
            "contains",
            "Siehe https://contoso.example/hilfe",
            "Siehe Website",
        ),
    ],
)
def test_a_sentence_becomes_a_check(
    text: str, name: str, kind: str | None, good: str, bad: str
) -> None:
    (rule,) = find_rules(text)

    assert name == rule.name
    assert kind in (None, rule.check.kind)
    assert run_check(rule.check, good).passed
    assert run_check(rule.check, bad).passed is False


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Answer within 30 days",
        "You are a kind agent.",
        "Never promise a delivery date.",
        "Do not refund after 30 days.",
        'If somebody is rude, do not say "sorry".',
        "Use at most 50 words.",
        "Answer in 3 sentences.",
        "Be open 24/7.",
    ],
)
def test_what_no_check_decides_is_passed_over(text: str) -> None:
    assert () == find_rules(text)


@pytest.mark.parametrize(
    ("text", "topic", "bears", "general"),
    [
        ("Refunds take 30 days.", "refund handling", True, False),
        ("Refunds take 30 days.", "troubleshooting", False, False),
        ('Always say "thanks".', "refunds", False, True),
        ('When asked about refunds, always say "30 days".', "refunds", True, False),
        ('Never say "guaranteed".', "refunds", False, True),
    ],
)
def test_a_rule_knows_where_it_holds(text: str, topic: str, bears: bool, general: bool) -> None:
    (rule,) = find_rules(text)

    assert (bears, general) == (rule.bears_on(topic), rule.is_general)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("Use at most 50 words.", 50),
        ("- No more than 80 words.\n- Under 60 words, please.", 60),
        ("Rispondi con massimo 40 parole.", 40),
        ("When greeting, use at most 5 words.", None),
        ("At most 3 sentences.", None),
    ],
)
def test_a_limit_of_words_is_found(text: str, limit: int | None) -> None:
    assert limit == find_word_limit(text)


@given(st.text())
def test_any_instructions_are_read(text: str) -> None:
    rules = find_rules(text)

    assert len(rules) == len({rule.name for rule in rules})
