"""What every journal and every trial log keeps to: on disk before it returns."""

import pytest

from azd_eval.storage.jsonl_log import JsonLines, read_json_lines
from azd_eval.storage.optimization_folder import OptimizationFolder
from azd_eval.storage.run_folder import RunFolder, read_trials
from tests.factories import make_trial

TEXTS = ["plain", "half \ud83d", "line\u2028end\n\r\x85", '{"a": 1}', "\x00"]


def _lines(path):
    log = JsonLines(path / "events.jsonl")
    return log, log.path, log.close


def _run_folder(path):
    folder = RunFolder(path)
    return folder.journal, folder.journal.path, folder.close


def _optimization_folder(path):
    folder = OptimizationFolder(path, "judging")
    return folder, path / "events.jsonl", folder.close


@pytest.mark.parametrize("make", [_lines, _run_folder, _optimization_folder])
@pytest.mark.parametrize("text", TEXTS)
def test_an_event_is_on_disk_before_record_returns(tmp_path, make, text):
    journal, path, close = make(tmp_path)

    for number in range(3):
        journal.record({"number": number, "text": text})

        kept = [{"number": each, "text": text} for each in range(number + 1)]
        assert kept == list(read_json_lines(path))
    close()


@pytest.mark.parametrize("make", [RunFolder])
def test_a_trial_is_on_disk_before_append_returns(tmp_path, make):
    log = make(tmp_path)

    for index in range(3):
        log.append(make_trial(index=index))

        assert [make_trial(index=each) for each in range(index + 1)] == list(read_trials(tmp_path))
    log.close()
