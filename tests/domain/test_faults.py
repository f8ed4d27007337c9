from azd_eval.domain.faults import find_fault, word_faults
from azd_eval.domain.score import Verdict
from tests.optimization_worlds import make_errored_trial, make_task, make_trial


def test_finds_the_fault_of_what_was_not_measured() -> None:
    task = make_task("a", "tone")
    good = make_trial(task, Verdict("tone", "met"))
    unusable = make_trial(task, Verdict("tone", "unusable", "the judge failed: no answer"))
    undecided = make_trial(task, Verdict("tone", "undecided", "offline"))
    fatal = make_errored_trial(task, "the key was refused", fatal="the key was refused")

    faults = [
        find_fault(trials)
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


def test_says_how_many_trials_are_missing_and_why_most_of_them() -> None:
    task = make_task("a", "tone")
    good = make_trial(task, Verdict("tone", "met"))
    undecided = make_trial(task, Verdict("tone", "undecided", "offline"))
    fatal = make_errored_trial(task, "the limit is reached", fatal="the limit is reached")
    late, blocked = make_errored_trial(task), make_errored_trial(task, "blocked")

    words = word_faults([good, blocked, late, late, undecided, fatal])

    assert (
        "3 of 6 trials could not be scored, and are missing; most often: the agent timed out"
    ) == words
    assert word_faults([good, undecided, fatal]) is None
