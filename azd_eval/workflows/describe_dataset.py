"""Count what a dataset holds."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from azd_eval.domain.task import Task


@dataclass(frozen=True, slots=True)
class Spread:
    """The smallest, the middle and the largest of some counts."""

    min: int
    median: float
    max: int


@dataclass(frozen=True, slots=True)
class DatasetStats:
    """What a dataset holds. Lengths are in characters; spreads of nothing are None.

    `categories` and `evaluators` count tasks and turns, in order of first appearance; a task
    without a category is counted under None.
    """

    tasks: int
    turns: int
    conversations: int
    categories: Mapping[str | None, int]
    criteria: int
    checks: int
    criteria_per_task: Spread | None
    prompt_length: Spread | None
    evaluators: Mapping[str, int]
    expected_answers: int
    groundings: int
    recorded_replies: int

    @property
    def judged(self) -> int:
        """How many criteria a model decides."""
        return self.criteria - self.checks


@dataclass(slots=True)
class _Count:
    """Numbers of one dataset while it is walked: never the tasks themselves."""

    totals: Counter[str] = field(default_factory=Counter)
    categories: Counter[str | None] = field(default_factory=Counter)
    evaluators: Counter[str] = field(default_factory=Counter)
    criteria: list[int] = field(default_factory=list)
    prompts: list[int] = field(default_factory=list)

    def add(self, task: Task) -> None:
        self.categories[task.category] += 1
        self.totals["conversations"] += len(task.turns) > 1
        self.criteria.append(sum(len(turn.criteria) for turn in task.turns))
        for turn in task.turns:
            self.prompts.append(len(turn.prompt))
            self.evaluators.update(turn.evaluators.keys())
            self.totals["checks"] += sum(each.check is not None for each in turn.criteria)
            self.totals["expected"] += bool(turn.expected)
            self.totals["groundings"] += bool(turn.grounding)
            self.totals["recorded"] += turn.recorded is not None


def describe_dataset(tasks: Iterable[Task]) -> DatasetStats:
    """Walk the tasks once and count."""
    count = _Count()
    for task in tasks:
        count.add(task)
    return DatasetStats(
        tasks=len(count.criteria),
        turns=len(count.prompts),
        conversations=count.totals["conversations"],
        categories=dict(count.categories),
        criteria=sum(count.criteria),
        checks=count.totals["checks"],
        criteria_per_task=_spread(count.criteria),
        prompt_length=_spread(count.prompts),
        evaluators=dict(count.evaluators),
        expected_answers=count.totals["expected"],
        groundings=count.totals["groundings"],
        recorded_replies=count.totals["recorded"],
    )


def _spread(counts: list[int]) -> Spread | None:
    return Spread(min(counts), median(counts), max(counts)) if counts else None
