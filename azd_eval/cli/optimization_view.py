"""An optimization on the screen: candidates, the winner with a star, the diff, how sure it is."""

from collections.abc import Iterator

from azd_eval.cli.console import Cell, Console, styled
from azd_eval.cli.result_view import word_config, word_number, word_score, word_usage
from azd_eval.domain.optimization_summary import CandidateResult, OptimizationSummary

ARCHIVE = ".agent_configs/archive"

STAR = "★"
_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_LABEL_COLOURS = {"confirmed": "green", "likely": "green", "worse": "red"}


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
    if summary.noise:
        console.say(f"Noise    {summary.noise}")
    console.say(f"Baseline {word_score(summary.baseline.score, summary.baseline.interval)}")
    best = f"{summary.best_id}, {word_score(summary.best.score, summary.best.interval)}"
    console.say(styled(f"Best     {best}", "bold"))
    _show_label(console, summary)
    console.say(f"Stopped  {summary.stop_reason}: {summary.stop_message}")
    console.say(f"Usage    {word_usage(summary.usage)}, {summary.duration_s:.1f} s")
    console.say(f"Results  {summary.run_dir}")
    _show_next(console, summary)


def _rows(summary: OptimizationSummary) -> Iterator[list[Cell]]:
    for candidate in summary.candidates:
        is_best = candidate.id == summary.best_id
        name = f"{candidate.id} {STAR}" if is_best else candidate.id
        yield [
            styled(name, "green" if is_best else ""),
            word_number(candidate.score),
            _word_change(candidate),
            "yes" if candidate.accepted else "no",
            candidate.reason,
        ]


def _word_change(candidate: CandidateResult) -> str:
    return "-" if candidate.difference is None else f"{candidate.difference:+.2f}"


def _show_label(console: Console, summary: OptimizationSummary) -> None:
    compared = summary.held_out
    if compared is not None:
        colour = _LABEL_COLOURS.get(compared.label, "yellow")
        console.say(styled(f"Change   {compared.words}", colour))
        console.say(f"         {compared.meaning}")
    elif summary.improved:
        console.say("Change   not confirmed: it stopped before the last comparison; the score is")
        console.say("         of the search, and the best of several scores flatters itself")


def _show_next(console: Console, summary: OptimizationSummary) -> None:
    if summary.applied_to is not None:
        place = summary.applied_to
        console.say(f"Applied  {summary.best_id} to {place}; any older text is kept in {ARCHIVE}")
    elif summary.improved:
        console.say()
        sure = (
            "" if summary.is_trusted else "; `--apply` does so only when it is confirmed or likely"
        )
        console.say(f"Review the candidate, then apply it{sure}:")
        console.say(f"  azd-eval optimize apply {summary.best_id}{word_config(summary.config)}")
    else:
        console.say("No improvement: the instructions stay as they are")
