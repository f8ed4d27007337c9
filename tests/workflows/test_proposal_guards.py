import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.workflows.proposal_guards import find_objection, fold_space, placeholders


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

    objection = find_objection(text, baseline, {fold_space(baseline)})

    assert objection is not None
    assert expected in objection


@pytest.mark.parametrize("text", ["Greet {name} twice: {name}.", "{name}" + "x" * 7000])
def test_what_keeps_the_placeholders_may_be_tried(text: str) -> None:
    assert find_objection(text, "Be kind to {name}.", ()) is None


def test_a_long_baseline_may_grow_to_four_times_its_length() -> None:
    baseline = "x" * 3000

    assert find_objection("y" * 12_000, baseline, ()) is None
    assert find_objection("y" * 12_001, baseline, ()) is not None


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
    objection = find_objection("new: " + " ".join(sorted(after)), " ".join(sorted(before)), ())

    assert (before != after) is (objection is not None)
