import pytest

from azd_eval.domain.criterion import Check, Criterion, Rubric
from azd_eval.domain.optimization import FailedVerdict, MetCriterion
from azd_eval.domain.score import Score, Trial, TurnResult, Verdict
from azd_eval.domain.task import Task, Turn
from azd_eval.workflows.failures import CriteriaIndex, collect_failures, collect_met
from tests.optimization_worlds import JUDGE, make_task, make_trial

DATES = Criterion("dates", "The reply says 30 days", check=Check("contains", "30 days"))
TONE = Criterion("tone", "The reply is friendly")


def test_lists_what_was_missed_with_reason_reply_and_criterion() -> None:
    task = make_task("refund", DATES, TONE, prompt="May I return it?")
    trial = make_trial(
        task, Verdict("dates", "unmet", "no period"), Verdict("tone", "met"), reply="Yes."
    )

    failures = collect_failures([trial], CriteriaIndex.build([task], []))

    assert (FailedVerdict("refund", "May I return it?", "Yes.", DATES, "no period"),) == failures


def test_finds_dimensions_of_rubrics_and_grades_short_of_full_marks() -> None:
    task = make_task("refund", "dates")
    rubric = Rubric("quality", (TONE, DATES), scoring="graded")
    verdicts = (
        Verdict("tone", "met", "a little stiff", grade=4),
        Verdict("dates", "met", "perfect", grade=5),
    )
    turns = (TurnResult("May I?", "Yes.", scores=(Score("quality", 0.9, True, verdicts),)),)
    trial = Trial("refund", task.key, 0, "passed", 0.9, turns)

    failures = collect_failures([trial], CriteriaIndex.build([task], [rubric]))

    assert [(TONE, "graded 4 of 5: a little stiff")] == [(f.criterion, f.reason) for f in failures]


def test_criteria_of_equal_name_belong_to_their_task_and_turn() -> None:
    first, second, other = (Criterion("dates", f"The reply says {n} days") for n in (1, 2, 3))
    talk = Task("talk", (Turn("May I return it?", (first,)), Turn("Until when?", (second,))))
    single = make_task("single", other)
    missed = (Score(JUDGE, 0.0, False, (Verdict("dates", "unmet"),)),)
    turns = tuple(TurnResult(turn.prompt, "Yes.", scores=missed) for turn in talk.turns)
    trials = (
        Trial("talk", talk.key, 0, "failed", 0.0, turns),
        make_trial(single, Verdict("dates", "unmet")),
    )

    failures = collect_failures(trials, CriteriaIndex.build([talk, single], []))

    assert [first, second, other] == [failure.criterion for failure in failures]
    assert "May I return it?\n\nUntil when?" == failures[1].prompt


@pytest.mark.parametrize("outcome", ["met", "not_applicable", "undecided", "unusable"])
def test_only_unmet_verdicts_are_failures(outcome: str) -> None:
    task = make_task("a", "tone")
    trial = make_trial(task, Verdict("tone", outcome))  # type: ignore[arg-type]

    assert () == collect_failures([trial], CriteriaIndex.build([task], []))


def test_a_verdict_missed_at_some_looks_is_one_unstable_failure_with_its_last_reason() -> None:
    task = make_task("a", "tone", "dates")
    looks = [
        make_trial(task, Verdict("tone", outcome, reason), Verdict("dates", "unmet"), repeat=look)
        for look, (outcome, reason) in enumerate(
            [("unmet", "rude"), ("met", "kind"), ("unmet", "curt")]
        )
    ]

    tone, dates = collect_failures(looks, CriteriaIndex.build([task], []))

    assert ("curt", 2, 3, True) == (tone.reason, tone.missed, tone.looks, tone.is_unstable)
    assert (3, 3, False) == (dates.missed, dates.looks, dates.is_unstable)


def test_what_was_never_missed_is_listed_those_of_most_tasks_first() -> None:
    tasks = [make_task("a", DATES, TONE), make_task("b", TONE), make_task("c", TONE)]
    missed = Criterion("links", "The reply links")
    trials = [
        make_trial(tasks[0], Verdict("dates", "met"), Verdict("tone", "met")),
        make_trial(tasks[1], Verdict("tone", "met")),
        make_trial(tasks[1], Verdict("tone", "met"), repeat=1),
        make_trial(make_task("d", missed), Verdict("links", "met")),
        make_trial(make_task("d", missed), Verdict("links", "unmet"), repeat=1),
    ]

    met = collect_met(trials, CriteriaIndex.build([*tasks, make_task("d", missed)], []))

    assert (MetCriterion(TONE, 2), MetCriterion(DATES, 1)) == met
