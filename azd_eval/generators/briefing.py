"""Put a brief into the words of a drafting request: data as JSON, long texts shortened."""

import json
from collections.abc import Sequence
from typing import Any, Final

from azd_eval.domain.suite import Brief
from azd_eval.domain.task import Task

_LONGEST_TEXT: Final = 24_000
_LONGEST_GOLDEN: Final = 600
_MOST_GOLDEN: Final = 40


def as_json(value: Any) -> str:
    """Write data for a prompt; letters of all languages stay readable."""
    return json.dumps(value, ensure_ascii=False, indent=1)


def describe_brief(brief: Brief) -> dict[str, Any]:
    """Give what a model may know of the agent."""
    return {
        "agent": brief.agent,
        "generation_instruction": _shorten(brief.sentence, _LONGEST_TEXT),
        "agent_instructions": _shorten(brief.instructions, _LONGEST_TEXT),
    }


def describe_golden(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Give the tasks of a dataset, evenly picked where it is large."""
    step = -(-len(tasks) // _MOST_GOLDEN) or 1
    return [
        {
            "prompt": [_shorten(turn.prompt, _LONGEST_GOLDEN) for turn in task.turns],
            "criteria": [
                _shorten(criterion.instruction, _LONGEST_GOLDEN)
                for turn in task.turns
                for criterion in turn.criteria
            ],
        }
        for task in tasks[::step]
    ]


def excerpt(text: str, longest: int = 160) -> str:
    """Quote the beginning of what a model wrote, on one line."""
    return repr(_shorten(" ".join(text.split()), longest)) if text.strip() else "nothing"


def _shorten(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return f"{text[: longest * 2 // 3]} ... {text[-longest // 3 :]}"
