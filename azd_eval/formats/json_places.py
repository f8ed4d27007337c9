"""Find where parts of a valid JSON text stand, without holding their values."""

import json
import re
from collections.abc import Iterator, Sequence

from azd_eval.formats.faults import Fault, Loc
from azd_eval.formats.json_text import find_brackets

_SPACE = re.compile(r"[ \t\r\n]*")
# What a number is does not matter here, and `int` refuses a long one.
_DECODER = json.JSONDecoder(parse_int=len, parse_float=len)


def find_offsets(text: str, faults: Sequence[Fault]) -> list[int]:
    """Find how many characters from the start each fault stands.

    A missing key stands where its object begins.
    """
    wanted = {fault.loc[:end] for fault in faults for end in range(len(fault.loc) + 1)}
    outer = {loc[:-1] for loc in wanted if loc}
    start = _skip_space(text, 0)
    places: dict[Loc, tuple[int, int]] = {(): (start, start)}
    pending: list[Loc] = [()] if () in outer else []
    while pending:
        loc = pending.pop()
        for step, key_offset, offset in _find_members(text, places[loc][1]):
            member = (*loc, step)
            if member in wanted:
                places[member] = key_offset, offset
            if member in outer:
                pending.append(member)
    return [_find_offset(places, fault) for fault in faults]


def _find_members(text: str, start: int) -> Iterator[tuple[str | int, int, int]]:
    """Yield each member of an object or a list: its key or index, where that and its value begin.

    Other values have no members.
    """
    position, index = _skip_space(text, start + 1), 0
    while text[start] in "{[" and text[position] not in "}]":
        step: str | int = index
        key_offset = position
        if text[start] == "{":
            step, end = _DECODER.raw_decode(text, position)
            position = _skip_space(text, _skip_space(text, end) + 1)
        yield step, key_offset, position
        position = _skip_space(text, _find_end(text, position))
        if text[position] == ",":
            position, index = _skip_space(text, position + 1), index + 1


def _find_end(text: str, start: int) -> int:
    if text[start] not in "{[":
        return _DECODER.raw_decode(text, start)[1]
    return next(end for end, depth in find_brackets(text, start) if depth == 0)


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _find_offset(places: dict[Loc, tuple[int, int]], fault: Fault) -> int:
    loc = fault.loc
    while loc not in places:
        loc = loc[:-1]
    key_offset, offset = places[loc]
    return key_offset if fault.at_key else offset
