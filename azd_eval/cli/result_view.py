"""A finished run on the screen: score, tasks, failing criteria with reasons, what it cost."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from azd_eval.cli.console import Cell, Console, styled
from azd_eval.domain.chat import Usage
from azd_eval.domain.score import OUTCOMES, Trial
from azd_eval.domain.summary import Interval, RunSummary, TaskResult
from azd_eval.wiring.layout import CONFIG_NAME, Layout

_MOST_TASKS = 50
_MOST_FAILURES = 20
_LONGEST_REASON = 300
_COLOURS = {"passed": "green", "failed": "red", "errored": "yellow", "skipped": "dim"}


def show_run(console: Console, summary: RunSummary, trials: Iterable[Trial]) -> None:
    """Show a run, failing tasks explained."""
    if summary.engine:
        console.say(styled(f"Engine: {summary.engine}", "bold"))
    console.say()
    _show_tasks(console, summary.results)
    _show_failures(console, trials, summary.stop_reason)
    console.say()
    _show_score(console, summary)
    console.say(f"Usage    {word_usage(summary.usage)}, {summary.duration_s:.1f} s")
    if summary.run_dir:
        console.say(f"Results  {summary.run_dir}")
    _show_end(console, summary)


def word_score(score: float | None, interval: Interval | None) -> str:
    """Write a score with its interval, as `0.75 (95 % interval 0.41 to 0.93)`."""
    if score is None:
        return "none"
    if interval is None:
        return f"{score:.2f} (no interval: it takes two scored tasks)"
    return f"{score:.2f} (95 % interval {interval[0]:.2f} to {interval[1]:.2f})"


def word_config(config: Path | str | None) -> str:
    """Write the flag that a further command needs; none for the eval.yaml of this folder."""
    if config is None or Path(config).absolute() == Path.cwd() / CONFIG_NAME:
        return ""
    return f" --config {shlex.quote(Layout.show(Path(config)))}"


def word_number(score: float | None) -> str:
    """Write a score alone, as `0.75`; `-` when there is none."""
    return "-" if score is None else f"{score:.2f}"


def count_of(number: int, singular: str, plural: str | None = None) -> str:
    """Write a number with its noun: `1 task`, `2 tasks`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def word_usage(usage: Usage) -> str:
    """Write what was spent, as one phrase."""
    roles = ", ".join(f"{count} {role}" for role, count in usage.calls_by_role.items() if count)
    parts = [count_of(usage.calls, "call") + (f" ({roles})" if roles else "")]
    if usage.cached_calls:
        parts.append(f"{usage.cached_calls} from the cache")
    if usage.retries:
        parts.append(count_of(usage.retries, "retry", "retries"))
    tokens = usage.input_tokens + usage.output_tokens
    if tokens:
        parts.append(f"{tokens:,} tokens")
    if usage.cost is not None:
        parts.append(f"cost {usage.cost:.4g}")
    return ", ".join(parts)


def _show_tasks(console: Console, results: tuple[TaskResult, ...]) -> None:
    rows = (_task_row(result) for result in results[:_MOST_TASKS])
    console.table(["Task", ">Score", "Status", ">Criteria"], rows)
    if len(results) > _MOST_TASKS:
        console.say(f"... and {len(results) - _MOST_TASKS} more tasks")


def _task_row(result: TaskResult) -> list[Cell]:
    status = styled(result.status, _COLOURS[result.status])
    return [result.name, word_number(result.score), status, f"{result.met}/{result.asked}"]


def _show_failures(console: Console, trials: Iterable[Trial], stop_reason: str) -> None:
    errors: dict[str, list[str]] = {}
    missed: dict[str, list[str]] = {}
    for trial in trials:
        for is_error, place, reason in _find_failures(trial):
            where = f"{trial.task} · {place}"
            if is_error:
                errors.setdefault(reason, []).append(where)
            else:
                missed.setdefault(where, []).append(reason)
    # An error that met every call is said once, as what stopped the run.
    errors.pop(stop_reason, None)
    _show_lines(
        console,
        "Errors",
        [
            f"{places[0]}{_count_others(places)}: {shorten(reason)}"
            for reason, places in errors.items()
        ],
    )
    _show_lines(
        console,
        "Not met",
        [
            f"{where}{_count_times(reasons)}: {shorten(reasons[0])}"
            for where, reasons in missed.items()
        ],
    )


def _show_lines(console: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        console.say()
        console.say(styled(title, "bold"))
    for line in lines[:_MOST_FAILURES]:
        console.say(f"  {line}")
    if len(lines) > _MOST_FAILURES:
        console.say("  ... and more; every verdict is in trials.jsonl")


def _count_others(places: Sequence[str]) -> str:
    return f" and {len(places) - 1} more" if len(places) > 1 else ""


def _count_times(reasons: Sequence[str]) -> str:
    return f" ({len(reasons)} times)" if len(reasons) > 1 else ""


def _find_failures(trial: Trial) -> Iterator[tuple[bool, str, str]]:
    """Yield whether it is an error, where it is, and why."""
    for turn in trial.turns:
        if turn.error:
            yield True, "agent", turn.error
        for score in turn.scores:
            for verdict in score.verdicts:
                if verdict.outcome in ("unmet", "unusable"):
                    grade = f" graded {verdict.grade} of 5" if verdict.grade is not None else ""
                    is_whole = verdict.criterion == score.evaluator
                    evaluator = "" if is_whole else f" [{score.evaluator}]"
                    place = f"{verdict.criterion}{evaluator}{grade}"
                    yield verdict.outcome == "unusable", place, verdict.reason or "no reason given"


def shorten(text: str) -> str:
    """Put a text of any length on a line."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_REASON else line[: _LONGEST_REASON - 1] + "…"


def _show_score(console: Console, summary: RunSummary) -> None:
    tasks = summary.tasks
    console.say(styled(f"Score    {word_score(summary.score, summary.interval)}", "bold"))
    if tasks.errored and summary.score_errors_as_zero is not None:
        console.say(f"         {summary.score_errors_as_zero:.2f} with errored tasks as 0")
    console.say(
        f"Tasks    {tasks.total}: {tasks.passed} passed, {tasks.failed} failed, "
        f"{tasks.errored} errored, {tasks.skipped} skipped"
    )
    totals = {name: sum(getattr(row, name) for row in summary.criteria) for name in OUTCOMES}
    verdicts = ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in totals.items() if count
    )
    console.say(f"Verdicts {verdicts or 'none'}")
    agreements = [
        (one.agreement, one.name) for one in summary.criteria if one.agreement is not None
    ]
    if agreements:
        lowest, name = min(agreements)
        console.say(f"Repeats  {summary.repeats}; least agreement {lowest:.2f}, on {name}")


def _show_end(console: Console, summary: RunSummary) -> None:
    if summary.stop_reason != "completed":
        console.say(styled(f"Stopped  {summary.stop_reason}", "red"))
    for reason in summary.gate.reasons:
        console.say(styled(f"Gate     missed: {reason}", "red"))
    if summary.gate.passed:
        console.say(styled("Gate     passed", "green"))
