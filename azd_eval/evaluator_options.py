"""The named evaluators of evaluation documents: their options, ranges and defaults.

Their names are exact. Knows nothing of files and of how anything is scored.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

CitationFormat = Literal["oai_unicode", "bracket", "markdown", "mixed", "inline"]

Text = Annotated[str, Field(min_length=1)]


def _as_whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


# JSON Schema takes 1.0 for a whole number.
Whole = Annotated[int, BeforeValidator(_as_whole, json_schema_input_type=int)]
WholeNumber = Annotated[Whole, Field(ge=1)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GradedOptions(_Closed):
    """Options of Relevance, Coherence, Groundedness and Similarity."""

    threshold: float = Field(default=3, ge=1, le=5, description="lowest grade that passes, 1..5")


class OfficialCitationsOptions(_Closed):
    """Options of Citations as the official schema has them: any text is a format."""

    threshold: WholeNumber = Field(default=1, description="fewest citations that pass")
    citation_format: str = Field(default="oai_unicode", description="how citations are marked")


class CitationsOptions(OfficialCitationsOptions):
    """Options of Citations. `inline`, in documents of the vendor, is `mixed`."""

    citation_format: CitationFormat = Field(
        default="oai_unicode", description="how citations are marked"
    )


class OfficialExactMatchOptions(_Closed):
    """Options of ExactMatch as the official schema has them."""

    case_sensitive: bool = Field(default=False, description="whether case counts")


class ExactMatchOptions(OfficialExactMatchOptions):
    """Options of ExactMatch."""

    mode: Literal["contains", "equals"] = Field(
        default="contains",
        description="contains: the expected answer is part of the reply; equals: all of it",
    )


class PartialMatchOptions(_Closed):
    """Options of PartialMatch."""

    threshold: float = Field(default=0.5, ge=0, le=1, description="lowest score that passes, 0..1")
    case_sensitive: bool = Field(default=False, description="whether case counts")


class RetrievalQueryOptions(_Closed):
    """Options of RetrievalQuery."""

    capability: Text = Field(description="whose retrievals are looked at")
    selector: Text = Field(description="text that a query must hold to be looked at")
    includes: list[Text] = Field(default=[], description="texts that must be in a query")
    excludes: list[Text] = Field(default=[], description="texts that must be in none")


class ExpectedItem(_Closed):
    """What must have been retrieved."""

    retrievalExtract_contains: Text = Field(description="text of an extract")


class RetrievalResultOptions(_Closed):
    """Options of RetrievalResult."""

    capability: Text = Field(description="whose retrievals are looked at")
    expected_items: Annotated[list[ExpectedItem], Field(min_length=1)] = Field(
        default=[], description="what must have been retrieved"
    )
    min_expected_count: WholeNumber = Field(default=0, description="fewest hits that pass")
    max_rank: WholeNumber = Field(default=10, description="last rank that is looked at")

    @model_validator(mode="after")
    def _require_expectation(self) -> Self:
        if not self.expected_items and not self.min_expected_count:
            raise ValueError("missing `expected_items` or `min_expected_count`")
        return self


class ToolIdentity(_Closed):
    """One function of one plugin."""

    plugin_name: Text
    function_name: Text


class ExpectedCall(_Closed):
    """A call that the agent must make."""

    id: Text = ""
    tool: ToolIdentity


class ToolCallExecutionOptions(_Closed):
    """Options of ToolCallExecution."""

    calls: Annotated[list[ExpectedCall], Field(min_length=1)] = Field(
        description="calls that must succeed"
    )


class ToolCallSelectionOptions(ToolCallExecutionOptions):
    """Options of ToolCallSelection."""

    allow_additional_calls: bool = Field(default=True, description="whether others may be made")


class CustomOptions(_Closed):
    """Options of an evaluator of the user's own; `options` are handed to it."""

    threshold: float = Field(
        default=1, allow_inf_nan=False, description="lowest score that passes; 3 for a prompt file"
    )
    options: dict[str, Any] = Field(default={}, description="your own")


OPTIONS: Mapping[str, type[BaseModel]] = {
    "Relevance": GradedOptions,
    "Coherence": GradedOptions,
    "Groundedness": GradedOptions,
    "Similarity": GradedOptions,
    "Citations": CitationsOptions,
    "ExactMatch": ExactMatchOptions,
    "PartialMatch": PartialMatchOptions,
    "RetrievalQuery": RetrievalQueryOptions,
    "RetrievalResult": RetrievalResultOptions,
    "ToolCallSelection": ToolCallSelectionOptions,
    "ToolCallExecution": ToolCallExecutionOptions,
}
"""The options of each named evaluator, by its exact name, as they are when a document is run."""

OFFICIAL_OPTIONS: Mapping[str, type[BaseModel]] = {
    **OPTIONS,
    "Citations": OfficialCitationsOptions,
    "ExactMatch": OfficialExactMatchOptions,
}
"""The same, exactly as the official schema has them."""

RESERVED = (*OPTIONS, "ToolCallAccuracy")
"""Names that no evaluator of the user's own may have, in any case."""

NEEDS_EXPECTED = frozenset({"Similarity", "ExactMatch", "PartialMatch"})
"""Evaluators that compare the reply with the answer expected."""

SYSTEM_DEFAULTS: Mapping[str, Mapping[str, Any]] = {"Relevance": {}, "Coherence": {}}
"""What scores a document that names no evaluators."""
