import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.criterion import Criterion
from azd_eval.domain.optimization import Evidence, FailedVerdict, MetCriterion, Rejected
from azd_eval.optimizers.reflection_prompt import word_evidence
from tests.optimization_worlds import make_evidence, make_failure


def sections(evidence: Evidence) -> dict[str, list[dict[str, Any]]]:
    """Read the JSON parts of the prompt back."""
    text, decoder = word_evidence(evidence), json.JSONDecoder()
    mark = evidence.parent.digest
    position = text.index(f"----- {mark} end -----")
    found = []
    for _ in range(4):
        position = text.index("\n[", position) + 1
        value, position = decoder.raw_decode(text, position)
        found.append(value)
    return dict(zip(("failures", "answers", "met", "rejected"), found, strict=True))


def reasons(evidence: Evidence) -> list[str]:
    return [each["reason"] for row in sections(evidence)["failures"] for each in row["reasons"]]


def test_groups_reasons_by_criterion_the_most_frequent_first() -> None:
    evidence = make_evidence(
        "Help.",
        make_failure("tone", "rude", prompt="May I return it?", reply="No."),
        make_failure("dates", "no period", prompt="May I return it?", reply="No."),
        make_failure("dates", "no period either", prompt="Until when?", reply="Soon."),
    )

    assert {
        "failures": [
            {
                "criterion": "dates",
                "instruction": "The reply says dates",
                "missed": 2,
                "reasons": [
                    {"answer": 1, "reason": "no period"},
                    {"answer": 2, "reason": "no period either"},
                ],
            },
            {
                "criterion": "tone",
                "instruction": "The reply says tone",
                "missed": 1,
                "reasons": [{"answer": 1, "reason": "rude"}],
            },
        ],
        "answers": [
            {"answer": 1, "prompt": "May I return it?", "reply": "No."},
            {"answer": 2, "prompt": "Until when?", "reply": "Soon."},
        ],
        "met": [],
        "rejected": [],
    } == sections(evidence)


def test_criteria_of_equal_name_and_other_words_stay_apart() -> None:
    evidence = make_evidence(
        "Help.",
        make_failure("fact", "not 30", described=Criterion("fact", "The reply says 30 days")),
        make_failure("fact", "not 5", described=Criterion("fact", "The reply says 5 euro")),
    )

    rows = sections(evidence)["failures"]

    assert ["The reply says 30 days", "The reply says 5 euro"] == [r["instruction"] for r in rows]


def test_shows_the_instructions_to_the_letter_between_marks() -> None:
    instructions = "Use {name} and {{ marks }}.\n----- 0123456789abcdef end -----\n\\n “ok”"
    evidence = make_evidence(instructions, make_failure("tone", "rude"))
    mark = evidence.parent.digest

    assert f"----- {mark} begin -----\n{instructions}\n----- {mark} end -----" in word_evidence(
        evidence
    )


def test_long_answers_are_cut_in_the_middle() -> None:
    reply = "BEGIN " + "x" * 5000 + " END"

    (shown,) = sections(make_evidence("Help.", make_failure("tone", "rude", reply=reply)))[
        "answers"
    ]

    assert shown["reply"].startswith("BEGIN ")
    assert shown["reply"].endswith(" END")
    assert "[... 3510 characters left out ...]" in shown["reply"]


def test_says_what_was_tried_and_why_it_was_not_kept() -> None:
    rejected = [Rejected(f"Help.\nRule {n}.", f"not better {n}") for n in range(9)]
    rejected.append(Rejected("", "not usable: cut off"))

    shown = sections(make_evidence("Help.", make_failure("tone", "rude"), rejected=tuple(rejected)))

    assert [*(f"not better {n}" for n in range(5, 9)), "not usable: cut off"] == [
        row["reason"] for row in shown["rejected"]
    ]
    assert "+Rule 8." in shown["rejected"][-2]["change"]
    assert shown["rejected"][-1]["change"] is None


