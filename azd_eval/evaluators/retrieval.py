"""Look at what the agent searched for and found: RetrievalQuery and RetrievalResult.

Both compare texts, without regard to case. Whether an extract means what is expected in other words
is not asked of a model.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from azd_eval.domain.ports import TurnUnderTest
from azd_eval.evaluator_options import RetrievalQueryOptions, RetrievalResultOptions
from azd_eval.evaluators.evidence import (
    find_diagnostics,
    find_records,
    find_text,
    miss_evidence,
)
from azd_eval.evaluators.findings import DECIDED, Finding

_KEY = "retrieval_executions"
_SUCCESS = frozenset({"", "success", "succeeded", "successful", "completed", "ok"})
_TERM_FAULTS = {
    (False, False): "pass",
    (True, False): "required_terms_missing",
    (False, True): "excluded_terms_found",
    (True, True): "mixed_term_failure",
}
_QUERY_REASONS = {
    "pass": "the queries hold what they must and nothing that they must not",
    "no_matching_query": "no query holds the selector",
    "retrieval_failure": "every retrieval failed",
}


def check_query(item: TurnUnderTest, options: RetrievalQueryOptions) -> Finding:
    """Hold the queries of one capability that contain the selector against terms."""
    executions = _find_executions(item, options.capability)
    if executions is None:
        return miss_evidence(_KEY)
    queries = [
        text
        for execution in executions
        for query in find_records(execution, "queries")
        if _holds(text := find_text(query, "queryString"), options.selector)
    ]
    missing = [term for term in options.includes if not any(_holds(q, term) for q in queries)]
    found = [term for term in options.excludes if any(_holds(q, term) for q in queries)]
    if executions and not any(map(_is_successful, executions)):
        code = "retrieval_failure"
    elif not queries:
        code = "no_matching_query"
    else:
        code = _TERM_FAULTS[bool(missing), bool(found)]
    faults = [f"missing: {', '.join(missing)}"] if missing else []
    faults += [f"not wanted: {', '.join(found)}"] if found else []
    details = {
        "diagnostic_code": code,
        "matched_queries": queries,
        "includes_missing": missing if queries else [],
        "excludes_found": found,
    }
    passed = code == "pass"
    reason = _QUERY_REASONS.get(code) or "; ".join(faults)
    return Finding(DECIDED[passed], reason, None, float(passed), 1.0, details)


def check_result(item: TurnUnderTest, options: RetrievalResultOptions) -> Finding:
    """Look for expected texts in the extracts of the best hits, and count the hits."""
    executions = _find_executions(item, options.capability)
    if executions is None:
        return miss_evidence(_KEY)
    hits = sorted(
        (hit for execution in executions for hit in _rank_hits(execution, options.max_rank)),
        key=lambda hit: hit[0],
    )
    expected = [each.retrievalExtract_contains for each in options.expected_items]
    found = {text: _match(text, hits) for text in expected}
    matched = [row for text in expected if (row := found[text])]
    missing = [{"extractMatch": text} for text in expected if not found[text]]
    is_few = len(hits) < options.min_expected_count
    code = "not_retrieved" if missing else "count_below_minimum" if is_few else "pass"
    share = len(matched) / len(expected) if expected else float(not is_few)
    details = {
        "diagnostic_code": code,
        "results_evaluated": len(hits),
        "matched_items": matched,
        "missing_items": missing,
        "extract_failures": missing if hits else [],
    }
    reason = f"{len(matched)} of {len(expected)} expected items among {len(hits)} hits"
    if is_few:
        reason += f", of at least {options.min_expected_count} wanted"
    counted = min(share, len(hits) / options.min_expected_count) if is_few else share
    return Finding(DECIDED[code == "pass"], reason, counted, share, 1.0, details)


def _find_executions(item: TurnUnderTest, capability: str) -> list[Mapping[str, Any]] | None:
    if not isinstance(find_diagnostics(item.reply, _KEY), list | tuple):
        return None
    listed = find_records(item.reply.evidence.get("diagnostics"), _KEY)
    return [each for each in listed if find_text(each, "capability") == capability]


def _is_successful(execution: Mapping[str, Any]) -> bool:
    return find_text(execution, "status").casefold() in _SUCCESS


def _rank_hits(
    execution: Mapping[str, Any], max_rank: int
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield hits with their ranks; one that states none has that of its place."""
    for place, hit in enumerate(find_records(execution, "retrievalHits"), start=1):
        stated = hit.get("rank")
        rank = stated if isinstance(stated, int) and not isinstance(stated, bool) else place
        if rank <= max_rank:
            yield rank, hit


def _match(text: str, hits: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[str, Any] | None:
    """Describe the best hit that has the text in an extract."""
    for rank, hit in hits:
        if any(_holds(find_text(each, "text"), text) for each in find_records(hit, "extracts")):
            url = find_text(hit, "webUrl")
            return {
                "extractMatch": text,
                **({"matchedHitUrl": url} if url else {}),
                "matchedHitRank": rank,
            }
    return None


def _holds(text: str, part: str) -> bool:
    return _fold(part) in _fold(text)


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
