"""Turn what was counted into the summary of a run."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from azd_eval.domain.chat import Usage
from azd_eval.domain.gate import decide_gate
from azd_eval.domain.summary import RunSummary, TaskResult
from azd_eval.domain.tally import (
    Tally,
    count_tasks,
    group_by_category,
    overall_score,
    score_with_errors_as_zero,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What is known of a run before it starts."""

    run_id: str
    name: str
    created_at: str
    agent: str
    config: str | None
    dataset: str
    evaluators: tuple[str, ...]
    models: Mapping[str, str]
    planned_tasks: int | None = None
    repeats: int = 1
    fail_under: float | None = None
    engine: str | None = None
    notes: tuple[str, ...] = ()
    run_dir: str | None = None


@dataclass(frozen=True, slots=True)
class RunEnd:
    """What is known when it ended."""

    stop_reason: str
    usage: Usage
    duration_s: float


_MOST_NAMED = 3


def conclude_run(facts: RunFacts, tally: Tally, end: RunEnd) -> RunSummary:
    """Summarise a run that ended; tasks that were not reached are skipped, and miss the gate."""
    results = tally.results()
    tasks = count_tasks(results)
    unreached = max(0, (facts.planned_tasks or 0) - tasks.total)
    tasks = replace(tasks, total=tasks.total + unreached, skipped=tasks.skipped + unreached)
    score, interval = overall_score(results)
    as_zero = score_with_errors_as_zero(results)
    return RunSummary(
        run_id=facts.run_id,
        name=facts.name,
        created_at=facts.created_at,
        agent=facts.agent,
        config=facts.config,
        dataset=facts.dataset,
        evaluators=facts.evaluators,
        models=facts.models,
        tasks=tasks,
        score=score,
        score_errors_as_zero=as_zero,
        interval=interval,
        criteria=tally.criteria(),
        categories=group_by_category(results),
        usage=end.usage,
        gate=decide_gate(tasks, as_zero, facts.fail_under, unreached=unreached),
        stop_reason=end.stop_reason,
        duration_s=end.duration_s,
        repeats=facts.repeats,
        trials=tally.trials,
        errored_trials=tally.errored_trials,
        suspicious_replies=sum(result.suspicious for result in results),
        cut_replies=sum(result.cut for result in results),
        engine=facts.engine,
        notes=(*facts.notes, *_word_doubts(results)),
        run_dir=facts.run_dir,
        results=results,
    )


def _word_doubts(results: Iterable[TaskResult]) -> Iterator[str]:
    """Say which replies a reader should look at; none of this changes a score."""
    suspicious = {result.name: result.suspicious for result in results if result.suspicious}
    cut = {result.name: result.cut for result in results if result.cut}
    if suspicious:
        yield f"replies that speak to the judge, scored all the same: {_name(suspicious)}"
    if cut:
        yield f"replies cut off at the token limit, scored all the same: {_name(cut)}"


def _name(counts: Mapping[str, int]) -> str:
    names = ", ".join(list(counts)[:_MOST_NAMED])
    rest = ", ..." if len(counts) > _MOST_NAMED else ""
    return f"{sum(counts.values())}, in {names}{rest}"
