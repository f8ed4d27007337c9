"""Two candidates, or two runs, on the same tasks: how much better, how sure, in one word."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from azd_eval.domain.ledger import mean_cells, mean_scores, subtract
from azd_eval.domain.score import Trial
from azd_eval.domain.statistics import difference_interval, score_interval, sign_flip_p
from azd_eval.domain.summary import Interval, ScoreWithInterval

Label = Literal["confirmed", "likely", "not distinguishable", "worse"]

# Sums of thirds and tenths in another order must not make a tie look like a gain.
ROUNDING = 1e-9
# Below that many tasks a test over tasks can hardly tell anything.
_FEWEST_TASKS = 6
# A byte-identical candidate is to be called better in one of fifty searches at most.
_LIKELY_P = 0.1
_CONFIRMED_P = 0.05


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean paired difference `best` - `baseline`, 95 % interval and exact sign-flip p.

    `label` is confirmed where the interval lies above 0 and p is at most 0.05, likely where p is at
    most 0.1, or where all tasks together confirm it (`is_supported`). Of tasks that no optimizer
    saw (`is_unseen`) the interval speaks for others like them, else for these tasks alone. `fixed`
    and `broken` count verdicts that were met more, or less, often.
    """

    baseline: ScoreWithInterval
    best: ScoreWithInterval
    difference: float
    interval: Interval | None
    p: float
    label: Label
    tasks: int
    looks: int
    fixed: int
    broken: int
    is_unseen: bool
    is_supported: bool = False

    @property
    def words(self) -> str:
        """Say the label, and what it is of."""
        return f"{self.label}: {self.difference_words}"

    @property
    def difference_words(self) -> str:
        """Say the difference, where it was measured, and what came of single verdicts."""
        between = ""
        if self.interval:
            low, high = self.interval
            between = f" (95 % interval {low:+.2f} to {high:+.2f})"
        tasks = "1 task" if self.tasks == 1 else f"{self.tasks} tasks"
        place = f"{tasks} held out" if self.is_unseen else f"{tasks} it was revised for"
        return (
            f"{self.difference:+.2f}{between} on the {place}, {self.looks} fresh "
            f"looks each; verdicts fixed: {self.fixed}, broken: {self.broken}"
        )

    @property
    def meaning(self) -> str:
        """Say what the label means, and what it does not."""
        chance = f"chance alone would bring this about in {self.p:.1%} of such comparisons"
        if self.is_supported:
            chance = "confirmed at all tasks together, and no lower at those held out"
        meanings: dict[Label, str] = {
            "confirmed": "better by more than chance",
            "likely": f"probably better: {chance}",
            "not distinguishable": "it may be better, worse or the same: this cannot tell it from "
            "chance; more tasks would",
            "worse": "what looked better in the search is not: the baseline stays",
        }
        limit = "" if self.is_unseen else "; of other questions it says nothing"
        return meanings[self.label] + limit

    @property
    def is_better(self) -> bool:
        """Tell whether the difference is more than chance."""
        return self.label in ("confirmed", "likely")


def compare_trials(
    before: Sequence[Trial], after: Sequence[Trial], *, is_unseen: bool
) -> Comparison | None:
    """Compare trials paired by task and by the order of its looks; None where no pair was scored.

    Over tasks that were not revised for, p counts tasks, if there are six; else it counts looks. As
    an agent and a judge at temperature 0 may err the same way at every look, it is then no smaller
    than the p of as many verdicts fixed, and as few broken, each counted once.
    """
    groups = _pair_looks(before, after)
    if not groups:
        return None
    means = [fmean(group) for group in groups.values()]
    looks = [value for group in groups.values() for value in group]
    difference = fmean(means)
    interval = difference_interval([means] if is_unseen else [*groups.values()])
    fixed, broken = name_changes(before, after)
    if is_unseen and len(means) >= _FEWEST_TASKS:
        p = sign_flip_p(means)
    else:
        # Half of the two-sided p: that verdicts are fixed is what was looked for.
        changed = sign_flip_p([1.0] * len(fixed) + [-1.0] * len(broken)) / 2
        p = max(sign_flip_p(looks), changed)
    return Comparison(
        baseline=_score(before, groups),
        best=_score(after, groups),
        difference=difference,
        interval=interval,
        p=p,
        label=find_label(difference, interval, p),
        tasks=len(groups),
        looks=max(map(len, groups.values())),
        fixed=len(fixed),
        broken=len(broken),
        is_unseen=is_unseen,
    )


def find_label(difference: float, interval: Interval | None, p: float) -> Label:
    """Say in one word whether a difference is one."""
    is_sure = p <= _LIKELY_P
    if difference > ROUNDING:
        if interval and interval[0] > ROUNDING and p <= _CONFIRMED_P:
            return "confirmed"
        return "likely" if is_sure else "not distinguishable"
    is_below = interval is not None and interval[1] < -ROUNDING
    return "worse" if is_below or (is_sure and difference < 0) else "not distinguishable"


def name_changes(before: Iterable[Trial], after: Iterable[Trial]) -> tuple[list[str], list[str]]:
    """Name the criteria that are met more often, and those that are met less often."""
    changes = subtract(mean_cells(after), mean_cells(before))
    fixed = [cell[-1] for cell, change in changes.items() if change > ROUNDING]
    broken = [cell[-1] for cell, change in changes.items() if change < -ROUNDING]
    return fixed, broken


def _pair_looks(before: Iterable[Trial], after: Iterable[Trial]) -> dict[str, list[float]]:
    first, second = _list_scores(before), _list_scores(after)
    paired = {
        key: [new - old for old, new in zip(first[key], second[key], strict=False)]
        for key in first
        if key in second
    }
    return {key: group for key, group in paired.items() if group}


def _list_scores(trials: Iterable[Trial]) -> dict[str, list[float]]:
    scores: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        if trial.score is not None:
            scores[trial.task_key].append(trial.score)
    return scores


def _score(trials: Iterable[Trial], wanted: Mapping[str, object]) -> ScoreWithInterval:
    scores = [score for key, score in mean_scores(trials).items() if key in wanted]
    return ScoreWithInterval(fmean(scores), score_interval(scores))
