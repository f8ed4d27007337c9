"""What can go wrong, what the user can do about it, and which exit code it means.

    AzdEvalError                 message, hint; exit code 70 unless a branch says otherwise
    ├── InputError          2    your files or flags
    │   └── FilesRefused    2    every problem of one or several files, at once
    ├── MeasurementError    3    it could not be measured: nothing scored, too many errors
    │   ├── ModelError      3    a model call failed; `code` says how
    │   └── TargetError     3    the agent itself failed
    └── Interrupted       130    Ctrl-C; results are kept

Inside a run, `ModelError` and `TargetError` become values on the trial; outside it they end the
command. Errors are raised once, where both the message and the cure are known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

Severity = Literal["error", "warning", "note"]

ModelErrorCode = Literal[
    "wrong_key",
    "no_credit",
    "not_found",
    "rate_limited",
    "server_error",
    "connection",
    "unreachable",
    "timeout",
    "unreadable_reply",
    "content_filter",
    "too_long",
    "cut_off",
    "empty_reply",
    "refused_request",
    "stopped",
]

_RETRYABLE: frozenset[str] = frozenset(
    {"rate_limited", "server_error", "connection", "unreachable", "timeout", "unreadable_reply"}
)
FATAL_CODES: frozenset[str] = frozenset({"wrong_key", "no_credit", "not_found", "unreachable"})


class AzdEvalError(Exception):
    """The root: a message of one sentence and, where there is one, a cure.

    `hint` may hold several lines. Both are shown to the user as they are.
    """

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InputError(AzdEvalError):
    """A file or a flag is wrong; nothing was sent to a model."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in one file.

    `line` and `column` count from 1 and are physical positions; `item` is the task, dimension or
    entry that holds the fault; `field` is its path, such as `criteria[1].instruction`.
    """

    message: str
    path: str = ""
    line: int | None = None
    column: int | None = None
    item: str | None = None
    field: str | None = None
    hint: str | None = None
    severity: Severity = "error"

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part)
        where = f"{self.field} ({self.item})" if self.field and self.item else self.field
        return ": ".join(part for part in (place, where, self.message) if part)


class FilesRefused(InputError):
    """Files have errors; carries all of them, never only the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        faults = [problem for problem in self.problems if problem.severity == "error"]
        super().__init__("\n".join(str(problem) for problem in faults), hint=_hints(faults))


def _hints(problems: Sequence[Problem]) -> str | None:
    hints = dict.fromkeys(problem.hint for problem in problems if problem.hint)
    return "\n".join(hint for hint in hints if hint) or None


class MeasurementError(AzdEvalError):
    """The work could not be measured, through no fault of the user's files."""

    exit_code = 3


class ModelError(MeasurementError):
    """A model call that failed.

    `retry_after` is what the server asked for, in seconds; `tries` how often it was tried. A
    retryable error may go away by itself; a fatal one meets every further call to the same
    endpoint, so a run stops at it. `unreachable` is both: tried a few times, then fatal.
    """

    def __init__(
        self,
        message: str,
        *,
        code: ModelErrorCode,
        retry_after: float | None = None,
        tries: int = 1,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.code: ModelErrorCode = code
        self.retry_after = retry_after
        self.tries = tries

    @property
    def is_retryable(self) -> bool:
        return self.code in _RETRYABLE

    @property
    def is_fatal(self) -> bool:
        return self.code in FATAL_CODES


class TargetError(MeasurementError):
    """The agent under evaluation failed: it raised, timed out or returned something unusable."""


class Interrupted(AzdEvalError):
    """The user pressed Ctrl-C; what was measured is on disk."""

    exit_code = 130
