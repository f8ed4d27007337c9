"""The folder of one optimization: manifest, every decision, every candidate, the summary.

<id>/  manifest.json  events.jsonl  proposals.jsonl  summary.json
       candidates/<candidate>/  instructions.md  journal.jsonl  trials.jsonl
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.optimization import Proposal
from azd_eval.domain.score import Trial
from azd_eval.errors import InputError
from azd_eval.files import write_atomically
from azd_eval.storage.json_records import read_json, write_json
from azd_eval.storage.jsonl_log import JsonLines, read_json_lines
from azd_eval.storage.run_folder import RunFolder, read_latest_trials
from azd_eval.storage.run_memory import RunMemory, TrialKey, read_memory

_INSTRUCTIONS = "instructions.md"
_EVENTS = "events.jsonl"
_PROPOSALS = "proposals.jsonl"


@dataclass(frozen=True, slots=True)
class CandidateMemory:
    """What is known of a candidate: trials that ended, and parts of those that did not.

    A trial that errored has ended, too, unless every other would have met the same error.
    """

    trials: Mapping[TrialKey, Trial]
    parts: RunMemory


class OptimizationFolder:
    """Writes one optimization: decisions by `record`, texts by `keep_candidate`, as they come.

    `path` is a folder of its own, as `make_run_folder` makes it, or that of an earlier session.
    What was measured and proposed then stays, in `proposals` and with each candidate; the decisions
    follow from it and are written anew. `judging` is as in `RunFolder`.
    """

    def __init__(self, path: Path, judging: str) -> None:
        self.path = path
        self._judging = judging
        self._memories: dict[str, CandidateMemory] = {}
        (path / _EVENTS).unlink(missing_ok=True)
        self._events = JsonLines(path / _EVENTS)
        self.proposals = JsonLines(path / _PROPOSALS)

    def record(self, event: Mapping[str, Any]) -> None:
        self._events.record(event)

    def keep_candidate(self, candidate: Candidate) -> str:
        """Save the instructions to the letter; returns the file's path."""
        path = self._candidate_path(candidate.id) / _INSTRUCTIONS
        write_atomically(path, candidate.instructions)
        return str(path)

    def open_candidate(self, candidate_id: str) -> RunFolder:
        """Open the place of a candidate's replies, verdicts and trials; the caller closes it."""
        return RunFolder(self._candidate_path(candidate_id), self._judging)

    def read_candidate(self, candidate_id: str) -> CandidateMemory:
        """Read what was measured of a candidate before it was first asked for here."""
        if candidate_id not in self._memories:
            path = self._candidate_path(candidate_id)
            ended = {
                (trial.task_key, trial.repeat): trial
                for trial in read_latest_trials(path, self._judging)
                if not trial.fatal
            }
            memory = CandidateMemory(ended, read_memory(path, self._judging))
            self._memories[candidate_id] = memory
        return self._memories[candidate_id]

    def read_proposals(self) -> dict[int, Proposal]:
        """Read what earlier sessions were proposed, by attempt."""
        known: dict[int, Proposal] = {}
        for record in read_json_lines(self.path / _PROPOSALS):
            match record:
                case {
                    "attempt": int(attempt),
                    "instructions": str() | None as instructions,
                    "rationale": str(rationale),
                    "fault": str() | None as fault,
                }:
                    known[attempt] = Proposal(instructions, rationale, fault)
        return known

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        write_json(self.path / "manifest.json", manifest)

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        write_json(self.path / "summary.json", summary)

    def write_report(self, html: str) -> None:
        write_atomically(self.path / "report.html", html)

    def close(self) -> None:
        self._events.close()
        self.proposals.close()

    def _candidate_path(self, candidate_id: str) -> Path:
        return self.path / "candidates" / candidate_id


@dataclass(frozen=True, slots=True)
class StoredOptimization:
    """A past optimization. `summary` is None when it did not end by itself; `events` tell more."""

    id: str
    path: Path
    manifest: Mapping[str, Any]
    summary: Mapping[str, Any] | None
    events: tuple[Mapping[str, Any], ...]


def list_optimizations(parent: Path) -> tuple[StoredOptimization, ...]:
    """Read all optimizations under `.azure/.foundry/optimizations`, the newest first."""
    folders = parent.iterdir() if parent.is_dir() else ()
    found = [read_optimization(folder) for folder in folders if _holds_optimization(folder)]
    return tuple(sorted(found, key=_moment, reverse=True))


def read_optimization(path: Path) -> StoredOptimization:
    """Read one optimization, finished or not; raises `InputError` when the folder holds none."""
    if not _holds_optimization(path):
        raise InputError(
            f"no optimization in {str(path)!r}", hint="`azd-eval optimize list` shows what there is"
        )
    return StoredOptimization(
        id=path.name,
        path=path,
        manifest=read_json(path / "manifest.json") or {},
        summary=_read_summary(path),
        events=tuple(read_json_lines(path / _EVENTS)),
    )


def _read_summary(path: Path) -> Mapping[str, Any] | None:
    # A summary damaged by hand counts as none: it must not hide the others from a list.
    summary = read_json(path / "summary.json") or {}
    return summary if {"baseline", "best", "stop_reason"} <= summary.keys() else None


def candidate_instructions(path: Path, candidate_id: str) -> str:
    """Read a candidate's instructions, to the letter; raises `InputError` naming those kept."""
    files = {file.parent.name: file for file in path.glob(f"candidates/*/{_INSTRUCTIONS}")}
    if candidate_id not in files:
        raise InputError(
            f"no candidate {candidate_id!r} in {path.name!r}",
            hint=f"candidates with instructions: {', '.join(sorted(files)) or 'none'}",
        )
    return files[candidate_id].read_bytes().decode("utf-8")


def _moment(stored: StoredOptimization) -> list[str]:
    # `<prefix>-<date>-<time>-<hex>`: the prefix may hold hyphens and says nothing of the order.
    return stored.id.rsplit("-", 3)[1:]


def _holds_optimization(path: Path) -> bool:
    return (path / _EVENTS).is_file()
