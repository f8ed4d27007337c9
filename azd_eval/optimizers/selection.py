"""Choose among candidates that went through all their looks: the best, or another parent."""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.comparison import ROUNDING
from azd_eval.domain.ledger import subtract
from azd_eval.domain.ports import SearchBench


def choose_best(bench: SearchBench, survivors: Sequence[Candidate]) -> Candidate:
    """Choose by the mean over all looks, against the baseline; the baseline wins ties.

    Of those that are within a standard error of the highest, the shortest is taken.
    """
    gains = {each.id: _gain(bench, bench.baseline, each) for each in survivors}
    better = [each for each in survivors if gains[each.id] > ROUNDING]
    if not better:
        return bench.baseline
    highest = max(better, key=lambda each: gains[each.id])
    equal = [each for each in better if each is highest or _is_equal(bench, highest, each)]
    return min(equal, key=lambda each: len(each.instructions))


def choose_parent(
    bench: SearchBench, incumbent: Candidate, archive: Sequence[Candidate]
) -> Candidate:
    """Draw another candidate than the incumbent, by the tasks on which nobody beats it.

    `archive` holds candidates that were tried on every task.
    """
    known = [bench.baseline, *archive]
    scores = {each.id: bench.ledger.task_scores(each) for each in known}
    others = [each for each in known if each.id != incumbent.id]
    highest = {
        task.key: max(score.get(task.key, 0.0) for score in scores.values()) for task in bench.tasks
    }
    # A task that everybody fails tells nothing.
    telling = {key: top for key, top in highest.items() if top > 0}
    wins = [
        sum(scores[each.id].get(key, 0.0) > top - ROUNDING for key, top in telling.items())
        for each in others
    ]
    return bench.random.choices(others, wins)[0] if any(wins) else incumbent


def _gain(bench: SearchBench, first: Candidate, second: Candidate) -> float:
    differences = _pair(bench, first, second)
    wanted = len(bench.ledger.task_scores(first))
    is_known = differences and len(differences) >= bench.policy.least_shared * wanted
    return fmean(differences) if is_known else 0.0


def _is_equal(bench: SearchBench, highest: Candidate, other: Candidate) -> bool:
    """Tell whether looks differ by so much that the two may be the same, on these tasks."""
    counts = [len(bench.ledger.trials(each)) for each in (highest, other)]
    error = sqrt(bench.ledger.look_variance() * sum(1 / count for count in counts))
    return fmean(_pair(bench, other, highest)) <= bench.policy.equal_within * error


def _pair(bench: SearchBench, first: Candidate, second: Candidate) -> list[float]:
    scores = bench.ledger.task_scores
    return [*subtract(scores(second), scores(first)).values()]