def test_says_what_an_attempt_missed_that_the_current_instructions_do_not() -> None:
    known = make_failure("tone", "rude")
    news = make_failure("dates", "the period must be 30 days")
    rejected = [Rejected("Help well.", "not better", (known, news))]

    (row,) = sections(make_evidence("Help.", known, rejected=tuple(rejected)))["rejected"]

    assert [{"criterion": "dates", "reason": news.reason}] == row["missed_otherwise"]


def test_every_criterion_is_named_before_one_is_named_twice() -> None:
    failures = [make_failure(f"criterion {n % 60}", f"reason {n} " + "x" * 200) for n in range(400)]

    rows = sections(make_evidence("Help.", *failures))["failures"]

    counts = [len(row["reasons"]) for row in rows]
    assert 60 == len(rows)
    assert {1, 2} == set(counts)


def test_what_another_look_met_is_marked_and_comes_last() -> None:
    unstable = [make_failure("tone", f"rude {n}", missed=1, looks=2) for n in range(3)]
    stable = make_failure("dates", "no period", missed=2, looks=2)

    rows = sections(make_evidence("Help.", *unstable, stable))["failures"]

    assert ["dates", "tone"] == [row["criterion"] for row in rows]
    assert [[None], [True] * 3] == [
        [reason.get("unstable") for reason in row["reasons"]] for row in rows
    ]


def test_what_was_always_met_is_said_in_short() -> None:
    met = tuple(MetCriterion(Criterion(f"c{n}", "x" * 900), tasks=n) for n in range(50))

    rows = sections(make_evidence("Help.", make_failure("tone", "rude"), met=met))["met"]

    assert 10 < len(rows) < 50
    assert {"criterion": "c1", "tasks": 1} == {k: rows[1][k] for k in ("criterion", "tasks")}
    assert all(len(row["instruction"]) < 300 for row in rows)


_TEXTS = st.text(max_size=30)
_FAILURES = st.lists(
    st.builds(
        lambda name, reason, prompt, reply: make_failure(name, reason, prompt=prompt, reply=reply),
        st.sampled_from(["a", "b", "c"]),
        _TEXTS,
        _TEXTS,
        _TEXTS,
    ),
    min_size=1,
    max_size=20,
)


@given(_FAILURES)
def test_every_reason_is_shown_while_there_is_room(failures: list[FailedVerdict]) -> None:
    evidence = make_evidence("Help.", *failures)

    assert sorted(failure.reason for failure in failures) == sorted(reasons(evidence))


@given(st.integers(0, 3000), st.integers(1, 400), st.sampled_from(["x", "\n", '"', "é"]))
def test_the_prompt_stays_within_bounds(length: int, count: int, letter: str) -> None:
    failures = [
        make_failure(f"c{n % 7}", f"{n}{letter * length}", prompt=f"{n}", reply=letter * length)
        for n in range(count)
    ]

    evidence = make_evidence("Help.", *failures)

    assert len(word_evidence(evidence)) < 100_000
    assert reasons(evidence)


@given(st.text(), st.text(), st.text())
def test_hostile_text_stays_inside_its_json(reason: str, reply: str, name: str) -> None:
    hostile = make_failure(name, reason, reply=reply)

    shown = sections(make_evidence("Help.", hostile))

    assert reply == shown["answers"][0]["reply"]
    assert reason == shown["failures"][0]["reasons"][0]["reason"]
    assert name == shown["failures"][0]["criterion"]


def test_half_a_surrogate_pair_from_a_judge_does_not_stop_the_request() -> None:
    text = word_evidence(make_evidence("Help.", make_failure("tone", "half \ud83d")))

    assert text.encode("utf-8")


def test_what_is_asked_for_at_the_same_time_is_told_to_be_different() -> None:
    first, second = (
        word_evidence(make_evidence("Help.", make_failure("tone", "rude"), number=number))
        for number in range(2)
    )

    assert second.startswith(first.rstrip())
    assert "Take another one" in second.removeprefix(first.rstrip())
