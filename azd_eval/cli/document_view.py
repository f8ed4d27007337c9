"""Runs of documents on the screen: items, evaluators, categories, what changed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from azd_eval.cli.console import Cell, Console, styled
from azd_eval.cli.result_view import (
    count_of,
    shorten,
    word_number,
    word_score,
    word_usage,
)
from azd_eval.domain.document_summary import DocumentSummary, EvaluatorResult, ItemCounts
from azd_eval.domain.item_comparison import ItemComparison, ItemOutcome, PairedDifference
from azd_eval.domain.score import TurnResult
from azd_eval.formats.document_outcomes import list_outcomes
from azd_eval.formats.document_scores import write_turn_result
from azd_eval.wiring.document_run import DocumentResult
from azd_eval.workflows.run_eval import COMPLETED

_MOST_ITEMS = 50
_MOST_FAILURES = 20
_COLOURS = {"pass": "green", "fail": "red", "partial": "yellow", "error": "yellow"}
_COUNTS = ("total", "passed", "failed", "partial", "errored", "not_run")
_TITLES = (">Items", ">Passed", ">Failed", ">Partial", ">Errored", ">Not run")


def show_document(console: Console, result: DocumentResult) -> None:
    """Show one run, failing items explained."""
    summary = result.summary
    if summary.engine:
        console.say(styled(f"Engine: {summary.engine}", "bold"))
    console.say()
    outcomes = list_outcomes(result.document)
    _show_items(console, outcomes, summary)
    _show_failures(console, outcomes, result.document["items"])
    _show_evaluators(console, summary.evaluators)
    _show_categories(console, summary)
    console.say()
    console.say(styled(f"Score    {word_score(summary.score, summary.interval)}", "bold"))
    console.say(f"Items    {summary.items.total}: {_word_counts(summary.items)}")
    console.say(f"Usage    {word_usage(summary.usage)}, {summary.duration_s:.1f} s")
    console.say(f"Results saved to: {summary.result}")
    if summary.stop_reason != COMPLETED:
        console.say(styled(f"Stopped  {summary.stop_reason}", "red"))
    for reason in summary.gate.reasons:
        console.say(styled(f"Gate     missed: {reason}", "red"))
    if summary.gate.passed:
        console.say(styled("Gate     passed", "green"))


def show_scores(console: Console, turn: TurnResult) -> None:
    """Show what the evaluators say of one reply."""
    entries = write_turn_result(turn)["scores"].items()
    rows = ((key, *_score_cells(entry)) for key, entry in entries)
    console.table(["Evaluator", ">Score", "Result", "Reason"], rows)


def show_total(console: Console, results: Sequence[DocumentResult]) -> None:
    """Show several runs, one a line, and their sum."""
    summaries = [result.summary for result in results]
    console.say()
    rows = [(each.document, *_count_cells(each.items)) for each in summaries]
    total = (sum(getattr(each.items, name) for each in summaries) for name in _COUNTS)
    console.table(["Document", *_TITLES], [*rows, ("Total", *map(str, total))])


def show_comparison(console: Console, comparison: ItemComparison) -> None:
    """Show what changed, item by item, and in sum."""
    console.say()
    changed = [item for item in comparison.items if item.change != "same"]
    if changed:
        rows = (
            (item.change, item.name, _word_outcome(item.before), _word_outcome(item.after))
            for item in changed[:_MOST_ITEMS]
        )
        console.table(["Change", "Item", "Before", "After"], rows)
    if len(changed) > _MOST_ITEMS:
        console.say(f"... and {len(changed) - _MOST_ITEMS} more")
    counts = ", ".join(f"{count} {name}" for name, count in comparison.count().items() if count)
    console.say(f"Compared {counts or 'nothing'}")
    if comparison.paired:
        console.say(
            f"Pairs    {comparison.paired}: {comparison.fixed} fixed, {comparison.broken} broken"
        )
    for name, difference in (("Passing", comparison.pass_rate), ("Score", comparison.score)):
        if difference:
            console.say(f"{name:8} {_word_difference(difference)}")


def _word_difference(difference: PairedDifference) -> str:
    interval = ""
    if difference.interval:
        low, high = difference.interval
        interval = f"95 % interval {low:+.2f} to {high:+.2f}, "
    return f"{difference.mean:+.2f} ({interval}p = {difference.p:.2g})"


def _show_items(
    console: Console, outcomes: Sequence[ItemOutcome], summary: DocumentSummary
) -> None:
    rows = [_item_row(outcome) for outcome in outcomes[:_MOST_ITEMS]]
    titles = ["Item", "Status", ">Score", "Category"]
    if not summary.categories:
        titles, rows = titles[:-1], [row[:-1] for row in rows]
    console.table(titles, rows)
    if len(outcomes) > _MOST_ITEMS:
        console.say(f"... and {count_of(len(outcomes) - _MOST_ITEMS, 'more item')}")


def _item_row(outcome: ItemOutcome) -> list[Cell]:
    status = outcome.status or "not run"
    shown = styled(status, _COLOURS.get(status, "dim"))
    # What is no measurement is not in the score of the run either.
    score = word_number(outcome.score if outcome.is_measured else None)
    return [outcome.name, shown, score, outcome.category or "-"]


def _show_failures(
    console: Console, outcomes: Sequence[ItemOutcome], items: Sequence[Mapping[str, Any]]
) -> None:
    lines = [
        f"{outcome.name} · {reason}"
        for outcome, item in zip(outcomes, items, strict=True)
        for reason in _find_reasons(item)
    ]
    if lines:
        console.say()
        console.say(styled("Not passed", "bold"))
    for line in lines[:_MOST_FAILURES]:
        console.say(f"  {shorten(line)}")
    if len(lines) > _MOST_FAILURES:
        console.say(f"  ... and {len(lines) - _MOST_FAILURES} more; all are in the results")


def _find_reasons(item: Mapping[str, Any]) -> Iterator[str]:
    turns = item.get("turns")
    for number, turn in enumerate(turns or [item], 1):
        place = f"turn {number}: " if turns else ""
        if turn.get("status") == "error":
            yield f"{place}{turn['error']['message']}"
        for key, entry in turn.get("scores", {}).items():
            if entry["result"] != "pass":
                reason = entry.get("error") or entry.get("reason") or entry["result"]
                yield f"{place}{' '.join((key, *_measure(entry)))}: {reason}"


def _score_cells(entry: Mapping[str, Any]) -> tuple[Cell, ...]:
    result = entry["result"]
    reason = shorten(entry.get("reason") or entry.get("error") or "")
    return " ".join(_measure(entry)), styled(result, _COLOURS[result]), reason


def _measure(entry: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{entry[name]:g}" for name in ("score", "count") if name in entry)


def _show_evaluators(console: Console, evaluators: Iterable[EvaluatorResult]) -> None:
    console.say()
    rows = (
        (
            each.name,
            *(str(count) for count in (each.count, each.passed, each.failed, each.errored)),
            word_number(each.mean),
            "-" if each.pass_rate is None else f"{each.pass_rate:.0%}",
        )
        for each in evaluators
    )
    titles = ["Evaluator", ">Turns", ">Passed", ">Failed", ">Errored", ">Mean", ">Pass rate"]
    console.table(titles, rows)


def _show_categories(console: Console, summary: DocumentSummary) -> None:
    if not summary.categories:
        return
    console.say()
    rows = (
        (group.name, *_count_cells(group.items)[:-1], word_number(group.score))
        for group in summary.categories
    )
    console.table(["Category", *_TITLES[:-1], ">Score"], rows)


def _count_cells(items: ItemCounts) -> tuple[str, ...]:
    return tuple(str(getattr(items, name)) for name in _COUNTS)


def _word_counts(items: ItemCounts) -> str:
    parts = ((getattr(items, name), name.replace("_", " ")) for name in _COUNTS[1:])
    return ", ".join(f"{count} {name}" for count, name in parts if count or name != "not run")


def _word_outcome(outcome: ItemOutcome | None) -> str:
    if outcome is None:
        return "-"
    status = outcome.status or "not run"
    return status if outcome.score is None else f"{status} {outcome.score:.2f}"
