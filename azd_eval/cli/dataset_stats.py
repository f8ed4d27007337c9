"""`dataset stats`: count what a dataset holds."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from azd_eval.cli.console import Console
from azd_eval.cli.flags import StatsFlags
from azd_eval.errors import FilesRefused
from azd_eval.formats.datasets import open_dataset
from azd_eval.workflows.describe_dataset import DatasetStats, Spread, describe_dataset

_MOST_CATEGORIES = 20


def show_stats(flags: StatsFlags) -> int:
    """Show the counts of a good dataset on one screen."""
    console = Console(flags)
    source = open_dataset(flags.file)
    inspection = source.inspect()
    if not inspection.is_good:
        raise FilesRefused(inspection.problems)
    stats = describe_dataset(source)
    _show(console, source.location, stats)
    console.show_json({"path": source.location, **_describe(stats)})
    return 0


def _show(console: Console, location: str, stats: DatasetStats) -> None:
    rows = [
        ("tasks", f"{stats.tasks}, {stats.conversations} of them of several turns"),
        ("turns", str(stats.turns)),
        ("prompt length", f"{_word(stats.prompt_length)} characters"),
        ("criteria", f"{stats.criteria}: {stats.judged} judged, {stats.checks} by checks"),
        ("criteria per task", _word(stats.criteria_per_task)),
        ("expected answers", f"{stats.expected_answers} of {stats.turns} turns"),
        ("groundings", f"{stats.groundings} of {stats.turns} turns"),
        ("recorded replies", f"{stats.recorded_replies} of {stats.turns} turns"),
    ]
    console.table(("dataset", location), rows)
    _show_counts(console, "category", "tasks", stats.categories)
    _show_counts(console, "evaluator", "turns", stats.evaluators)


def _show_counts(
    console: Console, title: str, unit: str, counts: Mapping[str | None, int] | Mapping[str, int]
) -> None:
    if not counts:
        return
    ranked = sorted(counts.items(), key=lambda each: -each[1])
    shown, rest = ranked[:_MOST_CATEGORIES], ranked[_MOST_CATEGORIES:]
    rows = [(name or "(none)", str(count)) for name, count in shown]
    if rest:
        rows.append((f"{len(rest)} others", str(sum(count for _, count in rest))))
    console.say()
    console.table((title, f">{unit}"), rows)


def _word(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    return f"{spread.min} to {spread.max}, median {spread.median:g}"


def _describe(stats: DatasetStats) -> dict[str, Any]:
    categories = [{"name": name, "tasks": count} for name, count in stats.categories.items()]
    return {**asdict(stats), "judged": stats.judged, "categories": categories}
