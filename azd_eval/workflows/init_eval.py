"""Draft an evaluation suite: a rubric, then exactly the tasks asked for, spread over the topics."""

import asyncio
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from azd_eval.domain.criterion import Rubric
from azd_eval.domain.language import detect_language
from azd_eval.domain.ports import BlueprintDrafter, TaskDrafter
from azd_eval.domain.similarity import PromptIndex
from azd_eval.domain.slots import batch_slots, plan_slots
from azd_eval.domain.suite import Brief, Slot, TaskDelivery, TaskOrder
from azd_eval.domain.task import Task, make_unique
from azd_eval.domain.topics import merge_topics, read_scope
from azd_eval.errors import MeasurementError, ModelError
from azd_eval.prompts import fill

Progress = Callable[[str, int, int], None]

# Slots in one order, round by round: a small order is easier to fill and is not cut off.
_ORDER_SIZES: Final = (5, 3, 2, 1)
_MOST_REASONS: Final = 3

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
_LONGEST_AGENT: Final = 60


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """What is to be drafted. With golden tasks in the brief, only the rubric is."""

    brief: Brief
    max_tasks: int


@dataclass(frozen=True, slots=True)
class DraftedSuite:
    """A rubric and tasks, not yet on disk. `shortfall` says how many tasks are missing, and why."""

    rubric: Rubric
    tasks: tuple[Task, ...]
    shortfall: str | None = None


@dataclass(frozen=True, slots=True)
class AssetNames:
    """What the dataset and the evaluator of an agent are called, and their common version."""

    dataset: str
    evaluator: str
    version: int


async def init_eval(
    plan: SuitePlan,
    blueprint_drafter: BlueprintDrafter,
    task_drafter: TaskDrafter,
    on_progress: Progress,
) -> DraftedSuite:
    """Draft the rubric with one call and the tasks in small orders, all of a round at once.

    Slots that stay empty are ordered again, in three more rounds at most. `on_progress` gets the
    stage (`blueprint`, `tasks`), how many are done, and of how many. The outcome does not depend on
    which order is delivered first. The drafters' model bounds how many calls are in flight. Raises
    `ModelError` when a call failed for good, `MeasurementError` when no task could be used.
    """
    on_progress("blueprint", 0, 1)
    blueprint = await blueprint_drafter.draft_blueprint(plan.brief)
    on_progress("blueprint", 1, 1)
    if plan.brief.golden:
        return DraftedSuite(blueprint.rubric, tuple(plan.brief.golden))
    scope = read_scope(plan.brief.sentence)
    topics = merge_topics(scope.topics, blueprint.topics) or (plan.brief.agent,)
    tray = _Tray(plan_slots(topics, plan.max_tasks, scope.kinds))
    on_progress("tasks", 0, plan.max_tasks)
    for size in _ORDER_SIZES:
        before = len(tray.filled)
        orders = _write_orders(tray, size, plan.brief, blueprint.rubric)
        await _fill(tray, orders, task_drafter, on_progress)
        if not tray.open or 0 < before == len(tray.filled):
            break
    if not tray.filled:
        raise MeasurementError(
            f"no task could be drafted: {tray.reasons()}",
            hint="try again, or choose a more capable model with `--eval-model`",
        )
    return DraftedSuite(blueprint.rubric, tray.tasks, tray.shortfall())


def name_assets(agent: str, existing_names: Iterable[str]) -> AssetNames:
    """Name dataset and evaluator of an agent, with the first version that neither of them has.

    `existing_names` are names of files, with or without their ending, or labels such as `NAME/v1`.
    """
    slug = _slug(agent)
    dataset, evaluator = f"{slug}-eval-seed", f"{slug}-quality"
    known = re.compile(
        rf"(?:{re.escape(dataset)}|{re.escape(evaluator)})[./]v(\d{{1,9}})(?:\.\w+)?", re.IGNORECASE
    )
    versions = [int(match[1]) for name in existing_names if (match := known.fullmatch(name))]
    return AssetNames(dataset, evaluator, max(versions, default=0) + 1)


