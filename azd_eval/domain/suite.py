"""What `eval init` plans and drafts: the brief, the blueprint, the slots to fill with tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from azd_eval.domain.criterion import Rubric
from azd_eval.domain.task import Task

TaskKind = Literal["ordinary", "out_of_scope", "ambiguous", "adversarial", "multi_step"]

TASK_KINDS: tuple[TaskKind, ...] = (
    "ordinary",
    "out_of_scope",
    "ambiguous",
    "adversarial",
    "multi_step",
)


@dataclass(frozen=True, slots=True)
class Brief:
    """What is known of the agent before anything is drafted.

    `sentence` is the user's generation instruction; `instructions` the agent's own, if any;
    `golden` the tasks of a dataset that the user brought, to which the rubric is fitted.
    """

    agent: str
    sentence: str
    instructions: str = ""
    golden: Sequence[Task] = ()


@dataclass(frozen=True, slots=True)
class Blueprint:
    """The rubric, and the topics over which the tasks are spread."""

    rubric: Rubric
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """One task to be drafted: which topic, of which kind; `number` is its place in the dataset."""

    number: int
    topic: str
    kind: TaskKind


@dataclass(frozen=True, slots=True)
class TaskOrder:
    """A batch of slots to fill. `avoid` lists prompts that exist, so that new ones differ."""

    brief: Brief
    rubric: Rubric
    slots: tuple[Slot, ...]
    avoid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskDelivery:
    """What a drafter gave for one order: tasks that the strict reader accepts, and what failed."""

    tasks: tuple[Task, ...]
    faults: tuple[str, ...] = ()
