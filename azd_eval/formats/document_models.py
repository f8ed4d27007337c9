"""The official schema of evaluation documents, version 1.11, as types: root, items, turns.

What holds other maps (`items`, `evaluators`, `scores`) is open here; `document_schema` looks into
it. Closed and open objects, and what may be null, are exactly the schema's.
"""

from typing import Annotated, Any, Literal, NotRequired, Required

from pydantic import AfterValidator, Field, with_config
from typing_extensions import TypedDict

from azd_eval.formats.document_results import (
    CLOSED,
    OPEN,
    Citation,
    Diagnostics,
    ErrorObject,
    Status,
    ThreadSummary,
    Words,
)
from azd_eval.formats.document_versions import require_official_version

MOST_TURNS = 20

Mode = Literal["extend", "replace"]
Anything = dict[str, Any]
Tools = list[Annotated[str, Field(pattern=r"\S")]]

_Marked = TypedDict("_Marked", {"$schema": NotRequired[str]})


@with_config(OPEN)
class Metadata(TypedDict, total=False):
    """`metadata`: about the document as a whole."""

    name: str
    description: str
    createdAt: str
    createdBy: str
    evaluatedAt: str
    tags: list[str]
    agentId: str
    agentName: str
    cliVersion: str
    extensions: Anything


@with_config(OPEN)
class Root(_Marked, total=False):
    """The document."""

    schemaVersion: Required[Annotated[str, AfterValidator(require_official_version)]]
    metadata: Metadata
    default_evaluators: Anything
    default_allowed_tools: Tools
    items: Required[Annotated[list[Any], Field(min_length=1)]]


@with_config(CLOSED)
class Turn(TypedDict, total=False):
    """One turn of a thread; an item of a single turn has the same fields."""

    prompt: Required[Words]
    expected_response: str
    response: str
    context: str
    evaluators: Anything
    evaluators_mode: Mode
    allowed_tools: Tools
    allowed_tools_mode: Mode
    citations: list[Citation]
    scores: Anything
    diagnostics: Diagnostics
    status: Status
    error: ErrorObject
    tags: list[str]
    extensions: Anything


@with_config(CLOSED)
class Thread(TypedDict, total=False):
    """An item of several turns."""

    name: str
    description: str
    turns: Required[Annotated[list[Any], Field(min_length=1, max_length=MOST_TURNS)]]
    conversation_id: str
    summary: ThreadSummary
    tags: list[str]
    extensions: Anything
