"""Citations: what counts as one, in each format, and what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.task import Reply
from azd_eval.evaluator_options import CitationsOptions
from azd_eval.evaluators.citations import count_citations
from azd_eval.evaluators.findings import Finding
from tests.factories import make_item

FORMATS = ["oai_unicode", "bracket", "markdown", "mixed"]
OAI = "\ue200cite\ue202turn0search1\ue202turn0search2\ue201"


def count(reply: str | Reply, form: str, threshold: int = 1) -> Finding:
    options = CitationsOptions.model_validate({"citation_format": form, "threshold": threshold})
    return count_citations(make_item(reply), options)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("no citation", (0, 0, 0, 0)),
        (f"Yes{OAI}, and again{OAI}.", (2, 0, 0, 2)),
        ("\ue200filecite\ue202turn0file1\ue202L1-L5\ue201", (1, 0, 0, 1)),
        ("\ue200navlist\ue202turn0search1\ue201 \ue200cite\ue201", (0, 0, 0, 0)),
        ("\ue200cite\ue202turn0search1 and no end", (0, 0, 0, 0)),
        ("so it is【4:0†policy.md】 and【4:1†policy.md】【4:0†policy.md】", (2, 0, 0, 2)),
        ("one[1] two [^2^], three[^3] and one[1]", (0, 3, 0, 3)),
        ("several [1, 2,3][4]", (0, 4, 0, 4)),
        ("none: [0] [a] [1.5] [2024] [] [ 1 ] [1-3]", (0, 0, 0, 0)),
        ('linked [1](https://a.example/#y) [2](d.md "Title") [1](https://b.example)', (0, 0, 3, 3)),
        ("[1](https://a.example/b_(c)) [policy](https://a.example)", (0, 0, 1, 1)),
        ("mixed [1], [2](u) and" + OAI, (2, 1, 1, 4)),
        ("only said below\n\n[1]: https://a.example\n[^2]: a note", (0, 0, 0, 0)),
        ("in [1]: the policy", (0, 1, 0, 1)),
        ("`a[1]` and ``b[2]``", (0, 0, 0, 0)),
        (f"```py\na[1]\n```\n~~~\n[2](u) {OAI}\n~~~\nreally [3]", (0, 1, 0, 1)),
        ("````\n```\n[1]\n````\n[2]", (0, 1, 0, 1)),
        ("```\nnever closed [1]", (0, 0, 0, 0)),
    ],
)
def test_distinct_markers_outside_code_count(text, counts):
    assert counts == tuple(count(text, form).native for form in FORMATS)


@pytest.mark.parametrize(
    ("form", "text", "detected"),
    [
        ("mixed", "one [1]", "bracket"),
        ("mixed", "one [1](u)", "markdown"),
        ("mixed", "one [1] two [2](u)", "mixed"),
        ("mixed", "none", "mixed"),
        ("inline", f"one {OAI}", "oai_unicode"),
        ("inline", "none", "mixed"),
        ("bracket", "none", "bracket"),
    ],
)
def test_the_format_found_is_named(form, text, detected):
    assert detected == count(text, form).details["format"]


def test_citations_are_listed_with_their_sources():
    text = f"a{OAI} b [7](https://a.example) c [9]\n\n[9]: Handbook, page 3"

    finding = count(text, "mixed")

    assert {
        "count": 4,
        "format": "mixed",
        "citations": [
            {"index": 1, "source": "turn0search1"},
            {"index": 2, "source": "turn0search2"},
            {"index": 9, "source": "Handbook, page 3"},
            {"index": 7, "source": "https://a.example"},
        ],
    } == finding.details


def test_citations_beside_the_text_say_more_and_count_where_it_has_no_markers():
    evidence = {
        "citations": [
            {"index": 1, "text": "30 days", "source": "policy.md", "score": 3},
            {"index": 2},
            {"index": 0},
            {"index": True},
            {"index": "3"},
            "nonsense",
        ]
    }

    marked = count(Reply("so [1]", evidence=evidence), "bracket")
    unmarked = count(Reply("so", evidence=evidence), "bracket")

    first = {"index": 1, "text": "30 days", "source": "policy.md"}
    assert [first] == marked.details["citations"]
    assert [first, {"index": 2}] == unmarked.details["citations"]


@pytest.mark.parametrize("listed", [None, 3, {"index": 1}, "text"])
def test_evidence_of_another_shape_is_none(listed):
    assert 0 == count(Reply("so", evidence={"citations": listed}), "mixed").native


@pytest.mark.parametrize(
    ("threshold", "outcome", "share"), [(1, "met", 1), (2, "met", 1), (4, "unmet", 0.5)]
)
def test_fewer_than_wanted_are_a_part_of_the_score(threshold, outcome, share):
    finding = count("[1] [2]", "bracket", threshold)

    assert (outcome, share, threshold) == (finding.outcome, finding.share, finding.threshold)


@given(st.text(st.sampled_from("[]^1, 2(:)u`\n~\ue200\ue201\ue202cite【†】0"), max_size=200))
def test_no_text_breaks_it(text):
    for form in FORMATS:
        finding = count(text, form)
        assert all(each["index"] >= 1 for each in finding.details["citations"])


@pytest.mark.parametrize(
    "piece",
    [
        "[1](a",
        "[",
        "[1, ",
        "`",
        "\ue200cite\ue202x",
        "【1:1†",
        "[1](a(",
        "~~~\n",
        "[1]: ",
        '[1](a "',
    ],
)
def test_long_hostile_texts_take_linear_time(piece):
    assert count(piece * 100_000, "mixed").native is not None
