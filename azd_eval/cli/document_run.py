"""`runevals`: run evaluation documents, one after the other, or compare two results."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from azd_eval.cli.console import Console
from azd_eval.cli.document_choice import choose_documents, require_one_way_in, tell_starter
from azd_eval.cli.document_flags import DocumentFlags
from azd_eval.cli.document_session import converse
from azd_eval.cli.document_view import show_comparison, show_document, show_total
from azd_eval.cli.eval_run import GATE_MISSED, read_flag, read_limits, show_plan
from azd_eval.cli.interrupt import REASON as INTERRUPTED_BY_USER
from azd_eval.cli.interrupt import run_until_interrupted
from azd_eval.domain.document_summary import DocumentSummary
from azd_eval.domain.gate import ErrorLimit, read_error_limit, read_share
from azd_eval.domain.item_comparison import ItemComparison, compare_outcomes
from azd_eval.errors import InputError, Interrupted, MeasurementError
from azd_eval.formats.document_outcomes import list_outcomes, read_outcomes
from azd_eval.wiring.document_files import write_starter
from azd_eval.wiring.document_project import ReadyDocument, open_project
from azd_eval.wiring.document_run import (
    DocumentResult,
    DocumentRun,
    Outputs,
    open_document_run,
    resume_document_run,
)
from azd_eval.wiring.overrides import Overrides
from azd_eval.workflows.plan_run import CallPlan
from azd_eval.workflows.run_eval import COMPLETED

_NO_MODEL = (
    "no language model is configured: set `OPENAI_API_KEY`, or the variables of another server, "
    "and name a judge with `--eval-model`"
)


def run_documents(flags: DocumentFlags) -> int:
    """Do what the flags say; the exit code is that of `eval run`, over all documents."""
    console = Console(flags)
    require_one_way_in(flags)
    if flags.compare:
        return _compare(*flags.compare, flags, console)
    if flags.init:
        return tell_starter(console, write_starter(flags.init))
    project = open_project(
        flags.config, _read_overrides(flags), replays=flags.evaluate_only is not None
    )
    if flags.interactive:
        return converse(project, flags, console)
    chosen = choose_documents(flags, project, console)
    if chosen is None:
        return 0
    ready = [project.prepare(document, place) for place, document in chosen]
    _require_one(flags, ready)
    if flags.dry_run:
        return show_plan(console, _add_up([each.plan for each in ready]), ready[0].setup)
    outputs = Outputs(tuple(flags.output or ()), flags.force)
    outputs.check(place for place, _ in chosen)
    # Read first: it may be the very file that `--output --force` replaces.
    before = read_outcomes(flags.baseline) if flags.baseline else None
    runs: Iterable[DocumentRun] = (_open(each, outputs, flags, console) for each in ready)
    if flags.resume:
        # Each must have a run to go on with before any of them does.
        runs = list(runs)
    results = [_run(run, flags, console) for run in runs]
    comparison = None
    if before is not None:
        comparison = compare_outcomes(before, list_outcomes(results[0].document))
    _show_end(results, comparison, console)
    _require_measured(results, project.loaded.config.options.max_errors, flags)
    missed = not all(result.summary.gate.passed for result in results)
    return _decide(flags, comparison, missed=missed)


def _add_up(plans: Sequence[CallPlan]) -> CallPlan:
    return CallPlan(
        sum(plan.tasks for plan in plans),
        sum(plan.agent for plan in plans),
        sum(plan.judge for plan in plans),
    )


def _require_one(flags: DocumentFlags, ready: list[ReadyDocument]) -> None:
    """Raise `InputError` for flags that make sense for a single document only."""
    single = {
        "--output": flags.output,
        "--baseline": flags.baseline,
        "--resume-run": flags.resume_run,
    }
    for name, value in single.items():
        if value and len(ready) > 1:
            raise InputError(
                f"`{name}` goes with one document, not with {len(ready)}",
                hint="run them one by one; the results of each are under .evals/results/",
            )
    if flags.fail_on_regression and not flags.baseline:
        raise InputError("`--fail-on-regression` needs `--baseline OLD` or `--compare OLD NEW`")


def _read_overrides(flags: DocumentFlags) -> Overrides:
    read_flag("--max-errors", flags.max_errors, read_error_limit)
    return replace(
        read_limits(flags),
        category=tuple(flags.category or ()),
        test_id=tuple(flags.test_id or ()),
        concurrency=flags.concurrency,
        eval_model=flags.eval_model,
        model=flags.model,
        instructions_file=flags.instructions_file,
        callable=flags.callable,
        fail_under=read_flag("--fail-under", flags.fail_under, read_share),
        max_errors=flags.max_errors,
        cache=not flags.no_cache,
    )


def _open(
    ready: ReadyDocument, outputs: Outputs, flags: DocumentFlags, console: Console
) -> DocumentRun:
    ready = replace(ready, setup=replace(ready.setup, tell=console.remark))
    if flags.resume or flags.resume_run:
        return resume_document_run(ready, outputs, flags.resume_run)
    return open_document_run(ready, outputs)


def _run(run: DocumentRun, flags: DocumentFlags, console: Console) -> DocumentResult:
    setup, total = run.evaluation.setup, len(run.document.tasks)
    if setup.engine:
        console.note(f"engine: {setup.engine}")
    with console.progress(setup.dataset) as progress:
        try:
            result = run_until_interrupted(run.run(progress.counter(total)), setup.stop)
        except KeyboardInterrupt as error:
            raise _interrupted(run, flags) from error
    console.notes(result.summary.notes)
    show_document(console, result)
    if result.summary.stop_reason == INTERRUPTED_BY_USER:
        raise _interrupted(run, flags)
    return result


def _show_end(
    results: list[DocumentResult], comparison: ItemComparison | None, console: Console
) -> None:
    summaries = [result.summary.as_dict() for result in results]
    if len(results) > 1:
        show_total(console, results)
    if comparison is not None:
        show_comparison(console, comparison)
        summaries[0]["comparison"] = comparison.as_dict()
    console.show_json(summaries[0] if len(summaries) == 1 else {"runs": summaries})


def _require_measured(
    results: list[DocumentResult], max_errors: str | int, flags: DocumentFlags
) -> None:
    """Raise `MeasurementError` where a run is no measurement; that wins over a missed gate."""
    limit = read_error_limit(max_errors)
    faults = [fault for result in results if (fault := _find_fault(result.summary, limit))]
    if faults:
        is_offline = any(result.summary.engine for result in results)
        again = f"the same command with `--resume`{_replace(flags)} asks for what has no result"
        raise MeasurementError(
            "\n".join(f"not measured: {fault}" for fault in faults),
            hint=_NO_MODEL if is_offline else again,
        )


def _decide(flags: DocumentFlags, comparison: ItemComparison | None, *, missed: bool) -> int:
    is_broken = comparison is not None and comparison.broken > 0
    missed = missed or (flags.fail_on_regression and is_broken)
    return GATE_MISSED if missed and not flags.no_gate else 0


def _find_fault(summary: DocumentSummary, limit: ErrorLimit) -> str | None:
    if summary.stop_reason != COMPLETED:
        return f"{summary.document}: {summary.stop_reason}"
    items = summary.items
    if limit.is_exceeded(items.unmeasured, items.total):
        return (
            f"{summary.document}: {items.unmeasured} of {items.total} items have no full result; "
            "`--max-errors` says how many may"
        )
    return f"{summary.document}: nothing was scored" if summary.score is None else None


def _compare(before: Path, after: Path, flags: DocumentFlags, console: Console) -> int:
    comparison = compare_outcomes(read_outcomes(before), read_outcomes(after))
    show_comparison(console, comparison)
    console.show_json(comparison.as_dict())
    return _decide(flags, comparison, missed=False)


def _interrupted(run: DocumentRun, flags: DocumentFlags) -> Interrupted:
    folder = run.evaluation.folder
    return Interrupted(
        f"interrupted; what was measured is kept in {run.evaluation.setup.layout.show(folder)}",
        hint="go on with the same command, for this document, and "
        f"`--resume-run {folder.name}`{_replace(flags)}",
    )


def _replace(flags: DocumentFlags) -> str:
    """Name the flag that a further session needs to write what this one has written."""
    return " and `--force`" if flags.output and not flags.force else ""
