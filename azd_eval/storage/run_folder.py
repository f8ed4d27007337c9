"""The folder of one run: manifest, every reply and verdict, every trial, the summary."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from azd_eval.domain.score import Trial
from azd_eval.files import write_atomically
from azd_eval.storage.jsonl_log import JsonLines, read_json_lines
from azd_eval.storage.trial_records import read_trial, write_trial


class RunFolder:
    """Writes one run. `journal` keeps replies and verdicts as they come; `append` keeps trials."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = JsonLines(path / "journal.jsonl")
        self._trials = JsonLines(path / "trials.jsonl")

    def append(self, trial: Trial) -> None:
        self._trials.record(write_trial(trial))

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        _write_json(self.path / "manifest.json", manifest)

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        _write_json(self.path / "summary.json", summary)

    def write_report(self, html: str) -> None:
        write_atomically(self.path / "report.html", html)

    def close(self) -> None:
        self.journal.close()
        self._trials.close()


def read_trials(run: Path) -> Iterator[Trial]:
    """Yield the trials of a run as they were finished; a torn or foreign line is passed over."""
    for record in read_json_lines(run / "trials.jsonl"):
        try:
            yield read_trial(record)
        except (KeyError, TypeError):
            continue


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")
