"""The official schema of evaluation documents, version 1.11, as types: what a run adds to them."""

from typing import Annotated, Any, Literal, Required

from pydantic import AfterValidator, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from azd_eval.evaluator_options import Whole

CLOSED = ConfigDict(extra="forbid", strict=True)
OPEN = ConfigDict(extra="allow", strict=True)


Count = Annotated[Whole, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Grade = Annotated[float, Field(ge=1, le=5)]
Words = Annotated[str, Field(min_length=1)]
Status = Literal["pass", "fail", "partial", "error"]
Result = Literal["pass", "fail"]


@with_config(OPEN)
class Citation(TypedDict, total=False):
    """A source that the reply names."""

    index: Required[Annotated[Whole, Field(ge=1)]]
    text: str
    source: str


@with_config(CLOSED)
class ErrorObject(TypedDict):
    """Why an item or a turn has no full result."""

    code: Literal[
        "agentRequestFailed",
        "agentAuthenticationError",
        "agentRateLimited",
        "agentTimeout",
        "agentResponseUnparseable",
        "toolCallNotAllowed",
        "turnSkipped",
        "evaluatorsFailed",
        "evaluationCrashed",
    ]
    message: Words


@with_config(CLOSED)
class ThreadSummary(TypedDict):
    """How the turns of a thread ended."""

    turns_total: Annotated[Whole, Field(ge=1)]
    turns_passed: Count
    turns_failed: Count
    turns_partial: Count
    turns_errored: Count
    overall_status: Status


@with_config(OPEN)
class GradedScore(TypedDict, total=False):
    """Relevance, Coherence, Groundedness, Similarity."""

    score: Required[Grade]
    result: Required[Result]
    threshold: Required[Grade]
    reason: str


@with_config(OPEN)
class CitationScore(TypedDict, total=False):
    """Citations."""

    count: Required[Count]
    result: Required[Result]
    threshold: Required[Count]
    format: str
    citations: list[Citation]


@with_config(OPEN)
class ExactMatchScore(TypedDict, total=False):
    """ExactMatch."""

    match: Required[bool]
    result: Required[Result]
    reason: str


@with_config(OPEN)
class PartialMatchScore(TypedDict, total=False):
    """PartialMatch."""

    score: Required[Share]
    result: Required[Result]
    threshold: Required[Share]
    reason: str


@with_config(OPEN)
class RetrievalQueryScore(TypedDict, total=False):
    """RetrievalQuery."""

    score: Required[Share]
    result: Required[Result]
    threshold: Required[float]
    diagnostic_code: Required[
        Literal[
            "pass",
            "no_matching_query",
            "required_terms_missing",
            "excluded_terms_found",
            "mixed_term_failure",
            "retrieval_failure",
        ]
    ]
    reason: str
    matched_queries: list[str]
    includes_missing: list[str]
    excludes_found: list[str]


@with_config(CLOSED)
class MatchedItem(TypedDict, total=False):
    """An expected extract that was retrieved."""

    extractMatch: Required[str]
    matchedHitUrl: str
    matchedHitRank: Whole
    reason: str


@with_config(CLOSED)
class MissingItem(TypedDict, total=False):
    """An expected extract that was not retrieved."""

    extractMatch: Required[str]
    reason: str


@with_config(OPEN)
class RetrievalResultScore(TypedDict, total=False):
    """RetrievalResult."""

    score: Required[Share]
    result: Required[Result]
    threshold: Required[float]
    diagnostic_code: Required[Literal["pass", "not_retrieved", "count_below_minimum", "error"]]
    reason: str
    results_evaluated: Count
    matched_items: list[MatchedItem]
    missing_items: list[MissingItem]
    extract_failures: list[MissingItem]


@with_config(OPEN)
class ToolCallFields(TypedDict, total=False):
    """The fields of `ToolCallScore`."""

    score: Required[Annotated[float, Field(ge=0, le=1)]]
    result: Required[Result]
    threshold: Required[Annotated[float, Field(ge=1, le=1)]]
    reason: Required[Words]


def _require_agreement(score: ToolCallFields) -> ToolCallFields:
    if score["score"] != (score["result"] == "pass"):
        raise ValueError("`score` is 1 with `pass` and 0 with `fail`")
    return score


ToolCallScore = Annotated[ToolCallFields, AfterValidator(_require_agreement)]
"""ToolCallSelection and ToolCallExecution."""


@with_config(CLOSED)
class ErroredScore(TypedDict, total=False):
    """What stands in place of a score where an evaluator failed."""

    result: Required[Literal["error"]]
    error: Required[Words]
    code: Literal[
        "emptyAgentResponse",
        "judgeOutputUnparseable",
        "judgeAuthenticationError",
        "judgeRateLimited",
        "judgeTimeout",
        "evaluatorConfigurationError",
        "evaluatorLoadError",
        "invalidEvaluatorResult",
        "evaluatorError",
        "toolCallEvidenceIndeterminate",
    ]


SCORES: dict[str, Any] = {
    "relevance": GradedScore,
    "coherence": GradedScore,
    "groundedness": GradedScore,
    "similarity": GradedScore,
    "citations": CitationScore,
    "exactMatch": ExactMatchScore,
    "partialMatch": PartialMatchScore,
    "retrievalQuery": RetrievalQueryScore,
    "retrievalResult": RetrievalResultScore,
    "toolCallSelection": ToolCallScore,
    "toolCallExecution": ToolCallScore,
}
"""What stands under each key of `scores`; other keys may hold anything."""


@with_config(OPEN)
class RetrievalQuery(TypedDict, total=False):
    """A query that the agent sent."""

    queryString: str | None
    filterExpression: str | None


@with_config(OPEN)
class Extract(TypedDict, total=False):
    """A piece of text that was found."""

    text: str


@with_config(OPEN)
class RetrievalHit(TypedDict, total=False):
    """A document that was found."""

    rank: Whole | None
    webUrl: str | None
    extracts: list[Extract]


@with_config(OPEN)
class RetrievalExecution(TypedDict, total=False):
    """One retrieval of the agent."""

    capability: str | None
    status: str | None
    totalResultCount: Whole | None
    queries: list[RetrievalQuery]
    retrievalHits: list[RetrievalHit]


@with_config(CLOSED)
class SelectedFunction(TypedDict):
    """A function that the agent chose."""

    plugin_name: str | None
    function_name: str | None


@with_config(CLOSED)
class FunctionExecution(TypedDict):
    """A call that the agent made."""

    plugin_name: str | None
    function_name: str | None
    response_status: Whole | None


@with_config(CLOSED)
class ToolCalls(TypedDict, total=False):
    """What is known of the agent's calls of tools."""

    selected_functions: Required[list[SelectedFunction] | None]
    executions: Required[list[FunctionExecution] | None]
    evidence_error: Literal[
        "Multiple Developer Info artifacts were returned; "
        "no authoritative telemetry snapshot could be identified."
    ]


@with_config(OPEN)
class Diagnostics(TypedDict, total=False):
    """What the agent did beside answering."""

    retrieval_executions: list[RetrievalExecution]
    tool_calls: ToolCalls
