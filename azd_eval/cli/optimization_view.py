"""An optimization on the screen: candidates, the winner with a star, the diff, the stop reason."""

from collections.abc import Iterator

from azd_eval.cli.console import Cell, Console, styled
from azd_eval.cli.result_view import word_config, word_number, word_score, word_usage
from azd_eval.domain.summary import CandidateResult, OptimizationSummary

ARCHIVE = ".agent_configs/archive"

_STAR = "★"
_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def show_optimization(console: Console, summary: OptimizationSummary) -> None:
    """Show a finished optimization."""
    if summary.engine:
        console.say(styled(f"Engine: {summary.engine}", "bold"))
    console.say()
    console.table(["Candidate", ">Score", ">Change", "Accepted", "Reason"], _rows(summary))
    if summary.diff:
        console.say()
        for line in summary.diff.splitlines():
            console.say(styled(line, _DIFF_COLOURS.get(line[:1], "")))
    console.say()
    console.say(f"Baseline {word_score(summary.baseline.score, summary.baseline.interval)}")
    best = f"{summary.best_id}, {word_score(summary.best.score, summary.best.interval)}"
    console.say(styled(f"Best     {best}", "bold"))
    if summary.improved:
        console.say("         in-sample: measured on the tasks that it was revised for")
    console.say(f"Stopped  {summary.stop_reason}: {summary.stop_message}")
    console.say(f"Usage    {word_usage(summary.usage)}, {summary.duration_s:.1f} s")
    console.say(f"Results  {summary.run_dir}")
    _show_next(console, summary)


def _rows(summary: OptimizationSummary) -> Iterator[list[Cell]]:
    start = summary.baseline.score
    for candidate in summary.candidates:
        is_best = candidate.id == summary.best_id
        name = f"{candidate.id} {_STAR}" if is_best else candidate.id
        accepted = "yes" if candidate.accepted else "no"
        yield [
            styled(name, "green" if is_best else ""),
            word_number(candidate.score),
            _word_change(candidate, start),
            accepted,
            candidate.reason,
        ]


def _word_change(candidate: CandidateResult, start: float | None) -> str:
    if candidate.score is None or start is None or candidate.parent is None:
        return "-"
    return f"{candidate.score - start:+.2f}"


def _show_next(console: Console, summary: OptimizationSummary) -> None:
    if summary.applied_to is not None:
        place = summary.applied_to
        console.say(f"Applied  {summary.best_id} to {place}; any older text is kept in {ARCHIVE}")
    elif summary.improved:
        console.say()
        console.say("Review the candidate, then apply it:")
        console.say(f"  azd-eval optimize apply {summary.best_id}{word_config(summary.config)}")
    else:
        console.say("No improvement: the instructions stay as they are")
