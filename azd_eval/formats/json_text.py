"""Read JSON strictly and say where it is wrong: what, at which offset, and the cure.

Stricter than `json`: no key twice in one object, no `NaN`, no number that is too large for
arithmetic, no endless nesting. Places are looked for only in texts that are at fault.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from azd_eval.formats.faults import MOST_FAULTS, Fault, Loc, show
from azd_eval.formats.json_syntax import explain_syntax

TOO_DEEP = "nested too deeply"

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"?'
_BRACKET = re.compile(rf"{_STRING}|[{{}}\[\]]", re.DOTALL)
_TOKEN = re.compile(rf'{_STRING}|[{{}}\[\]:,]|[^\s{{}}\[\]:,"]+', re.DOTALL)
_SPACE = " \t\r\n"
_DEEPEST = 100
_STEPS = {"{": 1, "[": 1, "}": -1, "]": -1}
_MOST_DIGITS = 300

PlacedFault = tuple[int, Fault]
"""A fault, and how many characters from the start of the text it stands."""


@dataclass(slots=True, eq=False)
class Node:
    """One value of a JSON text: its first token, and where it and its key begin."""

    parent: "Node | None"
    step: str | int
    token: str
    offset: int
    key_offset: int
    is_repeated: bool

    @property
    def loc(self) -> Loc:
        """The path to it; it ends at the depth that `is_too_deep`."""
        steps: list[str | int] = []
        node = self
        while node.parent is not None:
            steps.append(node.step)
            node = node.parent
        return tuple(steps[: -_DEEPEST - 1 : -1])


class _Refused(ValueError):
    """Good for `json`, not for us; a walk over the text finds where."""


def parse_json(text: str) -> tuple[Any, list[PlacedFault]]:
    """Read a JSON text; give its value and its faults.

    The value is None when the text is no JSON. A key that stands twice, or a number that is none,
    leaves the value readable, so that what else is wrong with it can be told as well.
    """
    faults: list[PlacedFault] = []
    try:
        try:
            return _decode(_STRICT, text), faults
        except _Refused:
            faults.extend(islice(_find_refused(text), MOST_FAULTS))
        return _decode(_TOLERANT, text), faults
    except json.JSONDecodeError as error:
        offset, reason, hint = explain_syntax(text, error)
        return None, [*faults, (offset, Fault((), reason, hint, is_syntax=True))]
    except RecursionError:
        return None, [(0, Fault((), TOO_DEEP))]


def is_too_deep(text: str) -> bool:
    """Tell whether a valid JSON text nests more than other programs can bear."""
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    return max((depth for _, depth in find_brackets(text)), default=0) > _DEEPEST


def find_brackets(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Walk the brackets outside of strings: where each ends, how many are open then."""
    depth = 0
    for match in _BRACKET.finditer(text, start):
        if step := _STEPS.get(match[0]):
            depth += step
            yield match.end(), depth


def walk(text: str) -> Iterator[Node]:
    """Yield every value of a JSON text in its order, outer before inner; stop where it ceases."""
    frames: list[_Frame] = []
    for match in _TOKEN.finditer(text):
        token, frame = match[0], frames[-1] if frames else None
        if frame is not None and frame.wants_key and token[0] == '"':
            frame.take_key(token, match.start())
        elif token in ("}", "]"):
            if not frames:
                return
            frames.pop()
        elif token == ",":
            if frame is None:
                return
            frame.advance()
        elif token != ":":
            start = match.start()
            if frame is None:
                node = Node(None, 0, token, start, start, is_repeated=False)
            else:
                key_offset = frame.key_offset or start
                node = Node(frame.node, frame.step, token, start, key_offset, frame.repeats)
            yield node
            if token in ("{", "["):
                frames.append(_Frame(node))


@dataclass(slots=True)
class _Frame:
    """An object or a list that the walk is in."""

    node: Node
    step: str | int = 0
    key_offset: int | None = None
    repeats: bool = False
    keys: set[str] = field(default_factory=set)

    @property
    def wants_key(self) -> bool:
        return self.node.token == "{" and self.key_offset is None

    def take_key(self, token: str, offset: int) -> None:
        try:
            key = json.loads(token, strict=False)
        except json.JSONDecodeError:
            key = token
        self.repeats = key in self.keys
        self.keys.add(key)
        self.step, self.key_offset = key, offset

    def advance(self) -> None:
        if isinstance(self.step, int):
            self.step += 1
        self.key_offset = None


def _decode(decoder: json.JSONDecoder, text: str) -> Any:
    # As `decode` does, in two thirds of its time.
    value, end = decoder.raw_decode(text, len(text) - len(text.lstrip(_SPACE)))
    if rest := text[end:].lstrip(_SPACE):
        raise json.JSONDecodeError("Extra data", text, len(text) - len(rest))
    return value


def _find_refused(text: str) -> Iterator[PlacedFault]:
    for node in walk(text):
        if node.is_repeated:
            message = f"key {show(str(node.loc[-1]))} stands twice in one object"
            hint = "keep one; the first would be lost without a word"
            yield node.key_offset, Fault(node.loc, message, hint)
        if node.token in ("NaN", "Infinity", "-Infinity"):
            hint = "JSON has no such number; write `null`, or leave the key out"
            yield node.offset, Fault(node.loc, f"`{node.token}`", hint, is_syntax=True)
        elif _is_too_large(node.token):
            yield node.offset, Fault(node.loc, "the number is too large")


def _is_too_large(token: str) -> bool:
    if token[0] not in "-0123456789":
        return False
    try:
        return len(token) > _MOST_DIGITS or math.isinf(float(token))
    except ValueError:
        return False


def _read_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused
    return value


def _read_number(kind: type[int] | type[float], token: str) -> int | float:
    if _is_too_large(token):
        raise _Refused
    return kind(token)


def _read_any_number(kind: type[int] | type[float], token: str) -> int | float:
    return kind(0 if _is_too_large(token) else token)


def _refuse(token: str) -> None:
    raise _Refused(token)


_STRICT = json.JSONDecoder(
    object_pairs_hook=_read_unique,
    parse_constant=_refuse,
    parse_int=partial(_read_number, int),
    parse_float=partial(_read_number, float),
)
_TOLERANT = json.JSONDecoder(
    parse_constant=lambda token: 0.0,
    parse_int=partial(_read_any_number, int),
    parse_float=partial(_read_any_number, float),
)
