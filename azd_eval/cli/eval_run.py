"""`eval run`: score every task of the dataset."""

import heapq
import shlex
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from azd_eval.cli.console import Console
from azd_eval.cli.flags import LimitFlags, RunFlags
from azd_eval.cli.interrupt import REASON as INTERRUPTED_BY_USER
from azd_eval.cli.interrupt import run_until_interrupted
from azd_eval.cli.records import write_flags
from azd_eval.cli.result_view import show_run, word_config
from azd_eval.domain.gate import read_error_limit, read_share
from azd_eval.domain.score import Trial
from azd_eval.domain.summary import RunSummary
from azd_eval.errors import InputError, Interrupted, MeasurementError
from azd_eval.wiring.evaluation import (
    Evaluation,
    find_run,
    find_unfinished,
    open_evaluation,
    resume_evaluation,
)
from azd_eval.wiring.overrides import Overrides
from azd_eval.wiring.setup import Setup, set_up
from azd_eval.workflows.plan_run import CallPlan
from azd_eval.workflows.run_eval import COMPLETED

GATE_MISSED = 1

_MOST_FAILING = 500
# What goes into a run from the command line alone, and must be said again to go on with it.
_SAID_AGAIN = (
    *("cwd", "dataset", "evaluator", "task", "category", "limit", "repeat", "concurrency"),
    *("eval_model", "model", "instructions_file", "fail_under", "no_gate", "max_errors"),
    "no_cache",
)


def run_suite(flags: RunFlags) -> int:
    """Run the suite; the exit code says whether it was measured and whether it is good enough."""
    console = Console(flags)
    setup = replace(set_up(flags.config, _read_overrides(flags)), tell=console.remark)
    plan = setup.plan()
    if flags.dry_run:
        return show_plan(console, plan, setup)
    if setup.engine:
        console.note(f"engine: {setup.engine}")
    evaluation = _open(flags, setup)
    resume = _word_resume(flags, evaluation)
    try:
        summary = _run(console, evaluation, plan.tasks * setup.config.options.repeats)
    except KeyboardInterrupt as error:
        raise _interrupted(evaluation, resume) from error
    console.notes(summary.notes)
    show_run(console, summary, _read_failing(evaluation, summary))
    console.show_json(summary.as_dict())
    if summary.stop_reason == INTERRUPTED_BY_USER:
        raise _interrupted(evaluation, resume)
    if fault := _find_fault(summary, setup):
        raise MeasurementError(f"not measured: {fault}", hint=resume)
    return GATE_MISSED if not (flags.no_gate or summary.gate.passed) else 0


def _open(flags: RunFlags, setup: Setup) -> Evaluation:
    if flags.resume_run is not None:
        return resume_evaluation(setup, find_run(setup, flags.resume_run, flags.run_dir))
    if flags.resume:
        return resume_evaluation(setup, find_unfinished(setup, flags.run_dir))
    return open_evaluation(setup, flags.run_dir)


def _find_fault(summary: RunSummary, setup: Setup) -> str | None:
    """Say why a run is no measurement, if it is none; that wins over a missed gate."""
    if summary.stop_reason != COMPLETED:
        return summary.stop_reason
    errored, trials = summary.errored_trials, summary.trials
    if read_error_limit(setup.config.options.max_errors).is_exceeded(errored, trials):
        return f"{errored} of {trials} trials errored; `--max-errors` says how many may"
    return "nothing was scored" if summary.score is None else None


def show_plan(console: Console, plan: CallPlan, setup: Setup, **more: object) -> int:
    """Show how many calls there would be, by role; `more` is what else is known, by name."""
    console.notes(setup.notes)
    if setup.engine:
        console.say(f"Engine   {setup.engine}")
    console.say(f"Tasks    {plan.tasks}")
    for role in ("agent", "judge", "optimizer"):
        if count := getattr(plan, role):
            console.say(f"{role.capitalize():8} {count} calls")
    for name, value in more.items():
        if value:
            console.say(f"{name.replace('_', ' ').capitalize():8} {value}")
    console.say(f"Total    {plan.total} calls, if none has to be repeated; none was made")
    console.show_json({**asdict(plan), **more, "total": plan.total, "engine": setup.engine})
    return 0


def read_flag(flag: str, text: str | None, read: Callable[[str], Any]) -> Any:
    """Read a flag's text; raises `InputError` that names the flag."""
    if text is None:
        return None
    try:
        return read(text)
    except ValueError as error:
        raise InputError(f"{flag}: {error}") from error


def read_limits(flags: LimitFlags) -> Overrides:
    """Give the limits that every command with models has."""
    return Overrides(
        max_calls=flags.max_calls,
        max_tokens=flags.max_tokens,
        max_cost=flags.max_cost,
        max_time_s=flags.max_time,
    )


def _read_overrides(flags: RunFlags) -> Overrides:
    read_flag("--max-errors", flags.max_errors, read_error_limit)
    return replace(
        read_limits(flags),
        dataset=flags.dataset,
        evaluators=tuple(flags.evaluator or ()),
        name=flags.name,
        task=tuple(flags.task or ()),
        category=tuple(flags.category or ()),
        limit=flags.limit,
        repeats=flags.repeat,
        concurrency=flags.concurrency,
        eval_model=flags.eval_model,
        model=flags.model,
        instructions_file=flags.instructions_file,
        fail_under=read_flag("--fail-under", flags.fail_under, read_share),
        max_errors=flags.max_errors,
        cache=not flags.no_cache,
    )


def _run(console: Console, evaluation: Evaluation, total: int) -> RunSummary:
    with console.progress("Tasks") as progress:
        work = evaluation.run(progress.counter(total))
        return run_until_interrupted(work, evaluation.setup.stop)


def _interrupted(evaluation: Evaluation, resume: str) -> Interrupted:
    place = evaluation.setup.layout.show(evaluation.folder)
    return Interrupted(f"interrupted; what was measured is kept in {place}", hint=resume)


def _word_resume(flags: RunFlags, evaluation: Evaluation) -> str:
    """Write the command that goes on with this run, as it can be typed where this one was."""
    setup, folder = evaluation.setup, evaluation.folder
    is_at_home = folder.parent == setup.layout.runs
    run = folder.name if is_at_home else shlex.quote(setup.layout.show(folder))
    more = word_config(setup.config_path) + write_flags(flags, _SAID_AGAIN)
    return f"go on with `azd-eval eval run --resume-run {run}{more}`"


def _read_failing(evaluation: Evaluation, summary: RunSummary) -> list[Trial]:
    if summary.tasks.passed == summary.tasks.total:
        return []
    failing = (trial for trial in evaluation.read_trials() if trial.status in ("failed", "errored"))
    # All failing trials of a large run are too many for the memory, and for the screen.
    return heapq.nsmallest(
        _MOST_FAILING, failing, key=lambda each: (each.status != "errored", each.index, each.repeat)
    )
