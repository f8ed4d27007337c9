"""Draft rubric and tasks by rules, without a language model (the offline engine).

Prompts are put together from the templates of `offline_tasks.json`, in the language of the
sentence; criteria follow from its topics and from what the agent's instructions state, and carry
the check that decides them. The same seed gives the same suite.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from azd_eval.domain.criterion import Check, Criterion, Rubric
from azd_eval.domain.language import detect_language
from azd_eval.domain.similarity import PromptIndex
from azd_eval.domain.suite import Blueprint, Brief, Slot, TaskDelivery, TaskOrder
from azd_eval.domain.task import Task, Turn
from azd_eval.domain.topics import read_scope
from azd_eval.generators.naming import snake_case
from azd_eval.generators.offline_criteria import (
    LONGEST_REPLY,
    PLACEHOLDER,
    CriteriaWriter,
    make_writer,
)
from azd_eval.generators.rules import Rule, find_rules, find_word_limit
from azd_eval.prompts import fill_text, template

_MOST_FITTED: Final = 3
_MOST_SHARED: Final = 2

_ASSISTANT = r"(?:agente?|assistant|assistente?|asistente|(?:chat)?bot)"
_LEADING_ASSISTANT = re.compile(
    r"^(?:you are )?(?:(?:an?|une?|uno|ein|this|the) )?"
    rf"(?:{_ASSISTANT}\b(?: (?:for|that|di|che|de|que|para|für|pour))?\s*)?",
    re.IGNORECASE,
)
_AFTER_TOPIC = re.compile(rf"(?:\s+{_ASSISTANT}\b|[,.;:。]).*", re.IGNORECASE | re.DOTALL)
_LONGEST_TOPIC: Final = 60


@dataclass(frozen=True, slots=True)
class OfflineBlueprintDrafter:
    """Drafts a rubric: what can be checked has a check, the rest stays undecided offline."""

    async def draft_blueprint(self, brief: Brief) -> Blueprint:
        """Draft; never fails."""
        scope = read_scope(brief.sentence)
        job = scope.role or brief.sentence or brief.agent
        limit = find_word_limit(brief.instructions) or LONGEST_REPLY
        shared = _shared_criteria(brief.golden)
        kept = [_keep(rule) for rule in find_rules(brief.instructions) if rule.is_general]
        dimensions = (
            Criterion("does_its_job", f"The reply does what the agent is there for: {job}", 8),
            *(*shared, *kept)[:_MOST_FITTED],
            Criterion(
                "stays_in_scope",
                "Asked for something that is not its job, the agent declines to do it",
                weight=4,
                always_applicable=False,
            ),
            Criterion(
                "is_brief",
                f"The reply has {limit} words at most",
                weight=3,
                check=Check("max_words", limit),
            ),
            Criterion(
                "has_no_placeholders",
                "The reply can be read as it is, without placeholders left to fill in",
                weight=3,
                check=Check("not_regex", PLACEHOLDER),
            ),
            Criterion(
                "general_quality",
                "The reply answers what was asked, completely and without contradicting itself",
                weight=2,
            ),
        )
        unique = {each.name: each for each in reversed(dimensions)}
        rubric = Rubric("quality", tuple(reversed(unique.values())))
        return Blueprint(rubric, scope.topics or _guess_topics(brief))


@dataclass(frozen=True, slots=True)
class OfflineTaskDrafter:
    """Drafts tasks from templates; which of them is a matter of `seed` and the slot's number."""

    seed: int = 0

    async def draft_tasks(self, order: TaskOrder) -> TaskDelivery:
        """Draft; a slot for which no new prompt is left is a fault."""
        language = detect_language(order.brief.sentence or order.brief.instructions)
        phrases = json.loads(template("offline_tasks.json"))[language]
        writer = make_writer(order.brief, phrases)
        known = PromptIndex()
        for prompt in order.avoid:
            known.add_if_new(prompt)
        tasks: list[Task] = []
        faults: list[str] = []
        for slot in order.slots:
            drafts = self._drafts(slot, phrases, writer)
            new = next((draft for draft in drafts if known.add_if_new(draft[1])), None)
            if new is None:
                faults.append("the offline templates hold no further prompt of a kind")
                continue
            place, prompt = new
            turn = Turn(prompt, writer.write(slot, prompt))
            name = f"{snake_case(slot.topic)}_{slot.kind}_{place}"
            tasks.append(Task(name, (turn,), slot.kind, metadata={"topic": slot.topic}))
        return TaskDelivery(tuple(tasks), tuple(faults))

    def _drafts(
        self, slot: Slot, phrases: Mapping[str, Any], writer: CriteriaWriter
    ) -> Iterator[tuple[int, str]]:
        """Join each situation with each ask, beginning at the place of the slot's number."""
        random = Random(f"{self.seed} {slot.kind}")
        parts = phrases["kinds"][slot.kind]
        situations, asks = list(parts["situations"]), writer.fitting_asks(parts)
        random.shuffle(situations)
        random.shuffle(asks)
        values = {"topic": slot.topic, "other": writer.other_topic(slot)}
        total = len(situations) * len(asks)
        for step in range(total):
            # Both parts change from one place to the next, and each pair has one place.
            place = (slot.number + step) % total
            turn, at = divmod(place, len(situations))
            ask = asks[(turn + at) % len(asks)]
            yield place, fill_text(phrases["space"].join((situations[at], ask)), values)


def _guess_topics(brief: Brief) -> tuple[str, ...]:
    """Name what the agent is for where the sentence lists nothing: "Coding assistant": Coding."""
    told = read_scope(brief.sentence).role or brief.instructions
    text = _LEADING_ASSISTANT.sub("", " ".join(told.split()), count=1)
    return (_AFTER_TOPIC.sub("", text, count=1)[:_LONGEST_TOPIC].strip() or brief.agent,)


def _keep(rule: Rule) -> Criterion:
    return Criterion(rule.name, f"The reply keeps to this rule: {rule.text}", 5, check=rule.check)


def _shared_criteria(tasks: Sequence[Task]) -> list[Criterion]:
    """Make dimensions of what a dataset asks for again and again."""
    asked = [each for task in tasks for turn in task.turns for each in turn.criteria]
    shared = Counter(each.name for each in asked).most_common(_MOST_SHARED)
    first: dict[str, Criterion] = {each.name: each for each in reversed(asked)}
    return [
        Criterion(snake_case(name) or "asked", first[name].instruction, 4, always_applicable=False)
        for name, _ in shared
    ]
