"""One fault in a tree read from a file: at which path, what was expected, and the cure.

Knows nothing of JSON, YAML or models; the readers turn a fault into a `Problem` with its place.
"""

import difflib
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from azd_eval.errors import Severity

Loc = tuple[str | int, ...]
"""A path into a tree: keys of objects and indices of lists."""

MOST_FAULTS = 100
HALF_PAIR = "half of a surrogate pair, which no encoding can hold"

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_LONGEST_SHOWN = 40
_CLOSE = 0.7


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at `loc`.

    `loc` may end in a key that is missing; the place is then the object that lacks it. `at_key`
    means that the key itself is at fault, not its value; `is_syntax`, that the text is not in the
    format at all.
    """

    loc: Loc
    message: str
    hint: str | None = None
    severity: Severity = "error"
    at_key: bool = False
    is_syntax: bool = False


def cut_faults(faults: list[Fault]) -> list[Fault]:
    """Keep as many as a person can use, errors first; what is left out is counted."""
    if len(faults) <= MOST_FAULTS:
        return faults
    ranked = sorted(faults, key=lambda fault: fault.severity != "error")
    kept, rest = ranked[:MOST_FAULTS], ranked[MOST_FAULTS:]
    message = f"{len(rest)} more faults are not listed"
    return [*kept, Fault((), message, severity=rest[0].severity)]


def name_field(loc: Loc) -> str | None:
    """Write a path as people do, such as `criteria[1].instruction`; None for the root."""
    text = ""
    for step in loc:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{show(step)}]"
    return text or None


def show(value: str) -> str:
    """Quote foreign text for a message: short, and printable whatever it holds."""
    cut = value if len(value) <= _LONGEST_SHOWN else value[:_LONGEST_SHOWN] + "…"
    is_printable = all(char.isprintable() for char in cut)
    return json.dumps(cut, ensure_ascii=not is_printable)


def name_kind(value: object) -> str:
    """Name the JSON type of a value, as messages say it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "object" if isinstance(value, dict) else "list"


def suggest(word: str, known: Collection[str]) -> str | None:
    """Find the known key that was probably meant; case, `_` and `-` do not count."""
    folded = {fold(key): key for key in reversed(list(known))}
    close = difflib.get_close_matches(fold(word[:_LONGEST_SHOWN]), folded, 1, _CLOSE)
    return folded[close[0]] if close else None


def fold(key: str) -> str:
    """Strip a key of what does not count when people write it: case, `_`, `-`, spaces."""
    return re.sub(r"[_\-\s]", "", key).casefold()


def is_encodable(text: str) -> bool:
    """Tell whether text can be sent and stored; an escape can stand for half of a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def in_one_sentence(faults: Iterable[Fault]) -> str:
    """Join faults for somebody who sees no file: a model that has to repair its answer."""
    parts = []
    for fault in faults:
        field = name_field(fault.loc)
        sentence = f"{field}: {fault.message}" if field else fault.message
        parts.append(f"{sentence} ({fault.hint})" if fault.hint else sentence)
    return "; ".join(parts)
