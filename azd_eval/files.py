"""Write files whole or not at all, and never over somebody's work."""

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from azd_eval.errors import InputError, MeasurementError


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that a reader sees the old content or the new, never a part.

    Makes the folder, follows links, keeps the permissions of a file that exists. Half a surrogate
    pair, which UTF-8 cannot hold, is written as its escape. Raises `InputError` when the place
    cannot be written.
    """
    with _explaining(path):
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}")
        try:
            with open(
                temporary, "x", encoding="utf-8", errors="backslashreplace", newline="\n"
            ) as file:
                if target.exists():
                    shutil.copymode(target, temporary)
                file.write(text)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def write_new(path: Path, text: str) -> None:
    """Write a file that must not exist yet; raises `InputError` when it does."""
    with _explaining(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # Taking the name first leaves one winner when two write at once.
            path.touch(exist_ok=False)
        except FileExistsError as error:
            raise InputError(
                f"{str(path)!r} exists and is not overwritten",
                hint="move it away or choose another name",
            ) from error
    try:
        write_atomically(path, text)
    except BaseException:
        path.unlink()
        raise


def back_up(path: Path, stamp: str) -> Path:
    """Copy a file, byte by byte, to `<its name>.bak.<stamp>` beside it, and give the copy's path.

    A name that is taken gets a number. Raises `InputError` when the copy cannot be written.
    """
    name, count = f"{path.name}.bak.{stamp}", 1
    with _explaining(path.with_name(name)):
        content = path.read_bytes()
        while True:
            backup = path.with_name(name if count == 1 else f"{name}_{count}")
            try:
                with backup.open("xb") as file:
                    file.write(content)
            except FileExistsError:
                count += 1
            else:
                return backup


def is_taken(path: Path) -> bool:
    """Tell whether something has this name, be it a link that leads nowhere."""
    return os.path.lexists(path)


def require_writable_path(path: Path) -> None:
    """Raise `InputError` when no file could be written at `path`; writes nothing."""
    with _explaining(path):
        folder = next(parent for parent in path.absolute().parents if parent.exists())
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"{str(folder)!r} is no folder")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"cannot write {str(path)!r}: {error.strerror or error}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "make room on the disk; `--resume` goes on with a run"
            raise MeasurementError(message, hint=hint) from error
        raise InputError(message, hint="choose a folder that can be written") from error


def read_text(path: Path, what: str) -> str:
    """Read a UTF-8 file, with or without a byte order mark.

    Raises `InputError` that names `what` was wanted, the absolute path tried, and the fault.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(f"{what} not found: {path.absolute()}") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{what} is not UTF-8: {path.absolute()}, byte {error.start}",
            hint="save the file as UTF-8",
        ) from error
    except (OSError, ValueError) as error:
        # A path with a zero byte, as `"\0"` in YAML, is a ValueError.
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"cannot read {what}: {path.absolute()}: {reason}") from error


def hash_file(path: Path) -> str:
    """Give the SHA-256 of a file's bytes, in hex, without reading it whole."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
