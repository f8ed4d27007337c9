"""Draft rubric and tasks by rules, without a language model (the offline engine).

Prompts are put together from the templates of `offline_tasks.json`, in the language of the
sentence. Criteria follow from its topics and from what the agent's instructions state, and carry
the check that decides them. The same seed gives the same suite.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from azd_eval.domain.criterion import Check, CheckKind, Criterion, Rubric
from azd_eval.domain.language import detect_language
from azd_eval.domain.similarity import PromptIndex
from azd_eval.domain.suite import Blueprint, Brief, Slot, TaskDelivery, TaskOrder
from azd_eval.domain.task import Task, Turn
from azd_eval.domain.topics import read_scope, topic_words
from azd_eval.generators.naming import snake_case
from azd_eval.generators.rules import Rule, find_rules
from azd_eval.prompts import fill_text, template

_PLACEHOLDER: Final = r"\{\{|\}\}|\[(?:your|insert)\b|<(?:your|insert)\b"
_CODE_WORD = re.compile(r"[A-Z]{5,}")
_WORD_LIMIT: Final = 200
_MOST_CRITERIA: Final = 5
_FORMAL_WEIGHT: Final = 3
_MOST_RULES: Final = 3

_ASSISTANT = r"\b(?:this |the )?(?:agente?|assistant|assistente|asistente|(?:chat)?bot)\b"
_LEADING_ASSISTANT = re.compile(
    rf"\s*(?:an? |une? |uno? )?{_ASSISTANT}\s+(?:(?:for|that|which|di|che|de|que|para|per|für|pour)\s+)?",
    re.IGNORECASE,
)
_LATER_ASSISTANT = re.compile(rf"\s+{_ASSISTANT}.*|[,.;:。].*", re.IGNORECASE | re.DOTALL)
_LONGEST_GUESS: Final = 4


@dataclass(frozen=True, slots=True)
class OfflineBlueprintDrafter:
    """Drafts a rubric of what can be checked, and of what only a reader could judge."""

    async def draft_blueprint(self, brief: Brief) -> Blueprint:
        """Draft; dimensions without a check stay undecided when rules judge."""
        scope = read_scope(brief.sentence)
        rules = [rule for rule in find_rules(brief.instructions) if rule.is_general]
        dimensions = [
            Criterion(
                "does_its_job",
                f"The reply does what the agent is there for: {scope.role or brief.agent}",
                weight=8,
            ),
            *(
                Criterion(
                    rule.name,
                    f"The reply keeps to this rule of the agent: {rule.text}",
                    weight=5,
                    check=rule.check,
                )
                for rule in rules[:_MOST_RULES]
            ),
            *_shared_criteria(brief.golden),
            Criterion(
                "stays_in_scope",
                "When asked for something else than its job, the reply declines",
                weight=4,
                always_applicable=False,
            ),
            Criterion(
                "is_concise",
                f"The reply has {_WORD_LIMIT} words at most",
                _FORMAL_WEIGHT,
                check=Check("max_words", _WORD_LIMIT),
            ),
        ]
        return Blueprint(Rubric("quality", tuple(dimensions)), ())
