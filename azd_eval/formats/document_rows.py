"""The rows of an evaluation document as people write them: more than the official schema takes.

Items may have what only the documentation names, and what only JSONL has, under our key of
`extensions`. Results of an earlier run may stand in them.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from azd_eval.formats.document_models import Metadata as DocumentMetadata
from azd_eval.formats.document_models import Tools
from azd_eval.formats.document_results import Citation, Diagnostics, Words
from azd_eval.formats.task_rows import EvaluatorMap, Metadata

OUR_KEY = "azd_eval"
OUR_FIELDS = ("criteria", "context", "metadata")
MOVED = "fields"
RESULTS = ("scores", "status", "error", "summary")
EVIDENCE = ("citations", "diagnostics")

_EXACT = ConfigDict(extra="forbid", strict=True)


@with_config(_EXACT)
class TurnRow(TypedDict, total=False):
    """One turn of an item."""

    prompt: Words | None
    expected_response: str | None
    context: str | None
    evaluators: EvaluatorMap | None
    evaluators_mode: Literal["extend", "replace"] | None
    response: str | None
    citations: list[Citation] | None
    diagnostics: Diagnostics | None
    allowed_tools: Tools | None
    allowed_tools_mode: Literal["extend", "replace"] | None
    tags: list[str] | None
    extensions: Metadata | None
    scores: Any
    status: Any
    error: Any


@with_config(_EXACT)
class ItemRow(TurnRow, total=False):
    """One item: of a single turn, or with `turns`, which are looked at one by one."""

    name: str | None
    description: str | None
    turns: Annotated[list[Any], Field(min_length=1)] | None
    testId: str | None
    category: str | None
    notes: str | None
    conversation_id: str | None
    summary: Any


@with_config(ConfigDict(extra="allow", strict=True))
class RootRow(TypedDict, total=False):
    """The document."""

    schemaVersion: Any
    description: str | None
    metadata: DocumentMetadata | None
    default_evaluators: EvaluatorMap | None
    default_allowed_tools: Tools | None
    items: Annotated[list[Any], Field(min_length=1)]


def part_ours(row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part a row into what documents have and what only JSONL has, from under our key.

    Fields that were moved there for the sake of the official schema are back in their place.
    """
    fields = dict(row)
    extensions = fields.get("extensions")
    kept = extensions.get(OUR_KEY) if isinstance(extensions, dict) else None
    if not isinstance(extensions, dict) or not isinstance(kept, dict):
        return fields, {}
    ours = {key: kept[key] for key in OUR_FIELDS if kept.get(key)}
    moved = kept.get(MOVED)
    moved = moved if isinstance(moved, dict) else {}
    rest = {key: kept[key] for key in kept if key not in ours and not (moved and key == MOVED)}
    others = {key: extensions[key] for key in extensions if key != OUR_KEY}
    fields["extensions"] = others | ({OUR_KEY: rest} if rest else {})
    if not fields["extensions"]:
        del fields["extensions"]
    return fields | moved, ours
