"""Begin an optimization, take one up again, or start from what an earlier one found."""

from collections.abc import Mapping
from pathlib import Path

from azd_eval.domain.candidate import BASELINE_ID, Candidate
from azd_eval.errors import InputError
from azd_eval.storage.optimization_folder import (
    StoredOptimization,
    candidate_instructions,
    list_optimizations,
    read_optimization,
)
from azd_eval.storage.run_ids import keep_out_of_git, make_run_folder
from azd_eval.wiring.fingerprint import name_changes
from azd_eval.wiring.layout import Layout
from azd_eval.wiring.optimization import Optimization
from azd_eval.wiring.optimization_job import make_job, note_hold_out, take_fingerprint
from azd_eval.wiring.setup import Setup

_FINISHED = frozenset(
    {"nothing_left_to_fix", "max_iterations", "no_progress", "no_usable_proposals", "undecided"}
)


def open_optimization(setup: Setup, source: str | None = None) -> Optimization:
    """Make the folder of a new optimization, which begins at `source`, by default at the agent.

    `source` is `ID` or `ID/CANDIDATE` of an earlier one, by default its best. Raises `InputError`.
    """
    job = make_job(setup, _read_source(setup.layout, source) if source else None)
    fingerprint = take_fingerprint(setup, job)
    keep_out_of_git(setup.layout.foundry)
    folder = make_run_folder(setup.layout.optimizations, "opt")
    return Optimization(note_hold_out(setup, job), job, folder, fingerprint, source)


def resume_optimization(setup: Setup, stored: StoredOptimization) -> Optimization:
    """Take up an optimization again: what it knows is not asked again, and it ends the same.

    Raises `InputError`, by name, when anything that decides was changed.
    """
    before = stored.manifest.get("fingerprint")
    if not isinstance(before, Mapping):
        raise InputError(f"no optimization in {str(stored.path)!r} that can be taken up again")
    source = stored.manifest.get("from")
    # What it started from elsewhere is in its folder; the agent's own must still be the same.
    job = make_job(setup, _read_baseline(stored) if source else None)
    fingerprint = take_fingerprint(setup, job)
    changed = name_changes(before.get("subject", {}), fingerprint.subject)
    changed += name_changes(before.get("judging", {}), fingerprint.judging)
    if changed:
        raise InputError(
            f"{stored.id} cannot go on: changed since it began: {', '.join(changed)}",
            hint="say again what it began with, flags too, or run `azd-eval optimize` anew; "
            "answers that still fit come from the cache",
        )
    noted = note_hold_out(setup, job)
    return Optimization(noted, job, stored.path, fingerprint, source, resumes=True)


def find_unfinished(setup: Setup) -> StoredOptimization:
    """Find the last optimization of this config, unless it came to its end; raises `InputError`."""
    for stored in list_optimizations(setup.layout.optimizations):
        if stored.manifest.get("config") == setup.describe()["config"]:
            if (stored.summary or {}).get("stop_reason") not in _FINISHED:
                return stored
            break
    raise InputError(
        "no unfinished optimization of this config", hint="`azd-eval optimize` starts one"
    )


def find_optimization(layout: Layout, wanted: str | None) -> StoredOptimization:
    """Find an optimization by its id or its folder, None for the last; raises `InputError`."""
    if wanted and (Path(wanted) / "manifest.json").is_file():
        return read_optimization(Path(wanted))
    for stored in list_optimizations(layout.optimizations):
        if wanted in (None, stored.id):
            return stored
    raise InputError(
        f"no optimization {wanted!r}" if wanted else "no optimizations yet",
        hint="`azd-eval optimize list` shows what there is",
    )


def _read_source(layout: Layout, source: str) -> Candidate:
    name, _, candidate = source.partition("/")
    stored = find_optimization(layout, name)
    best = (stored.summary or {}).get("best", {}).get("id", BASELINE_ID)
    return Candidate(BASELINE_ID, candidate_instructions(stored.path, candidate or best))


def _read_baseline(stored: StoredOptimization) -> Candidate:
    return Candidate(BASELINE_ID, candidate_instructions(stored.path, BASELINE_ID))
