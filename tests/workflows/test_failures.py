import pytest

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.criterion import Check, Criterion, Rubric
from azd_eval.domain.optimization import FailedVerdict
from azd_eval.domain.score import Score, Trial, TurnResult, Verdict
from azd_eval.domain.task import Task, Turn
from azd_eval.workflows.failures import CriteriaIndex, collect_failures, find_fault
from tests.optimization_worlds import (
    JUDGE,
    make_errored_trial,
    make_measurement,
    make_task,
    make_trial,
)

DATES = Criterion("dates", "The reply says 30 days", check=Check("contains", "30 days"))
TONE = Criterion("tone", "The reply is friendly")


def test_lists_what_was_missed_with_reason_reply_and_criterion() -> None:
    task = make_task("refund", DATES, TONE, prompt="May I return it?")
    trial = make_trial(
        task, Verdict("dates", "unmet", "no period"), Verdict("tone", "met"), reply="Yes."
    )

    failures = collect_failures(
        make_measurement("baseline", trial), CriteriaIndex.build([task], [])
    )

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

    failures = collect_failures(
        make_measurement("baseline", trial), CriteriaIndex.build([task], [rubric])
    )

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

    failures = collect_failures(
        make_measurement("baseline", *trials), CriteriaIndex.build([talk, single], [])
    )

    assert [first, second, other] == [failure.criterion for failure in failures]
    assert "May I return it?\n\nUntil when?" == failures[1].prompt


@pytest.mark.parametrize("outcome", ["met", "not_applicable", "undecided", "unusable"])
def test_only_unmet_verdicts_are_failures(outcome: str) -> None:
    task = make_task("a", "tone")
    trial = make_trial(task, Verdict("tone", outcome))  # type: ignore[arg-type]

    assert () == collect_failures(
        make_measurement("baseline", trial), CriteriaIndex.build([task], [])
    )


def test_finds_the_fault_of_what_was_not_measured() -> None:
    task = make_task("a", "tone")
    good = make_trial(task, Verdict("tone", "met"))
    unusable = make_trial(task, Verdict("tone", "unusable", "the judge failed: no answer"))
    undecided = make_trial(task, Verdict("tone", "undecided", "offline"))
    fatal = make_errored_trial(task, "the key was refused", fatal="the key was refused")
    candidate = Candidate("baseline", "text")

    faults = [
        find_fault(make_measurement(candidate, *trials))
        for trials in (
            (),
            (good,),
            (undecided,),
            (good, make_errored_trial(task)),
            (make_errored_trial(task),),
            (unusable,),
            (good, fatal),
        )
    ]

    expected = [
        "no task was tried",
        None,
        None,
        None,
        "the agent timed out",
        "the judge failed: no answer",
        "the key was refused",
    ]
    assert expected == faults
