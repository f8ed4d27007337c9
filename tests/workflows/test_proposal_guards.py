import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.criterion import Check, Criterion, Rubric
from azd_eval.domain.task import Task, Turn
from azd_eval.workflows.proposal_guards import ProposalGuards, placeholders


def object_to(
    text: str, baseline: str, *tasks: Task, rubrics: tuple[Rubric, ...] = ()
) -> str | None:
    return ProposalGuards(baseline, tasks, rubrics).find_objection(text, baseline)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use {customer_name} and {tone}.", {"{customer_name}", "{tone}"}),
        ("Hello {{name}}, {{ name }}!", {"{{name}}", "{{ name }}"}),
        ("Pay ${amount} now", {"${amount}"}),
        ("Today is ${{ today }}", {"${{ today }}"}),
        ("<% if x %>yes<%= y %>", {"<% if x %>", "<%= y %>"}),
        ("{% if vip %}kind{% endif %}", {"{% if vip %}", "{% endif %}"}),
        (
            "{amount:,.2f} {items[0]} {user.name!r}",
            {"{amount:,.2f}", "{items[0]}", "{user.name!r}"},
        ),
        ('Reply as {"answer": "text"}', set()),
        ("Solve {x | x > 0} and f(x) { return 1 }", set()),
        ("{0} {} { } 100 % of <b>it</b>", set()),
    ],
)
def test_placeholders(text: str, expected: set[str]) -> None:
    assert expected == placeholders(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("Be kind to {name}.", "tried before"),
        ("Be  kind\nto {name}.\n", "tried before"),
        ("Be friendly.", "lost `{name}`"),
        ("Greet {name} and {place}.", "new `{place}`"),
        ("Greet {{name}}.", "lost `{name}`; new `{{name}}`"),
        ("Greet {name}. " + "x" * 8000, "too long"),
    ],
)
def test_objections(text: str, expected: str) -> None:
    baseline = "Be kind to {name}."

    objection = object_to(text, baseline)

    assert objection is not None
    assert expected in objection


@pytest.mark.parametrize("text", ["Greet {name} twice: {name}.", "{name}" + "x" * 7000])
def test_what_keeps_the_placeholders_may_be_tried(text: str) -> None:
    assert object_to(text, "Be kind to {name}.") is None


def test_a_long_baseline_may_grow_to_four_times_its_length() -> None:
    baseline = "x" * 3000

    assert object_to("y" * 12_000, baseline) is None
    assert object_to("y" * 12_001, baseline) is not None


START = "You help customers of a shop for electronics."
PROMPT = "My blender broke after two weeks, can I send it back and get another one?"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        pytest.param("I'm sorry, I cannot help with that.", "a refusal", id="refusal"),
        pytest.param("I can’t rewrite these instructions.", "a refusal", id="cannot"),
        pytest.param("Here are the revised instructions:\n\nHelp.", "commentary", id="preamble"),
        pytest.param("Sure! Help the customers.", "commentary", id="chatter"),
        pytest.param("No changes are needed.", "commentary", id="no change"),
        pytest.param("Help.\n```\nReply in this form", "not closed", id="cut fence"),
        pytest.param("Please the judge with long answers.", "being judged", id="judge"),
        pytest.param("Your answers will be scored: be exact.", "being judged", id="scored"),
        pytest.param("Meet all evaluation criteria.", "being judged", id="criteria"),
        pytest.param("Always aim for the highest score.", "being judged", id="score"),
        pytest.param("YOU HELP customers of  a shop for\nelectronics.", "tried", id="duplicate"),
    ],
)
def test_what_is_no_instruction_for_the_agent_is_refused(text: str, word: str) -> None:
    objection = object_to(text, START)

    assert objection is not None
    assert word in objection


@pytest.mark.parametrize(
    "text",
    [
        "You help customers. Judge urgency by the words they use.",
        "If the customer is sorry, accept it. I cannot stress this enough.",
        "Test the device first. Ask for the score of the game if it matters.",
        "Show code like this:\n```\nx = 1\n```",
        "Here you are polite. Here is where the warranty ends: 24 months.",
    ],
)
def test_instructions_may_use_such_words_in_their_own_sense(text: str) -> None:
    assert object_to(text, START) is None


def test_what_the_baseline_says_itself_may_stay() -> None:
    baseline = "You are the judge of a baking contest. Your answers are scored by the audience."

    assert object_to(f"{baseline} Be brief.", baseline) is None


def test_a_fraction_of_a_long_text_is_no_revision() -> None:
    long = "You help customers. " * 100

    assert "most is missing" in (object_to("You help customers. Be brief.", long) or "")


@pytest.mark.parametrize(
    ("copied", "is_leak"),
    [
        pytest.param("If their blender broke after two weeks, can I send it back", True, id="8"),
        pytest.param("If a BLENDER broke, after two weeks: can I send it", True, id="any case"),
        pytest.param("A blender broke after two weeks.", False, id="a few words"),
        pytest.param("Say that refunds take 14 days.", True, id="short answer with a number"),
        pytest.param("Say that refunds take a few days.", False, id="its sense alone"),
        pytest.param("Send it to the Vienna branch on the ring.", True, id="answer of some words"),
        pytest.param("Send it to a branch.", False, id="word of an answer"),
        pytest.param("Mention the return window of 30 days.", False, id="criterion"),
        pytest.param("Say RMA 77.", False, id="value of a check"),
        pytest.param("Offer a loan device for 3 days.", False, id="rubric"),
    ],
)
def test_copies_of_prompts_and_answers_are_refused_never_rules_of_criteria(
    copied: str, is_leak: bool
) -> None:
    rule = Criterion("window", "Mention the return window of 30 days")
    check = Criterion("rma", "Name it", check=Check("contains", "RMA 77"))
    tasks = [
        Task("blender", (Turn(PROMPT, (rule,), expected="14 days"),)),
        Task("branch", (Turn("Where to?", (check,), expected="To the Vienna branch on the ring"),)),
        Task("window", (Turn("How long?", expected="30 days"),)),
        Task("rma", (Turn("Which number?", expected="RMA 77"),)),
        Task("loan", (Turn("And meanwhile?", expected="for 3 days"),)),
    ]
    rubric = Rubric("quality", (Criterion("loan", "Offers a loan device for 3 days"),))

    objection = object_to(f"{START} {copied}", START, *tasks, rubrics=(rubric,))

    assert is_leak is (objection is not None and objection.startswith("copied from task"))


_NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
_FORMS = st.sampled_from(["{%s}", "{{%s}}", "${%s}", "<%% %s %%>", "{%% %s %%}"])
_PLACEHOLDERS = st.builds(lambda form, name: form % name, _FORMS, _NAMES)
_PROSE = st.text(st.characters(blacklist_characters="{}<>%$", codec="utf-8"))


@given(st.sets(_PLACEHOLDERS), st.data())
def test_placeholders_are_found_wherever_they_stand(names: set[str], data: st.DataObject) -> None:
    pieces = [data.draw(_PROSE) + name for name in sorted(names)]
    text = "".join(data.draw(st.permutations(pieces))) + data.draw(_PROSE)

    assert names == placeholders(text)


@given(st.sets(_PLACEHOLDERS), st.sets(_PLACEHOLDERS))
def test_every_loss_and_every_addition_is_refused(before: set[str], after: set[str]) -> None:
    objection = object_to("new: " + " ".join(sorted(after)), " ".join(sorted(before)))

    assert (before != after) is (objection is not None)
