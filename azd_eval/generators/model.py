"""Draft rubric and tasks with a chat model.

What it writes passes the same strict readers as the files of users, which are handed in. Of a reply
that is good in part the good tasks are kept.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, cycle
from typing import Any, Final

from azd_eval.domain.chat import ChatRequest, Message, ReplySchema
from azd_eval.domain.criterion import Rubric
from azd_eval.domain.ports import ChatModel
from azd_eval.domain.suite import Blueprint, Brief, Slot, TaskDelivery, TaskOrder
from azd_eval.domain.task import Task
from azd_eval.errors import ModelError
from azd_eval.generators.briefing import as_json, describe_brief, describe_golden, excerpt
from azd_eval.generators.naming import snake_case, tell_apart
from azd_eval.prompts import fill, template
from azd_eval.structured import ask

ReadRubric = Callable[[Mapping[str, Any]], Rubric]
ReadTask = Callable[[Mapping[str, Any]], Task]

_RESIDUAL: Final = "general_quality"
_RESIDUAL_DIMENSION: Final = {
    "description": (
        "The reply answers what was asked, completely, without contradicting itself, and in the "
        "language of the user."
    ),
    "weight": 2,
}
_HIGHEST_WEIGHT: Final = 10
_FEWEST_DIMENSIONS: Final = 4
_MOST_DIMENSIONS: Final = 8
_FEWEST_CRITERIA: Final = 2
_MOST_CRITERIA: Final = 5
_MOST_AVOIDED: Final = 40


def _object_of(**properties: Any) -> dict[str, Any]:
    # Strict structured output wants every property required and no others.
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_TEXT: Final = {"type": "string"}
_BLUEPRINT: Final = ReplySchema(
    "blueprint",
    _object_of(
        topics=_list_of(_TEXT),
        dimensions=_list_of(
            _object_of(
                id=_TEXT,
                description=_TEXT,
                weight={"type": "integer"},
                always_applicable={"type": "boolean"},
            )
        ),
    ),
)
_TASKS: Final = ReplySchema(
    "tasks",
    _object_of(
        tasks=_list_of(
            _object_of(
                slot={"type": "integer"},
                name=_TEXT,
                prompt=_TEXT,
                criteria=_list_of(_object_of(name=_TEXT, instruction=_TEXT)),
                groundTruth={"type": ["string", "null"]},
            )
        )
    ),
)


@dataclass(frozen=True, slots=True)
class ModelBlueprintDrafter:
    """Drafts rubric and topics with one call, two when the first answer cannot be used.

    `read_rubric` reads an evaluator as a file has it and raises `ValueError`.
    """

    model: ChatModel
    read_rubric: ReadRubric

    async def draft_blueprint(self, brief: Brief) -> Blueprint:
        """Draft; raises `ModelError` that quotes the answer when it cannot be used."""
        data = {**describe_brief(brief), "dataset": describe_golden(brief.golden)}
        user = fill("draft_blueprint_brief.md", {"brief": as_json(data)})
        request = _request("draft_blueprint.md", user, _BLUEPRINT)
        answer = await ask(self.model, request, partial(self._read, brief))
        if answer.value is None:
            raise ModelError(
                f"the model drafted no usable evaluator: {answer.fault}; "
                f"it answered {excerpt(answer.raw)}",
                code="unreadable_reply",
                hint="try again, or choose a more capable model with `--eval-model`",
            )
        return answer.value

    def _read(self, brief: Brief, value: object) -> Blueprint:
        rows = _rows(value, "dimensions")
        topics = value.get("topics") if isinstance(value, dict) else None
        if not isinstance(topics, list) or not all(isinstance(topic, str) for topic in topics):
            raise ValueError("`topics` must be a list of texts")
        rubric = self.read_rubric(
            {
                "type": "rubric",
                "name": "quality",
                "version": "1",
                "description": f"Quality of the replies of {brief.agent}",
                "dimensions": _complete(rows),
            }
        )
        return Blueprint(rubric, tuple(topic.strip() for topic in topics if topic.strip()))


@dataclass(frozen=True, slots=True)
class ModelTaskDrafter:
    """Drafts the tasks of an order with one call, two when nothing of the first can be used.

    `read_task` reads the row of a task as a dataset has it and raises `ValueError`.
    """

    model: ChatModel
    read_task: ReadTask

    async def draft_tasks(self, order: TaskOrder) -> TaskDelivery:
        """Draft; what is wrong with single tasks, or with the whole answer, is told as faults."""
        angles = template("draft_angles.md").splitlines()
        slots = [
            {
                "slot": place,
                "topic": slot.topic,
                "kind": slot.kind,
                "angle": angles[slot.number % len(angles)],
            }
            for place, slot in enumerate(order.slots, start=1)
        ]
        values = {
            "brief": as_json(describe_brief(order.brief)),
            "dimensions": as_json([one.instruction for one in order.rubric.dimensions]),
            "avoid": as_json(order.avoid[-_MOST_AVOIDED:]),
            "slots": as_json(slots),
        }
        request = _request("draft_tasks.md", fill("draft_tasks_order.md", values), _TASKS)
        answer = await ask(self.model, request, partial(self._read, order.slots))
        if answer.value is None:
            fault = f"{answer.fault}; the model answered {excerpt(answer.raw)}"
            return TaskDelivery((), (fault,))
        return answer.value

    def _read(self, slots: Sequence[Slot], value: object) -> TaskDelivery:
        tasks: list[Task] = []
        faults: list[str] = []
        for place, row, slot in _assign(_rows(value, "tasks"), slots):
            try:
                tasks.append(self._read_one(row, slot))
            except ValueError as error:
                faults.append(f"task {place}: {error}")
        if not tasks:
            raise ValueError("; ".join(faults) or "`tasks` is empty")
        return TaskDelivery(tuple(tasks), tuple(faults))

    def _read_one(self, row: object, slot: Slot) -> Task:
        if not isinstance(row, dict):
            raise ValueError("expected an object")
        plain = {
            "name": snake_case(str(row.get("name") or "")) or snake_case(slot.topic) or slot.kind,
            "prompt": row.get("prompt"),
            "criteria": _read_criteria(row.get("criteria")),
            "groundTruth": row.get("groundTruth"),
        }
        task = self.read_task({key: value for key, value in plain.items() if value is not None})
        return replace(task, category=slot.kind, metadata={"topic": slot.topic})


def _request(system: str, user: str, schema: ReplySchema) -> ChatRequest:
    messages = (Message("system", template(system)), Message("user", user))
    return ChatRequest(messages, purpose="generator", schema=schema)


def _rows(value: object, key: str) -> list[Any]:
    rows = value.get(key) if isinstance(value, dict) else value
    if not isinstance(rows, list):
        raise ValueError(f"expected an object with a list `{key}`")
    return rows


def _assign(rows: Sequence[Any], slots: Sequence[Slot]) -> Iterator[tuple[int, Any, Slot]]:
    """Give each row its slot: by the number it states, else the next one that nobody states.

    More rows than slots begin again at the first slot: another task of that topic and kind.
    """
    stated = [_stated_slot(row, len(slots)) for row in rows]
    left = [slot for place, slot in enumerate(slots, start=1) if place not in stated]
    free = chain(left, cycle(slots))
    for place, (row, number) in enumerate(zip(rows, stated, strict=True), start=1):
        yield place, row, next(free) if number is None else slots[number - 1]


def _stated_slot(row: object, most: int) -> int | None:
    number = row.get("slot") if isinstance(row, dict) else None
    return number if type(number) is int and 1 <= number <= most else None


def _read_criteria(rows: object) -> list[dict[str, Any]]:
    if not isinstance(rows, list) or len(rows) < _FEWEST_CRITERIA:
        raise ValueError(f"`criteria` must be a list of {_FEWEST_CRITERIA} to {_MOST_CRITERIA}")
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("each criterion must be an object with `name` and `instruction`")
    rows = rows[:_MOST_CRITERIA]
    names = tell_apart(snake_case(str(row.get("name") or "")) or "criterion" for row in rows)
    return [
        {"name": name, "instruction": row.get("instruction")}
        for name, row in zip(names, rows, strict=True)
    ]


def _complete(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Bring drafted dimensions into the form that generated rubrics have, heaviest first.

    One weighs 8 to 10 and the others 1 to 6, as azd's service has it: what the agent is for is not
    outvoted. `general_quality` stands at the end and catches what the others miss.
    """
    drafted = {snake_case(str(row.get("id") or "")): row for row in map(_as_dimension, rows)}
    general = drafted.pop(_RESIDUAL, _RESIDUAL_DIMENSION)
    if len(drafted) < _FEWEST_DIMENSIONS - 1:
        wanted = f"{_FEWEST_DIMENSIONS} to {_MOST_DIMENSIONS} with `{_RESIDUAL}`"
        raise ValueError(f"too few dimensions: {len(rows)}; {wanted} are wanted")
    by_weight = sorted(drafted.items(), key=lambda item: -item[1]["weight"])
    (first, heaviest), *others = by_weight[: _MOST_DIMENSIONS - 1]
    others.append((_RESIDUAL, {**general, "always_applicable": True}))
    return [
        {**heaviest, "id": first, "weight": max(8, heaviest["weight"])},
        *({**row, "id": name, "weight": min(6, row["weight"])} for name, row in others),
    ]


def _as_dimension(row: object) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise ValueError("each dimension must be an object")
    weight = row.get("weight")
    if not isinstance(weight, int | float) or not 1 <= weight <= _HIGHEST_WEIGHT:
        raise ValueError(f"`weight` of {row.get('id')!r} must be a number from 1 to 10")
    wanted = ("id", "description", "always_applicable")
    return {**{key: row[key] for key in wanted if key in row}, "weight": round(weight)}
