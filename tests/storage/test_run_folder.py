"""The folder of one run."""

import json

from azd_eval.storage.jsonl_log import read_json_lines
from azd_eval.storage.run_folder import RunFolder, read_trials
from tests.factories import make_trial

HOSTILE = "half \ud83d, line\u2028end, </script>, 返金"


def test_everything_of_a_run_is_in_its_folder(tmp_path):
    folder = RunFolder(tmp_path / "run")

    folder.write_manifest({"agent": HOSTILE})
    folder.journal.record({"event": "reply", "reply": HOSTILE})
    folder.append(make_trial())
    folder.write_summary({"score": None, "notes": [HOSTILE]})
    folder.write_report(f"<p>{HOSTILE}</p>")
    folder.close()

    files = ["journal.jsonl", "manifest.json", "report.html", "summary.json", "trials.jsonl"]
    assert files == sorted(path.name for path in folder.path.iterdir())
    manifest = json.loads((folder.path / "manifest.json").read_text(encoding="utf-8"))
    summary = json.loads((folder.path / "summary.json").read_text(encoding="utf-8"))
    assert ({"agent": HOSTILE}, {"score": None, "notes": [HOSTILE]}) == (manifest, summary)
    assert [{"event": "reply", "reply": HOSTILE}] == list(
        read_json_lines(folder.path / "journal.jsonl")
    )
    assert "返金" in (folder.path / "report.html").read_text(encoding="utf-8")


def test_an_opened_folder_is_continued(tmp_path):
    for index in range(3):
        folder = RunFolder(tmp_path)
        folder.append(make_trial(index=index))
        folder.close()

    assert [0, 1, 2] == [trial.index for trial in read_trials(tmp_path)]


def test_a_folder_without_trials_has_none(tmp_path):
    assert [] == list(read_trials(tmp_path))
