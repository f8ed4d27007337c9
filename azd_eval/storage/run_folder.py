"""The folder of one run: manifest, every reply and verdict, every trial, the summary."""

from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from azd_eval.domain.score import Trial
from azd_eval.files import write_atomically
from azd_eval.storage.json_records import read_json, write_json
from azd_eval.storage.jsonl_log import JsonLines, locate_json_lines, read_lines_at
from azd_eval.storage.trial_records import read_trial, write_trial

JOURNAL = "journal.jsonl"
TRIALS = "trials.jsonl"


class RunFolder:
    """Writes one run. `journal` keeps replies and verdicts as they come; `append` keeps trials.

    A run may have several sessions, one after the other; `judging` identifies judge, evaluators and
    criteria of this one, and is noted with all that depends on them.
    """

    def __init__(self, path: Path, judging: str | None = None) -> None:
        self.path = path
        self.journal = JsonLines(path / JOURNAL)
        if judging is not None:
            self.journal.record({"event": "session", "judging": judging})
        self._trials = JsonLines(path / TRIALS)
        self._judging = judging

    def append(self, trial: Trial) -> None:
        self._trials.record({**write_trial(trial), "judging": self._judging})

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        write_json(self.path / "manifest.json", manifest)

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        write_json(self.path / "summary.json", summary)

    def write_report(self, html: str) -> None:
        write_atomically(self.path / "report.html", html)

    def close(self) -> None:
        self.journal.close()
        self._trials.close()


def read_trials(run: Path, judging: str | None = None) -> Iterator[Trial]:
    """Yield the trials of a run as they were finished; a torn or foreign line is passed over.

    With `judging`, only the trials that were judged so.
    """
    return (trial for _, trial in _locate_trials(run, judging))


def read_latest_trials(run: Path, judging: str) -> Iterator[Trial]:
    """Yield the last trial of each task and repeat that was judged so."""
    places = array("q", sorted(_find_latest(run, judging).values()))
    return map(read_trial, read_lines_at(run / TRIALS, places))


def _find_latest(run: Path, judging: str) -> dict[tuple[str, int], int]:
    return {(trial.task_key, trial.repeat): place for place, trial in _locate_trials(run, judging)}


def _locate_trials(run: Path, judging: str | None) -> Iterator[tuple[int, Trial]]:
    for place, record in locate_json_lines(run / TRIALS):
        try:
            if judging in (None, record["judging"]):
                yield place, read_trial(record)
        except (KeyError, TypeError):
            continue


def read_manifest(run: Path) -> Mapping[str, Any]:
    """Read what was known when a run began; empty when there is nothing readable."""
    return read_json(run / "manifest.json") or {}


def is_finished(run: Path) -> bool:
    """Tell whether a run reached its end, with no trial left to ask again."""
    summary = read_json(run / "summary.json") or {}
    return summary.get("stop_reason") == "completed" and not summary.get("errored_trials")