def draft_instructions(agent: str, sentence: str) -> str:
    """Draft plain instructions to start from: what the user said of the agent, and no more.

    All in the language of the sentence: beside another one, no word of ours.
    """
    scope = read_scope(sentence)
    topics = ", ".join(scope.topics)
    if sentence.strip() and detect_language(sentence) != "en":
        return "\n".join(filter(None, (scope.role, topics))) + "\n"
    about = [scope.role or "Help the user with what they ask."]
    if topics:
        about.append(f"You help with: {topics}.")
    return fill("starting_instructions.md", {"agent": agent, "about": " ".join(about)})


@dataclass(slots=True)
class _Tray:
    """The slots of a dataset and the tasks that fill them; lets nothing in twice.

    A task fills any open slot of its topic and kind; a name that stands already gets a number.
    """

    slots: Sequence[Slot]
    filled: dict[Slot, Task] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)
    _prompts: PromptIndex = field(default_factory=PromptIndex)

    @property
    def open(self) -> list[Slot]:
        return [slot for slot in self.slots if slot not in self.filled]

    @property
    def tasks(self) -> tuple[Task, ...]:
        return tuple(self.filled[slot] for slot in self.slots if slot in self.filled)

    def prompts_like(self, slots: Sequence[Slot]) -> tuple[str, ...]:
        """Give the prompts of the same topics or kinds, to be avoided."""
        topics, kinds = {slot.topic for slot in slots}, {slot.kind for slot in slots}
        return tuple(
            task.turns[0].prompt
            for slot, task in self.filled.items()
            if slot.topic in topics or slot.kind in kinds
        )

    def take(self, delivery: TaskDelivery) -> None:
        self.faults.update(delivery.faults)
        for task in delivery.tasks:
            self._put(task)

    def _put(self, task: Task) -> None:
        place = (task.metadata.get("topic"), task.category)
        alike = (slot for slot in self.slots if (slot.topic, slot.kind) == place)
        slot = next((slot for slot in alike if slot not in self.filled), None)
        if slot is None:
            self.faults["more tasks of a kind than were ordered"] += 1
            return
        if not self._prompts.add_if_new(task.turns[0].prompt):
            self.faults["almost the prompt of another task"] += 1
            return
        names = {one.name for one in self.filled.values()}
        self.filled[slot] = replace(task, name=make_unique(task.name, names))

    def reasons(self) -> str:
        common = self.faults.most_common(_MOST_REASONS)
        return "; ".join(
            f"{fault} ({count} times)" if count > 1 else fault for fault, count in common
        )

    def shortfall(self) -> str | None:
        if not self.open:
            return None
        count = f"{len(self.filled)} of {len(self.slots)} tasks were drafted"
        why = f"not used: {self.reasons()}" if self.faults else "the model wrote no more"
        return f"{count}; {why}. Name more topics or ask for fewer tasks"


def _write_orders(tray: _Tray, size: int, brief: Brief, rubric: Rubric) -> list[TaskOrder]:
    batches = batch_slots(tray.open, size)
    if not tray.filled and size != _ORDER_SIZES[0]:
        # A drafter that has delivered nothing is not asked for everything again.
        batches = batches[:1]
    return [TaskOrder(brief, rubric, slots, tray.prompts_like(slots)) for slots in batches]


async def _fill(
    tray: _Tray, orders: Sequence[TaskOrder], drafter: TaskDrafter, on_progress: Progress
) -> None:
    pending = [asyncio.create_task(_draft(order, drafter)) for order in orders]
    errors = []
    try:
        for delivery in pending:
            outcome = await delivery
            if isinstance(outcome, ModelError):
                errors.append(outcome)
                outcome = TaskDelivery((), (outcome.message,))
            tray.take(outcome)
            on_progress("tasks", len(tray.filled), len(tray.slots))
    finally:
        for delivery in pending:
            delivery.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
    if not tray.filled and len(errors) == len(orders):
        raise errors[0]


async def _draft(order: TaskOrder, drafter: TaskDrafter) -> TaskDelivery | ModelError:
    try:
        return await drafter.draft_tasks(order)
    except ModelError as error:
        if error.is_fatal:
            raise
        return error


def _slug(agent: str) -> str:
    """Write a name so that every file system and azd's registry take it."""
    plain = unicodedata.normalize("NFKD", agent).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9_]+", "-", plain)[:_LONGEST_AGENT].strip("-_")
    if not slug:
        return f"agent-{hashlib.sha256(agent.encode(errors='surrogatepass')).hexdigest()[:8]}"
    return f"{slug}-agent" if _RESERVED.fullmatch(slug) else slug
