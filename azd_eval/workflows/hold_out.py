"""Hold tasks out: what the reflector never sees tells whether it learned or copied."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from azd_eval.domain.task import Task
from azd_eval.workflows.optimization_job import OptimizationJob


@dataclass(frozen=True, slots=True)
class Split:
    """Tasks to learn from and tasks held out, each in dataset order."""

    learning: tuple[Task, ...]
    held_out: tuple[Task, ...]

    @property
    def names(self) -> dict[str, list[str]]:
        return {
            "learning": [task.name for task in self.learning],
            "held_out": [task.name for task in self.held_out],
        }


def split_tasks(job: OptimizationJob) -> Split:
    """Hold out the user's own validation tasks, or else a share, the same for the same seed.

    Validation tasks that the dataset holds too are not held out. At least two tasks stay to learn
    from.
    """
    if job.validation:
        known = {task.key for task in job.tasks}
        unseen = tuple(task for task in job.validation if task.key not in known)
        return Split(tuple(job.tasks), unseen)
    drawn = _draw(job.tasks, count_held_out(job), Random(f"hold out {job.seed}"))
    return Split(
        tuple(task for task in job.tasks if task.key not in drawn),
        tuple(task for task in job.tasks if task.key in drawn),
    )


def count_held_out(job: OptimizationJob) -> int:
    """Tell how many tasks of the dataset are held out."""
    policy, total = job.policy, len(job.tasks)
    if job.hold_out is not None:
        return max(0, min(round(job.hold_out * total), total - 2))
    if total < policy.hold_out_from:
        return 0
    return max(policy.hold_out_least, round(policy.hold_out_share * total))


def _draw(tasks: Sequence[Task], count: int, random: Random) -> set[str]:
    """Draw from each category by its share, whichever is furthest behind it."""
    groups: dict[str | None, list[str]] = defaultdict(list)
    # By content, so that the order of the dataset does not matter.
    for task in sorted(tasks, key=lambda each: each.key):
        groups[task.category].append(task.key)
    for keys in groups.values():
        random.shuffle(keys)
    shares = {category: count * len(keys) / len(tasks) for category, keys in groups.items()}
    drawn: set[str] = set()
    for _ in range(count):
        category = max(shares, key=lambda each: shares[each] if groups[each] else -1.0)
        shares[category] -= 1
        drawn.add(groups[category].pop())
    return drawn
