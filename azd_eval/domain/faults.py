"""Why trials are no measurement."""

from collections import Counter
from collections.abc import Iterable, Sequence

from azd_eval.domain.score import Trial


def find_fatal(trials: Iterable[Trial]) -> str | None:
    """Name the error that every further call would meet too, if there was one."""
    return next((trial.fatal for trial in trials if trial.fatal), None)


def find_fault(trials: Sequence[Trial]) -> str | None:
    """Say why nothing was scored; None when something was, or was merely left undecided."""
    if not trials:
        return "no task was tried"
    if any(trial.score is not None for trial in trials):
        return find_fatal(trials)
    turns = [turn for trial in trials for turn in trial.turns]
    errors = (turn.error for turn in turns if turn.error)
    unusable = (
        verdict.reason
        for turn in turns
        for score in turn.scores
        for verdict in score.verdicts
        if verdict.outcome == "unusable"
    )
    return find_fatal(trials) or next(errors, None) or next(unusable, None)


def word_faults(trials: Sequence[Trial]) -> str | None:
    """Say how many trials are no measurement, and why most of them; None when all are one."""
    lost = (trial for trial in trials if trial.score is None and not trial.fatal)
    faults = Counter(fault for trial in lost if (fault := find_fault([trial])))
    if not faults:
        return None
    # Not the first: trials come in any order.
    most = max(faults, key=lambda fault: (faults[fault], fault))
    lost_of_all = f"{faults.total()} of {len(trials)} trials"
    return f"{lost_of_all} could not be scored, and are missing; most often: {most}"
