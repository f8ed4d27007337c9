"""Turn a record of flags into a function that typer can read, and back into what was typed."""

import inspect
import shlex
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from typing import Any, TypeVar, get_type_hints

from azd_eval.cli.flags import CommonFlags

F = TypeVar("F", bound=CommonFlags)


def command_taking(record: type[F], handle: Callable[[F], int]) -> Callable[..., int]:
    """Make a function whose parameters are the fields of `record`, its own first."""
    hints = get_type_hints(record, include_extras=True)

    def command(**values: Any) -> int:
        return handle(record(**values))

    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=hints[field.name],
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
            )
            for field in sorted(fields(record), key=lambda field: _depth(record, field.name))
        ]
    )
    command.__annotations__ = {**hints, "return": int}
    return command


def write_flags(record: CommonFlags, names: Iterable[str]) -> str:
    """Write those fields that were given as one would type them, a space before each flag."""
    text = ""
    for name in names:
        given = getattr(record, name)
        for value in given if isinstance(given, list) else [given]:
            if value is None or value is False:
                continue
            text += f" --{name.replace('_', '-')}"
            text += "" if value is True else f" {shlex.quote(str(value))}"
    return text


def _depth(record: type, name: str) -> int:
    """Count how far up a field was declared."""
    lineage = [parent for parent in record.__mro__ if name in parent.__dict__.get("__slots__", ())]
    return record.__mro__.index(lineage[-1])
