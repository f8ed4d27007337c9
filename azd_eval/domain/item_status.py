"""How items of evaluation documents end: the official words, and the rule that gives them.

An item is a task; an item of several turns is a thread.
"""

from collections.abc import Iterable
from typing import Literal

from azd_eval.domain.score import Score, Trial, TurnResult

ItemStatus = Literal["pass", "fail", "partial", "error"]

ITEM_STATUSES: tuple[ItemStatus, ...] = ("error", "partial", "fail", "pass")
"""From the worst to the best: the worst turn is the status of its thread."""


def has_failed_to_run(score: Score) -> bool:
    """Tell whether an evaluator gave no verdict, or could not decide a part of it."""
    return score.passed is None or any(each.outcome == "unusable" for each in score.verdicts)


def judge_turn(turn: TurnResult) -> ItemStatus:
    """Give the status of a turn.

    Without a reply it is an error; a reply that not every evaluator could score is partial, even
    when another one found it bad.
    """
    if turn.reply is None:
        return "error"
    if any(map(has_failed_to_run, turn.scores)):
        return "partial"
    return "pass" if all(score.passed for score in turn.scores) else "fail"


def judge_thread(statuses: Iterable[ItemStatus]) -> ItemStatus:
    """Give the status of a thread from those of its turns."""
    return min(statuses, key=ITEM_STATUSES.index)


def judge_item(trial: Trial) -> ItemStatus:
    """Give the status of an item from what happened to it."""
    return judge_thread(map(judge_turn, trial.turns))
