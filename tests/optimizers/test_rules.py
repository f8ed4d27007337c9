import pytest

from azd_eval.domain.criterion import Check, CheckKind, Criterion
from azd_eval.domain.optimization import Rejected
from azd_eval.evaluators.checks import run_check
from azd_eval.optimizers.rules import RuleOptimizer, word_rule
from tests.optimization_worlds import make_evidence, make_failure

DATES = Criterion("dates", "State the return window", check=Check("contains", "30 days"))
TONE = Criterion("tone", "Is the reply friendly?")
DATES_RULE = 'State the return window. Use the words "30 days".'
TONE_RULE = "Make sure that the answer is yes: Is the reply friendly?"
FAILURES = (
    make_failure("dates", "no period", described=DATES, prompt="May I\nreturn it?"),
    make_failure("tone", "rude", described=TONE, prompt="May I\nreturn it?"),
    make_failure("dates", "no period", described=DATES, prompt="Until when?"),
)


async def test_adds_one_rule_per_criterion_and_keeps_the_rest_to_the_letter() -> None:
    start = "You help {customer}.\n\n- Be   brief.\n"

    proposal = await RuleOptimizer().propose(make_evidence(start, *FAILURES))

    assert f"{start}- {DATES_RULE}\n- {TONE_RULE}\n" == proposal.instructions


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("", "- X.\n"),
        ("Help.", "Help.\n\n- X.\n"),
        ("Help.\n", "Help.\n\n- X.\n"),
        ("Help.\n\n", "Help.\n\n\n- X.\n"),
        ("- Help.", "- Help.\n- X.\n"),
    ],
)
async def test_rules_stand_in_a_list_of_their_own(start: str, expected: str) -> None:
    failure = make_failure("x", "no", described=Criterion("x", "X"))

    proposal = await RuleOptimizer().propose(make_evidence(start, failure))

    assert expected == proposal.instructions


@pytest.mark.parametrize(
    ("check", "expected", "good", "bad"),
    [
        (Check("contains", "30 days"), 'Use the words "30 days".', "in 30 days", "soon"),
        (Check("contains_all", ("a1", "b2")), 'Use the words "a1" and "b2".', "a1 b2", "a1"),
        (Check("contains_any", ("a1", "b2")), 'Use the words "a1" or "b2".', "b2", "c3"),
        (Check("not_contains", ("a1", "b2")), 'Never use the words "a1" or "b2".', "ok", "b2"),
        (Check("not_contains", "a1"), 'Never use the words "a1".', "ok", "a1"),
        (Check("regex", "^Hi"), 'The reply must match the pattern "^Hi".', "Hi!", "Oh, Hi"),
        (Check("not_regex", "!$"), 'The reply must not match the pattern "!$".', "Hi", "Hi!"),
        (Check("equals", "yes"), 'Reply with "yes" and nothing else.', "yes", "yes, sir"),
        (Check("min_words", 2), "Use at least 2 words.", "one two", "one"),
        (Check("max_words", 2), "Use at most 2 words.", "one two", "one two three"),
        (Check("is_json", True), "Reply in JSON only.", "[1]", "text"),
        (Check("is_json", False), "Do not reply in JSON.", "text", "[1]"),
    ],
)
def test_the_rule_states_its_check(check: Check, expected: str, good: str, bad: str) -> None:
    assert f"Do it. {expected}" == word_rule(Criterion("c", "Do it", check=check))
    assert [True, False] == [run_check(check, reply).passed for reply in (good, bad)]


def test_every_kind_of_check_has_a_wording() -> None:
    for kind in CheckKind.__args__:  # type: ignore[attr-defined]
        assert word_rule(Criterion("c", "Do it", check=Check(kind, "x")))


@pytest.mark.parametrize("start", [f"- {TONE_RULE}\n", f"Be kind.\n{TONE_RULE}\n"])
async def test_never_adds_a_rule_twice(start: str) -> None:
    proposal = await RuleOptimizer().propose(make_evidence(start, *FAILURES))

    assert proposal.instructions is not None
    assert 1 == proposal.instructions.count(TONE_RULE)
    assert DATES_RULE in proposal.instructions


async def test_a_rule_that_stands_there_is_never_added_again_and_no_question_is_copied() -> None:
    start = f"- {DATES_RULE}\n- {TONE_RULE}\n"

    proposal = await RuleOptimizer().propose(make_evidence(start, *FAILURES))

    assert (None, "there is no rule left to add") == (proposal.instructions, proposal.fault)


async def test_goes_on_to_smaller_changes_until_all_were_rejected() -> None:
    rejected: list[Rejected] = []
    while True:
        proposal = await RuleOptimizer().propose(
            make_evidence("Help.", *FAILURES, rejected=tuple(rejected))
        )
        if proposal.instructions is None:
            break
        rejected.append(Rejected(proposal.instructions, "not better"))

    assert "there is no rule left to add" == proposal.fault
    added = [len(item.instructions.splitlines()) - 2 for item in rejected]
    assert [2, 1, 1] == added
    assert len({item.instructions for item in rejected}) == len(rejected)


async def test_nothing_failing_leaves_nothing_to_add() -> None:
    proposal = await RuleOptimizer().propose(make_evidence("Help."))

    assert proposal.instructions is None


async def test_of_several_asked_for_at_once_each_is_another() -> None:
    proposals = [
        await RuleOptimizer().propose(make_evidence("Help.", *FAILURES, number=number))
        for number in range(4)
    ]

    texts = [proposal.instructions for proposal in proposals]
    assert [None] == [text for text in texts if texts.count(text) > 1 or text is None]
