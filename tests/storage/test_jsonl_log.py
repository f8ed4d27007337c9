"""Lines that stay on disk, whatever happens to the process that writes them."""

import json
import signal
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.storage.jsonl_log import JsonLines, read_json_lines

WRITER = """
import sys
from pathlib import Path
from azd_eval.storage.jsonl_log import JsonLines

log, number = JsonLines(Path(sys.argv[1])), 0
while True:
    log.record({"number": number, "text": "é" * (number % 5000)})
    print(number, flush=True)
    number += 1
"""

HALF = "\ud83d"
_texts = st.text() | st.text(st.characters(categories=["Zl", "Zp", "Cc"])) | st.just(HALF)
_events = st.dictionaries(
    _texts, st.recursive(_texts | st.integers() | st.booleans() | st.none(), st.lists, max_leaves=5)
)


def _write(path, *events):
    log = JsonLines(path)
    for event in events:
        log.record(event)
    log.close()


@given(st.lists(_events, max_size=5))
def test_what_is_read_is_what_was_written(tmp_path_factory, events):
    path = tmp_path_factory.mktemp("log") / "events.jsonl"

    _write(path, *events)

    assert events == list(read_json_lines(path))
    assert len(events) == path.read_bytes().count(b"\n")


def test_a_whole_file_is_continued_without_a_gap(tmp_path):
    path = tmp_path / "events.jsonl"

    for number in range(3):
        _write(path, {"n": number, "text": "é"})

    lines = "".join(f'{{"n": {number}, "text": "é"}}\n' for number in range(3))
    assert lines.encode() == path.read_bytes()


def test_a_line_is_on_disk_before_record_returns(tmp_path):
    log = JsonLines(tmp_path / "new" / "folder" / "events.jsonl")

    for number in range(3):
        log.record({"number": number})
        assert number + 1 == len(list(read_json_lines(log.path)))
    log.close()


@pytest.mark.parametrize("after", [1, 2, 37])
def test_a_kill_loses_at_most_the_line_in_flight(tmp_path, after):
    path = tmp_path / "events.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        for _ in range(after):
            said = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        said = max([said, *(int(line) for line in writer.stdout)])

    numbers = [event["number"] for event in read_json_lines(path)]

    assert numbers in (list(range(said + 1)), list(range(said + 2)))


@given(st.data())
def test_a_file_cut_anywhere_loses_one_line_and_can_be_continued(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("log") / "events.jsonl"
    events = [{"number": number, "text": "é\u2028" * number} for number in range(4)]
    _write(path, *events)
    content = path.read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut])
    whole = [json.loads(line) for line in content[:cut].split(b"\n") if _is_whole(line)]

    _write(path, {"number": 99})

    assert [*whole, {"number": 99}] == list(read_json_lines(path))
    assert whole == events[: len(whole)]
    assert len(whole) >= content[:cut].count(b"\n")


def _is_whole(line):
    return line.startswith(b"{") and line.endswith(b"}")


@pytest.mark.parametrize(
    "foreign",
    [
        b"\n",
        b"   \n",
        b"null\n",
        b"3\n",
        b'"text"\n',
        b"[1, 2]\n",
        b"no JSON\n",
        b"\xff\xfe\x00\x00\n",
        b"\x00" * 40 + b"\n",
        b'{"a": "\xc3\n',
        b"[" * 100_000 + b"\n",
        b"1" * 5000 + b"\n",
    ],
)
def test_foreign_lines_are_passed_over(tmp_path, foreign):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"number": 1}\n' + foreign + b'{"number": 2}\n')

    assert [{"number": 1}, {"number": 2}] == list(read_json_lines(path))


def test_a_file_that_is_not_there_has_no_lines(tmp_path):
    assert [] == list(read_json_lines(tmp_path / "events.jsonl"))


def test_two_writers_never_mix_their_lines(tmp_path):
    path = tmp_path / "events.jsonl"
    logs = [JsonLines(path), JsonLines(path)]

    for number in range(100):
        logs[number % 2].record({"number": number, "text": "x" * 10_000})
    for log in logs:
        log.close()

    assert list(range(100)) == [event["number"] for event in read_json_lines(path)]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_json_is_never_written(tmp_path, value):
    log = JsonLines(tmp_path / "events.jsonl")

    with pytest.raises(ValueError, match="JSON"):
        log.record({"score": value})
    log.close()

    assert b"" == log.path.read_bytes()


CRAMPED = """
import resource, sys
from pathlib import Path
from azd_eval.errors import InputError
from azd_eval.storage.jsonl_log import JsonLines

def allow(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

log = JsonLines(Path(sys.argv[1]))
log.record({"number": 0})
allow(24)
for number in (1, 2):
    try:
        log.record({"number": number})
    except InputError as error:
        print(error.message)
allow(resource.RLIM_INFINITY)
log.record({"number": 3})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="knows no limits of a process")
def test_what_a_full_disk_cuts_off_spoils_no_other_line(tmp_path):
    path = tmp_path / "events.jsonl"

    done = subprocess.run(
        [sys.executable, "-c", CRAMPED, str(path)], check=True, capture_output=True, text=True
    )

    assert 2 == done.stdout.count(f"cannot write {str(path)!r}: File too large")
    assert b'{"number": 0}\n{"number":\n{"number": 3}\n' == path.read_bytes()
