"""The last comparison: baseline and best, looked at afresh, by looks that chose neither."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.comparison import ROUNDING, Comparison, compare_trials
from azd_eval.domain.score import Trial
from azd_eval.domain.task import Task
from azd_eval.workflows.hold_out import Split
from azd_eval.workflows.search_bench import GuardedBench


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What fresh looks say: at the tasks held out, or at all where none is; and `overall`."""

    comparison: Comparison
    overall: Comparison

    @property
    def is_against(self) -> bool:
        """Tell whether what seemed the best is not."""
        return self.overall.difference < -ROUNDING or self.comparison.label == "worse"


async def confirm(bench: GuardedBench, best: Candidate, split: Split) -> Confirmation | None:
    """Look afresh, and record it; None for the baseline itself, or when it was cut short."""
    policy = bench.policy
    if best.id == bench.baseline.id or not policy.confirm_looks or bench.is_cut_short:
        return None
    # Enough held-out tasks say all; a few are helped out by the others.
    learned = () if len(split.held_out) >= policy.enough_held_out else split.learning
    is_quiet = bench.ledger.is_quiet(policy.quiet_verdicts)
    looks = policy.confirm_looks_quiet if is_quiet else policy.confirm_looks
    fewer = looks if not split.held_out else policy.confirm_looks_quiet
    parts = [
        (tasks, count) for tasks, count in ((split.held_out, looks), (learned, fewer)) if tasks
    ]
    candidates = (bench.baseline, best)
    before, after = await asyncio.gather(*(_look_afresh(bench, each, parts) for each in candidates))
    if bench.is_cut_short:
        return None
    confirmation = _compare(before, after, split)
    if confirmation:
        compared = confirmation.comparison
        words = {"words": compared.words, "meaning": compared.meaning}
        bench.record({"event": "confirmed", "id": best.id, **asdict(compared), **words})
    return confirmation


def _compare(before: Sequence[Trial], after: Sequence[Trial], split: Split) -> Confirmation | None:
    overall = compare_trials(before, after, is_unseen=False)
    if overall is None or not split.held_out:
        return Confirmation(overall, overall) if overall else None
    unseen = {task.key for task in split.held_out}
    held_out = compare_trials(
        [trial for trial in before if trial.task_key in unseen],
        [trial for trial in after if trial.task_key in unseen],
        is_unseen=True,
    )
    if held_out is None:
        return Confirmation(overall, overall)
    return Confirmation(_support(held_out, overall), overall)


def _support(held_out: Comparison, overall: Comparison) -> Comparison:
    """Call likely what all tasks together confirm, and a few held-out ones do not contradict."""
    is_open = held_out.label == "not distinguishable" and held_out.difference > -ROUNDING
    if is_open and overall.tasks > held_out.tasks and overall.label == "confirmed":
        return replace(held_out, label="likely", is_supported=True)
    return held_out


async def _look_afresh(
    bench: GuardedBench, candidate: Candidate, parts: Sequence[tuple[Sequence[Task], int]]
) -> list[Trial]:
    first = bench.next_look(candidate)
    looks = (
        bench.measure(candidate, tasks, look)
        for tasks, count in parts
        for look in range(first, first + count)
    )
    return [trial for trials in await asyncio.gather(*looks) for trial in trials]
