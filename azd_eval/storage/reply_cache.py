"""Answers of models on disk, by key, shared by all runs of a project.

Holds replies and hashes: no prompts, no keys of services. Losing it costs money, never a result, so
no fault of the file reaches a run.
"""

import json
import sqlite3
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from azd_eval.domain.chat import ChatReply

_BUSY_TIMEOUT_S = 5.0
_KEPT = ("text", "finish_reason", "input_tokens", "output_tokens", "latency_ms")


class SqliteReplyCache:
    """A cache in one SQLite file; several processes may use it at once.

    A damaged file is moved aside and a new one begun; where none can be written, nothing is kept.
    `notes` says so.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._notes: list[str] = []
        self._connection = self._open()

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._notes)

    def get(self, key: str) -> ChatReply | None:
        row = self._execute("SELECT reply FROM replies WHERE key = ?", key)
        try:
            return ChatReply(**json.loads(row[0])) if row else None
        except (ValueError, TypeError, RecursionError):
            return None

    def put(self, key: str, reply: ChatReply) -> None:
        fields = asdict(reply)
        value = json.dumps({name: fields[name] for name in _KEPT})
        self._execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", key, value)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _execute(self, statement: str, *values: str) -> tuple[str] | None:
        if self._connection is None:
            return None
        try:
            row: tuple[str] | None = self._connection.execute(statement, values).fetchone()
        except sqlite3.OperationalError:
            # Locked for long, or the disk is full: this one answer is not kept.
            return None
        except sqlite3.DatabaseError as error:
            self.close()
            self._connection = self._begin_anew(error)
            return None
        return row

    def _open(self) -> sqlite3.Connection | None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return self._connect()
        except (sqlite3.OperationalError, OSError) as error:
            self._notes.append(f"answers are not kept: cannot use {str(self._path)!r}: {error}")
            return None
        except sqlite3.DatabaseError as error:
            return self._begin_anew(error)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
        try:
            # Switching does not wait for a lock; whoever holds it is switching, too.
            with suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)"
            )
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _begin_anew(self, error: sqlite3.DatabaseError) -> sqlite3.Connection | None:
        aside = self._path.with_name(f"{self._path.name}.damaged")
        try:
            self._path.replace(aside)
            for suffix in ("-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            connection = self._connect()
        except (sqlite3.Error, OSError) as failure:
            self._notes.append(f"answers are not kept: cannot use {str(self._path)!r}: {failure}")
            return None
        self._notes.append(f"the cache was damaged ({error}) and begun anew: see {str(aside)!r}")
        return connection
