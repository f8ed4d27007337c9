"""`optimize list`, `show` and `apply`: past optimizations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from azd_eval.cli.console import Console
from azd_eval.cli.flags import ApplyFlags, OptimizationFlags, OptimizationsFlags
from azd_eval.cli.optimization_view import ARCHIVE
from azd_eval.errors import InputError
from azd_eval.storage.optimization_folder import StoredOptimization, list_optimizations
from azd_eval.wiring.layout import Layout
from azd_eval.wiring.optimization import apply_stored
from azd_eval.wiring.setup import find_config


def list_all(flags: OptimizationsFlags) -> int:
    """List optimizations, the newest first."""
    console = Console(flags)
    found = list_optimizations(_find_layout(flags.config).optimizations)
    rows = [_row(stored) for stored in found]
    if rows:
        console.table(["Optimization", "Agent", ">Baseline", ">Best", "Candidate", "Stopped"], rows)
    else:
        console.say("no optimizations yet; `azd-eval optimize` makes one")
    console.show_json({"optimizations": [stored.summary or stored.manifest for stored in found]})
    return 0


def show_one(flags: OptimizationFlags) -> int:
    """Show the candidates of one optimization, each with why it was kept or not."""
    console = Console(flags)
    stored = _choose(flags.optimization, _find_layout(flags.config))
    summary = stored.summary or {}
    wanted = {"id", "score", "accepted", "reason", "rationale"}
    decided = [event for event in stored.events if wanted <= event.keys()]
    console.say(f"{stored.id}: {summary.get('stop_message', 'did not end by itself')}")
    rows = [[c["id"], _score(c), "yes" if c["accepted"] else "no", c["reason"]] for c in decided]
    console.table(["Candidate", ">Score", "Accepted", "Reason"], rows)
    for candidate in decided:
        if candidate["rationale"]:
            console.say(f"{candidate['id']}: {candidate['rationale']}")
    if summary.get("diff"):
        console.say(summary["diff"])
    console.show_json({"id": stored.id, "summary": stored.summary, "candidates": decided})
    return 0


def apply_candidate(flags: ApplyFlags) -> int:
    """Write a candidate's instructions to where the agent reads them."""
    console = Console(flags)
    layout = _find_layout(flags.config)
    stored = _choose(flags.optimization, layout)
    place = layout.show(apply_stored(layout, stored, flags.candidate))
    console.say(f"Applied {flags.candidate} to {place}; any older text is kept in {ARCHIVE}")
    console.show_json({"candidate": flags.candidate, "applied_to": place})
    return 0


def _find_layout(config: Path | None) -> Layout:
    found = find_config(config, Path.cwd())
    return Layout(found.parent.resolve() if found else Path.cwd())


def _choose(wanted: str | None, layout: Layout) -> StoredOptimization:
    found = list_optimizations(layout.optimizations)
    for stored in found:
        if wanted in (None, stored.id):
            return stored
    raise InputError(
        f"no optimization {wanted!r}" if wanted else "no optimizations yet",
        hint="`azd-eval optimize list` shows what there is",
    )


def _row(stored: StoredOptimization) -> list[str]:
    summary = stored.summary
    agent = str(stored.manifest.get("agent", "-"))
    if summary is None:
        return [stored.id, agent, "-", "-", "-", "did not end by itself"]
    best = summary["best"]
    return [
        stored.id,
        agent,
        _score(summary["baseline"]),
        _score(best),
        best["id"],
        summary["stop_reason"],
    ]


def _score(value: Mapping[str, Any]) -> str:
    return "-" if value["score"] is None else f"{value['score']:.2f}"
