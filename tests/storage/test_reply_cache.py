"""The cache on disk: shared, and never a reason to fail."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.chat import ChatReply
from azd_eval.storage.reply_cache import SqliteReplyCache

REPLY = ChatReply("hello", input_tokens=3, output_tokens=4, latency_ms=1.5)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "replies.db"


def test_keeps_an_answer_for_the_next_run(path):
    with closing(SqliteReplyCache(path)) as cache:
        assert cache.get("k") is None
        cache.put("k", REPLY)
        cache.put("k", ChatReply("newer", retries=3, cached=True))
    with closing(SqliteReplyCache(path)) as cache:
        assert ChatReply("newer") == cache.get("k")
        assert () == cache.notes


@given(st.text())
def test_gives_back_every_text_as_it_was(text):
    with closing(SqliteReplyCache(Path(":memory:"))) as cache:
        cache.put("k", ChatReply(text))

        assert ChatReply(text) == cache.get("k")


WRITER = """
import sys
from pathlib import Path
from azd_eval.domain.chat import ChatReply
from azd_eval.storage.reply_cache import SqliteReplyCache

cache = SqliteReplyCache(Path(sys.argv[1]))
for number in range(200):
    cache.put(f"{sys.argv[2]}-{number}", ChatReply(sys.argv[2]))
assert not cache.notes, cache.notes
cache.close()
"""


def test_several_processes_write_at_once(path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name])
        for name in ("a", "b", "c")
    ]

    assert [0, 0, 0] == [writer.wait(timeout=30) for writer in writers]
    with closing(SqliteReplyCache(path)) as cache:
        kept = [cache.get(f"{name}-{number}") for name in "abc" for number in range(200)]
    assert 600 == sum(reply is not None for reply in kept)


@pytest.mark.parametrize(
    "content", [b"not a database at all" * 50, b"SQLite format 3\0" + b"x" * 9000]
)
def test_a_damaged_file_is_moved_aside(path, content):
    path.parent.mkdir()
    path.write_bytes(content)

    with closing(SqliteReplyCache(path)) as cache:
        cache.put("k", REPLY)

        assert REPLY == cache.get("k")
        assert 1 == len(cache.notes)
    assert content == path.with_name("replies.db.damaged").read_bytes()


def test_a_file_damaged_while_in_use_is_moved_aside(path):
    with closing(SqliteReplyCache(path)) as cache:
        for number in range(300):
            cache.put(f"k{number}", ChatReply("x" * 500))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)

    with closing(SqliteReplyCache(path)) as cache:
        assert cache.get("k7") is None
        cache.put("k7", REPLY)
        assert REPLY == cache.get("k7")
        assert 1 == len(cache.notes)


@pytest.mark.parametrize("value", ["", "{", "[]", '"text"', '{"other": 1}', "null"])
def test_a_row_that_cannot_be_read_is_no_answer(path, value):
    with closing(SqliteReplyCache(path)) as cache:
        cache.put("k", REPLY)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE replies SET reply = ?", (value,))

    with closing(SqliteReplyCache(path)) as cache:
        assert cache.get("k") is None


def test_without_a_place_to_write_nothing_is_kept(tmp_path):
    (tmp_path / "file").write_text("")

    for path in (tmp_path / "file" / "replies.db", tmp_path):
        with closing(SqliteReplyCache(path)) as cache:
            cache.put("k", REPLY)

            assert cache.get("k") is None
            assert "not kept" in cache.notes[0]


def test_a_locked_file_does_not_stop_a_run(path, monkeypatch):
    monkeypatch.setattr("azd_eval.storage.reply_cache._BUSY_TIMEOUT_S", 0.01)
    with closing(SqliteReplyCache(path)) as cache, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        cache.put("k", REPLY)
        other.rollback()

        assert cache.get("k") is None
