"""The report pages: whole, self-contained, and safe whatever agents and models wrote."""

import base64
import hashlib
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from azd_eval.domain.chat import Usage
from azd_eval.domain.comparison import Comparison
from azd_eval.domain.optimization_summary import CandidateResult, OptimizationSummary
from azd_eval.domain.score import Score, Trial, TurnResult, Verdict, trial_score, trial_status
from azd_eval.domain.summary import (
    CriterionResult,
    Gate,
    RunSummary,
    ScoreWithInterval,
    TaskCounts,
)
from azd_eval.domain.tally import Tally, count_tasks, group_by_category, overall_score
from azd_eval.reports.html import render_optimization, render_run

_HOSTILE = "</title></style></main><script>alert(1)</script><img src=x onerror=y>\"'{{ 7*7 }}"
_VOID = {"meta", "wbr", "input", "rect", "line", "circle", "polyline"}


class Page(HTMLParser):
    """A page taken apart; refuses tags that are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert [] == self._open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert tag == self._open.pop()

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())

    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}


def _trial(index: int = 0, outcome: str = "met", text: str = "fine", repeat: int = 0) -> Trial:
    failed = outcome == "errored"
    verdicts = () if failed else (Verdict(f"{text} criterion", outcome, f"{text} reason"),)
    passed = {"met": True, "unmet": False}.get(outcome)
    score = Score("builtin.task_adherence", None, passed, verdicts)
    turn = TurnResult(
        prompt=f"{text} prompt",
        reply=None if failed else f"{text} reply",
        error=f"{text} error" if failed else None,
        scores=() if failed else (score,),
    )
    return Trial(
        task=f"{text} task {index}",
        task_key=str(index),
        repeat=repeat,
        status=trial_status((turn,)),
        score=trial_score((turn,)),
        turns=(turn,),
        index=index,
        category=f"{text} category",
    )


def _run(trials: list[Trial], text: str = "fine", **changes) -> RunSummary:
    tally = Tally()
    for trial in trials:
        tally.add(trial)
    results = tally.results()
    score, interval = overall_score(results)
    summary = RunSummary(
        run_id="run-1",
        name=f"{text} name",
        created_at="2025-01-01T00:00:00Z",
        agent=f"{text} agent",
        config=None,
        dataset=f"{text}.jsonl",
        evaluators=("builtin.task_adherence", f"{text} quality"),
        models={"judge": f"{text} model"},
        tasks=count_tasks(results),
        score=score,
        score_errors_as_zero=score,
        interval=interval,
        criteria=tally.criteria(),
        categories=group_by_category(results),
        usage=Usage(calls=1234567),
        gate=Gate(False, (f"{text} gate",)),
        stop_reason="completed",
        duration_s=61.0,
        notes=(f"{text} note",),
        results=results,
    )
    return replace(summary, **changes)


def _candidate(number: int, score: float | None, accepted: bool, text: str = "fine"):
    return CandidateResult(
        id=f"candidate_{number}" if number else "baseline",
        parent="baseline" if number else None,
        score=score,
        accepted=accepted,
        reason=f"{text} reason {number}",
        length=100 + number,
        rationale=f"{text} rationale",
        interval=None if score is None else (score - 0.1, score + 0.1),
        difference=None if score is None or not number else score - 0.5,
    )


_COMPARISON = Comparison(
    baseline=ScoreWithInterval(0.4, (0.3, 0.5)),
    best=ScoreWithInterval(0.7, (0.6, 0.8)),
    difference=0.3,
    interval=(0.1, 0.5),
    p=0.02,
    label="confirmed",
    tasks=4,
    looks=3,
    fixed=5,
    broken=1,
    is_unseen=True,
)


def _optimization(text: str = "fine", **changes) -> OptimizationSummary:
    summary = OptimizationSummary(
        optimization_id="opt-1",
        created_at="2025-01-01T00:00:00Z",
        agent=f"{text} agent",
        config=None,
        dataset=f"{text}.jsonl",
        models={"optimizer": f"{text} model"},
        strategy="reflect",
        tasks={"learning": 6, "held_out": 4},
        held_out=_COMPARISON,
        baseline=ScoreWithInterval(0.5, (0.4, 0.6)),
        best_id="candidate_1",
        best=ScoreWithInterval(0.75, (0.6, 0.85)),
        candidates=(
            _candidate(0, 0.5, accepted=True),
            _candidate(1, 0.75, accepted=True, text=text),
            _candidate(2, 0.6, accepted=False),
            _candidate(3, None, accepted=False),
        ),
        iterations=3,
        evaluations=12,
        stop_reason="max_iterations",
        stop_message=f"{text} stop",
        usage=Usage(),
        duration_s=1.0,
        noise="2 of 9 verdicts changed",
        diff=f"@@ -1 +1 @@\n-be {text}\n+be very {text}\n same",
        notes=(f"{text} note",),
    )
    return replace(summary, **changes)


_TEXTS = {"baseline": "be fine\nsame\n", "candidate_1": "be very fine\nsame\n"}


def _both(text: str = "fine") -> tuple[str, str]:
    trials = [_trial(0, "met", text), _trial(1, "unmet", text), _trial(2, "errored", text)]
    return (
        render_run(_run(trials, text), trials),
        render_optimization(_optimization(text), {"baseline": text, "candidate_1": text + "!"}),
    )


def test_pages_are_well_formed_and_ask_for_nothing_from_outside():
    for html in _both():
        page = Page(html)

        assert not page.tags() & {"script", "link", "img", "iframe", "object", "form", "base", "a"}
        assert not re.search(r"https?:|src=|href=|url\(|@import|<!--", html)


def test_the_policy_allows_this_style_and_nothing_else():
    for html in _both():
        style = re.search("<style>(.*?)</style>", html, re.DOTALL).group(1)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

        policies = [
            attributes["content"]
            for _, attributes in Page(html).elements
            if attributes.get("http-equiv") == "Content-Security-Policy"
        ]

        expected = (
            f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        )
        assert [expected] == policies
        assert not any("style" in attributes for _, attributes in Page(html).elements)


def test_every_header_cell_says_what_it_heads_and_every_drawing_what_it_shows():
    for html in _both():
        for tag, attributes in Page(html).elements:
            assert tag != "th" or attributes["scope"] in ("col", "row", "rowgroup")
            assert tag != "svg" or "aria-label" in attributes or "aria-hidden" in attributes


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=()), min_size=1, max_size=40))
def test_hostile_text_changes_nothing_but_the_text(text):
    hostile = _HOSTILE + text

    for html, plain in zip(_both(hostile), _both(), strict=True):
        page = Page(html)

        assert Page(plain).tags() == page.tags() - {"wbr"}
        assert "{{ 7*7 }}" in page.text
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", html)
        html.encode("utf-8")


def test_control_characters_are_shown_as_pictures():
    trials = [_trial(text="bell \x07 escape \x1b[31m delete \x7f half \ud83d")]

    text = Page(render_run(_run(trials), trials)).text

    assert "bell \u2407 escape \u241b[31m delete \u2421 half \ufffd" in text


def test_failing_tasks_come_first_and_each_status_is_a_word():
    trials = [
        _trial(0, "met"),
        _trial(1, "undecided"),
        _trial(2, "errored"),
        _trial(3, "unmet"),
    ]

    page = Page(render_run(_run(trials), reversed(trials)))

    shown = [a["class"] for tag, a in page.elements if tag == "details" and "open" not in a]
    assert ["task failed", "task errored", "task skipped", "task passed"] == shown
    for word in ("✓ passed", "✗ failed", "! errored", "✓ met", "✗ unmet", "? undecided"):
        assert word in page.text


def test_a_filter_offers_only_what_there_is():
    trials = [_trial(0, "met"), _trial(1, "unmet")]

    ids = [a["id"] for tag, a in Page(render_run(_run(trials), trials)).elements if tag == "input"]

    assert ["only-all", "only-failed", "only-passed"] == ids
    assert "<input" not in render_run(_run(trials[:1]), trials[:1])


def test_repeats_of_a_task_stand_together():
    trials = [_trial(repeat=1, outcome="unmet"), _trial(repeat=0)]

    html = render_run(_run(trials, repeats=2), trials)

    assert 1 == html.count('<details class="task')
    assert html.index("Repeat 1 of 2: passed, 1.00") < html.index("Repeat 2 of 2: failed, 0.00")


def test_a_large_run_shows_the_failing_tasks_and_says_what_it_leaves_out():
    trials = [_trial(index, "unmet" if index >= 590 else "met") for index in range(600)]

    html = render_run(_run(trials), trials)

    assert 500 == html.count('<details class="task')
    assert 10 == html.count('<details class="task failed')
    assert "The first 500 of 600 tasks" in html


def test_many_criteria_are_folded_lowest_rate_first():
    criteria = tuple(
        CriterionResult("e", f"c{n}", met=n, unmet=40 - n, rate=n / 40) for n in range(40, -1, -1)
    )
    trials = [_trial()]

    html = render_run(_run(trials, criteria=criteria), trials)

    assert html.index(">c0<") < html.index(">c24<") < html.index("show 16 more criteria")
    assert html.index("show 16 more criteria") < html.index(">c40<")


def test_more_criteria_than_anybody_reads_are_left_out():
    criteria = tuple(CriterionResult("e", f"c{n:04}", rate=n / 600) for n in range(600))
    trials = [_trial()]

    html = render_run(_run(trials, criteria=criteria), trials)

    assert ">c0499<" in html
    assert ">c0500<" not in html
    assert "100 further criteria are left out here" in html


def test_a_very_long_reply_is_folded_and_then_cut():
    reply = "word " * 10_000
    trial = _trial()
    trial = replace(trial, turns=(replace(trial.turns[0], reply=reply),))

    html = render_run(_run([trial]), [trial])

    assert "more characters</summary>" in html
    assert "30,000 further characters are left out here" in html
    assert html.count("word ") < 4_100


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, None])
def test_numbers_that_are_none_are_shown_as_such(number):
    trials = [_trial()]
    criterion = CriterionResult("e", "c", rate=number)
    summary = _run(trials, score=number, duration_s=number, criteria=(criterion,), interval=None)
    usage = replace(summary.usage, cost=number)
    candidates = (_candidate(0, number, accepted=True), _candidate(1, number, accepted=True))
    candidates = tuple(replace(candidate, interval=None) for candidate in candidates)
    optimization = _optimization(
        baseline=ScoreWithInterval(number, None), best=ScoreWithInterval(number, None)
    )

    pages = (
        render_run(replace(summary, usage=usage), trials),
        render_optimization(replace(optimization, candidates=candidates), {}),
    )

    for html in pages:
        assert not re.search(r"\b(nan|inf|None)\b", Page(html).text + str(Page(html).elements))


@pytest.mark.parametrize(
    ("score", "shown"), [(1.0, "1.00"), (0.9999, "1.000"), (0.996, "0.996"), (2 / 3, "0.67")]
)
def test_scores_have_two_decimals_and_a_third_next_to_perfect(score, shown):
    trials = [_trial()]

    assert f'<p class="figure">{shown}</p>' in render_run(_run(trials, score=score), trials)


def test_the_offline_engine_is_named_on_both_pages_and_only_then():
    trials = [_trial()]
    banner = "The offline engine did this work: rules, not a language model."

    assert banner in render_run(_run(trials, engine="rules, not a language model"), trials)
    assert banner in render_optimization(
        _optimization(engine="rules, not a language model"), _TEXTS
    )
    assert not any(banner in html for html in _both())


def test_an_empty_run_is_a_page_too():
    summary = _run([], tasks=TaskCounts(), score=None, stop_reason="wrong key", categories=())

    text = Page(render_run(summary, [])).text

    assert "The run ended early: wrong key" in text


def test_the_winner_has_a_star_and_every_candidate_its_reason():
    page = Page(render_optimization(_optimization(), _TEXTS))

    winners = [a for tag, a in page.elements if tag == "tr" and a.get("class") == "winner"]
    assert 1 == len(winners)
    assert "★ candidate_1 (best) 0.75 +0.25 ✓ accepted fine reason 1" in page.text
    assert "candidate_2 0.60 +0.10 ✗ rejected fine reason 2" in page.text
    assert "candidate_3 \N{EN DASH} \N{EN DASH} ✗ rejected fine reason 3" in page.text
    assert "fine stop (max_iterations, after 3 iterations and 12 trials)" in page.text


def test_it_says_how_sure_it_is_and_what_cannot_be_known():
    page = Page(render_optimization(_optimization(), _TEXTS)).text
    seen = replace(_COMPARISON, label="not distinguishable", is_unseen=False)
    unsure = Page(render_optimization(_optimization(held_out=seen), _TEXTS)).text
    stopped = Page(render_optimization(_optimization(held_out=None), _TEXTS)).text

    assert "confirmed +0.30 (95 % interval +0.10 to +0.50) on the 4 tasks held out" in page
    assert "verdicts fixed: 5, broken: 1. Better by more than chance." in page
    assert "Noise: 2 of 9 verdicts changed." in page
    assert "of other questions it says nothing" in unsure
    assert "not confirmed It stopped before the last comparison" in stopped


def test_changes_carry_signs_beside_colours():
    html = render_optimization(_optimization(), _TEXTS)

    assert "<del>-be fine</del>" in html
    assert "<ins>+be very fine</ins>" in html


def test_without_an_improvement_it_says_so():
    unchanged = _optimization(best_id="baseline", best=ScoreWithInterval(0.5, (0.4, 0.6)), diff="")

    text = Page(render_optimization(unchanged, _TEXTS)).text

    assert "No improvement found" in text
    assert "★ baseline" in text
    assert "Apply the best" not in text


def test_equal_input_gives_equal_pages():
    assert _both() == _both()
