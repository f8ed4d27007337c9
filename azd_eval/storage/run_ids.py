"""Names of run folders: readable, sortable, never shared by two processes."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from azd_eval.errors import InputError
from azd_eval.files import write_atomically

_LAYOUT_NOTE = "runs/\nresults/\noptimizations/\ncache/\n"


def make_run_folder(parent: Path, prefix: str) -> Path:
    """Make a new folder `<prefix>-<UTC time>-<4 hex>` under `parent` and return it.

    The hex digits are the fraction of the second: names sort by time.
    Raises `InputError` when the place cannot be written.
    """
    try:
        parent.mkdir(parents=True, exist_ok=True)
        while True:
            now = datetime.now(UTC)
            fraction = now.microsecond * 16**4 // 10**6
            folder = parent / f"{prefix}-{now:%Y%m%d-%H%M%S}-{fraction:04x}"
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
    except OSError as error:
        raise InputError(
            f"cannot write results under {str(parent)!r}: {error.strerror or error}",
            hint="choose a folder that can be written with `--run-dir`",
        ) from error


@contextmanager
def hold_run_folder(folder: Path) -> Iterator[None]:
    """Keep every other process out of a run; the system lets go when this one ends, however.

    Raises `InputError` when another one has it.
    """
    # A lock of SQLite is the one that works alike on every system.
    with closing(sqlite3.connect(folder / ".lock", timeout=0, isolation_level=None)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            # Where locks do not work, nobody is kept from working.
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                raise InputError(
                    f"{folder.name} is under way in another process",
                    hint="wait for its end, or start a new run without `--resume`",
                ) from error
        yield


def keep_out_of_git(generated: Path) -> None:
    """Write a `.gitignore` once, so that results stay out of the repository.

    Raises `InputError` when the place cannot be written.
    """
    ignore = generated / ".gitignore"
    if not ignore.exists():
        write_atomically(ignore, _LAYOUT_NOTE)
