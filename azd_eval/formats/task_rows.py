"""The row of a task as files and models write it: its fields and their types.

Names follow the files (`groundTruth`, `query`); `formats.tasks` translates them.
"""

import json
from typing import Annotated, Any, Literal, Required, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from azd_eval.formats.document_results import Citation, Diagnostics
from azd_eval.formats.faults import HALF_PAIR
from azd_eval.formats.json_text import TOO_DEEP, is_too_deep

V = TypeVar("V")

MOST_ITEMS = 1000

Text = Annotated[str, Field(pattern=r"\S")]
Texts = Annotated[list[Text], Field(min_length=1, max_length=MOST_ITEMS)]


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def check_encodable(value: V) -> V:
    """Give back what JSON in UTF-8 can hold; raises `ValueError` with a sentence."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(HALF_PAIR) from None
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    except (ValueError, TypeError):
        raise ValueError("holds something that JSON cannot hold") from None
    if is_too_deep(text):
        raise ValueError(TOO_DEEP)
    return value


TextOrTexts = Annotated[Texts, BeforeValidator(_as_list, json_schema_input_type=Text | Texts)]
FreeText = Annotated[str, AfterValidator(check_encodable)]
Metadata = Annotated[dict[str, Any], AfterValidator(check_encodable)]
EvaluatorMap = Annotated[dict[str, dict[str, Any]], AfterValidator(check_encodable)]
_EXACT = ConfigDict(extra="forbid", strict=True)


@with_config(_EXACT)
class CheckRow(TypedDict, total=False):
    """A deterministic test of the reply; exactly one of these."""

    contains: Text
    contains_any: Texts
    contains_all: Texts
    not_contains: TextOrTexts
    regex: Text
    not_regex: Text
    equals: FreeText
    min_words: Annotated[int, Field(ge=1)]
    max_words: Annotated[int, Field(ge=0)]
    is_json: bool


@with_config(_EXACT)
class CriterionRow(TypedDict, total=False):
    """One yes/no question about the reply."""

    name: Required[Annotated[Text, Field(description="short name, unique in its task")]]
    instruction: Required[Annotated[Text, Field(description="what is checked: specific, testable")]]
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    must: Annotated[bool, Field(description="a failing `must` fails the task")]
    check: Annotated[CheckRow | None, Field(description="a test in place of a model")]


@with_config(_EXACT)
class EvidenceRow(TypedDict, total=False):
    """What came beside a reply, as in documents."""

    citations: list[Citation]
    diagnostics: Diagnostics


Criteria = Annotated[list[CriterionRow], Field(max_length=MOST_ITEMS)]


@with_config(_EXACT)
class TurnRow(TypedDict, total=False):
    """One user message, and what its reply must fulfil."""

    prompt: Annotated[Text | None, Field(description="message sent to the agent")]
    query: Annotated[Text | None, Field(description="another spelling of `prompt`")]
    criteria: Criteria | None
    groundTruth: Annotated[FreeText | None, Field(description="expected answer")]
    ground_truth: Annotated[FreeText | None, Field(description="like `groundTruth`")]
    grounding: Annotated[FreeText | None, Field(description="text that the reply must rest on")]
    evaluators: Annotated[EvaluatorMap | None, Field(description="named evaluators, with options")]
    evaluators_mode: Annotated[
        Literal["extend", "replace"] | None,
        Field(description="`evaluators` beside those of the run, or in their place"),
    ]
    response: Annotated[FreeText | None, Field(description="a reply of earlier, to be scored")]
    evidence: Annotated[EvidenceRow | None, Field(description="what came beside `response`")]
    carried: Annotated[Metadata | None, Field(description="what a document says beside all this")]


Turns = Annotated[list[TurnRow], Field(min_length=1, max_length=MOST_ITEMS)]


@with_config(_EXACT)
class TaskRow(TurnRow, total=False):
    """One line of a dataset. Next to `turns`, criteria and groundTruth are of the last turn."""

    name: Annotated[Text | None, Field(description="unique; made from the content if missing")]
    category: Text | None
    context: Annotated[FreeText | None, Field(description="background, given with the prompt")]
    metadata: Annotated[Metadata | None, Field(description="your own; sent to nobody")]
    turns: Turns | None
    testId: Annotated[Text | None, Field(description="your own name for it, stable over versions")]
