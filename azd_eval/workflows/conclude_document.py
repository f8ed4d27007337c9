"""Turn the trials of an evaluation document into its summary."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from azd_eval.domain.document_summary import (
    DocumentSummary,
    EvaluatorResult,
    ItemCounts,
    ItemGroup,
)
from azd_eval.domain.gate import decide_gate
from azd_eval.domain.item_status import has_failed_to_run, judge_item
from azd_eval.domain.score import Score, Trial, mean
from azd_eval.domain.summary import Gate, RunSummary, TaskCounts


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What the trials do not know: how many items there are, where the result goes, the gate."""

    items: int
    result: str | None = None
    fail_under: float | None = None


def conclude_document(
    facts: DocumentFacts, trials: Sequence[Trial], run: RunSummary
) -> DocumentSummary:
    """Summarise the run of a document, of which each item was asked once."""
    whole = group_items("", trials, facts.items)
    names = dict.fromkeys(trial.category for trial in trials if trial.category is not None)
    return DocumentSummary(
        document=run.dataset,
        result=facts.result,
        run_id=run.run_id,
        run_dir=run.run_dir,
        created_at=run.created_at,
        agent=run.agent,
        models=run.models,
        items=whole.items,
        score=run.score,
        score_errors_as_zero=run.score_errors_as_zero,
        interval=run.interval,
        evaluators=whole.evaluators,
        categories=tuple(
            group_items(name, [trial for trial in trials if trial.category == name])
            for name in names
        ),
        gate=_decide_gate(facts, whole.items, run.score_errors_as_zero),
        usage=run.usage,
        stop_reason=run.stop_reason,
        duration_s=run.duration_s,
        engine=run.engine,
        notes=run.notes,
    )


def group_items(name: str, trials: Sequence[Trial], planned: int = 0) -> ItemGroup:
    """Add up some items; those that were planned and have no trial were not run."""
    statuses = Counter(map(judge_item, trials))
    counts = ItemCounts(
        total=max(planned, len(trials)),
        passed=statuses["pass"],
        failed=statuses["fail"],
        partial=statuses["partial"],
        errored=statuses["error"],
        not_run=max(0, planned - len(trials)),
    )
    scored = (trial.score for trial in trials if trial.score is not None)
    return ItemGroup(name, counts, mean(scored), tuple(_add_up(trials)))


def _add_up(trials: Iterable[Trial]) -> Iterable[EvaluatorResult]:
    """Yield one result per evaluator, in the order of their first score."""
    groups: dict[str, list[Score]] = {}
    for trial in trials:
        for turn in trial.turns:
            for score in turn.scores:
                groups.setdefault(score.evaluator, []).append(score)
    for name, scores in groups.items():
        decided = [score for score in scores if not has_failed_to_run(score)]
        passed = sum(score.passed is True for score in decided)
        values = [score.score if score.native is None else score.native for score in decided]
        yield EvaluatorResult(
            name,
            count=len(scores),
            passed=passed,
            failed=len(decided) - passed,
            errored=len(scores) - len(decided),
            mean=mean(value for value in values if value is not None),
            pass_rate=passed / len(decided) if decided else None,
        )


def _decide_gate(facts: DocumentFacts, items: ItemCounts, score: float | None) -> Gate:
    tasks = TaskCounts(
        items.total, items.passed, items.failed, items.unmeasured, skipped=items.not_run
    )
    return decide_gate(tasks, score, facts.fail_under, unreached=items.not_run, noun="items")
