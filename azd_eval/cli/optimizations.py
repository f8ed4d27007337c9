"""`optimize list`, `show` and `apply`: past optimizations."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from azd_eval.cli.console import Cell, Console
from azd_eval.cli.optimization_view import ARCHIVE, STAR
from azd_eval.cli.optimize_flags import ApplyFlags, OptimizationFlags, OptimizationsFlags
from azd_eval.storage.optimization_folder import StoredOptimization, list_optimizations
from azd_eval.wiring.application import apply_stored
from azd_eval.wiring.layout import Layout
from azd_eval.wiring.optimization_start import find_optimization
from azd_eval.wiring.setup import find_config

_UNFINISHED = "did not end by itself"


def list_all(flags: OptimizationsFlags) -> int:
    """List optimizations, the newest first."""
    console = Console(flags)
    found = list_optimizations(_find_layout(flags.config).optimizations)
    rows = [_row(stored) for stored in found]
    if rows:
        heads = ["Optimization", "Agent", ">Baseline", ">Best", "Label", "Stopped"]
        console.table(heads, rows)
    else:
        console.say("no optimizations yet; `azd-eval optimize` makes one")
    console.show_json({"optimizations": [stored.summary or stored.manifest for stored in found]})
    return 0


def show_one(flags: OptimizationFlags) -> int:
    """Tell the story of one optimization: each step, each candidate, what is known in the end."""
    console = Console(flags)
    stored = find_optimization(_find_layout(flags.config), flags.optimization)
    summary = stored.summary or {}
    console.say(f"{stored.id}: {summary.get('stop_message', _UNFINISHED)}")
    wanted = {"id", "score", "accepted", "reason", "rationale", "difference"}
    decided = [event for event in stored.events if wanted <= event.keys()]
    console.table(["Candidate", ">Score", ">Change", "Accepted", "Reason"], _rows(decided, summary))
    for line in _tell(stored.events):
        console.say(line)
    if summary.get("diff"):
        console.say(summary["diff"])
    story = {"summary": stored.summary, "candidates": decided, "events": list(stored.events)}
    console.show_json({"id": stored.id, **story})
    return 0


def apply_candidate(flags: ApplyFlags) -> int:
    """Write a candidate's instructions to where the agent reads them."""
    console = Console(flags)
    layout = _find_layout(flags.config)
    stored = find_optimization(layout, flags.optimization)
    place = layout.show(apply_stored(layout, stored, flags.candidate))
    console.say(f"Applied {flags.candidate} to {place}; any older text is kept in {ARCHIVE}")
    console.show_json({"candidate": flags.candidate, "applied_to": place})
    return 0


def _find_layout(config: Path | None) -> Layout:
    found = find_config(config, Path.cwd())
    return Layout(found.parent.resolve() if found else Path.cwd())


def _row(stored: StoredOptimization) -> list[str]:
    summary = stored.summary
    agent = str(stored.manifest.get("agent", "-"))
    if summary is None:
        return [stored.id, agent, "-", "-", "-", _UNFINISHED]
    best = summary["best"]
    return [
        stored.id,
        agent,
        _number(summary["baseline"]["score"]),
        _number(best["score"]),
        (summary.get("held_out") or {}).get("label", "-"),
        summary["stop_reason"],
    ]


def _rows(decided: Iterable[Mapping[str, Any]], summary: Mapping[str, Any]) -> Iterator[list[Cell]]:
    best = summary.get("best", {}).get("id")
    for event in decided:
        change = event["difference"]
        yield [
            f"{event['id']} {STAR}" if event["id"] == best else event["id"],
            _number(event["score"]),
            "-" if change is None else f"{change:+.2f}",
            "yes" if event["accepted"] else "no",
            event["reason"],
        ]


def _tell(events: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    """Word what the table does not say, in the order in which it happened."""
    for event in events:
        match event:
            case {"event": "split", "held_out": list(held_out)} if held_out:
                yield f"held out: {', '.join(map(str, held_out))}"
            case {"event": "calibrated", "words": words}:
                yield f"noise: {words}"
            case {"event": "proposed", "id": name, "rationale": str(rationale)} if rationale:
                yield f"{name}: {rationale}"
            case {"event": "believed", "best": best, "instead_of": former}:
                yield f"{former} was lucky: {best} is believed to be better after all"
            case {"event": "confirmed", "id": name, "words": words, "meaning": meaning}:
                yield f"{name}: {words}; {meaning}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
