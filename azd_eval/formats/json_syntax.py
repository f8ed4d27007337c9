"""Say why a text is no JSON, in the words of somebody who typed it, and what to write instead."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

_REACH = 12
_TYPOGRAPHIC = re.compile("[“”„‟‘’‚‛«»]")
_PYTHON_WORD = re.compile(r"(True|False|None|undefined|nan|inf)\b")
_COMMENT = re.compile(r"//|/\*|#")
_BARE_WORD = re.compile(r"[A-Za-z_]")
_CLOSING = ("}", "]")


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where the parser gave up: its message, the text from there on, the sign before it."""

    message: str
    rest: str
    before: str

    @property
    def sign(self) -> str:
        return self.rest[:1]

    def says(self, *beginnings: str) -> bool:
        return self.message.startswith(beginnings)

    def has_trailing_comma(self) -> bool:
        closes = self.before == "," and self.sign in _CLOSING
        return closes or self.says("Illegal trailing comma")

    def follows_text(self) -> bool:
        return self.before == '"' and self.says("Expecting ',' delimiter")


# The first cause that fits is told; the particular stand before the general.
_CAUSES: tuple[tuple[Callable[[_Spot], object], str, str], ...] = (
    (
        lambda spot: spot.sign == "\ufeff",
        "byte order mark inside the file",
        "save the file as UTF-8 without byte order marks",
    ),
    (_Spot.has_trailing_comma, "trailing comma", "remove the comma before the closing bracket"),
    (
        lambda spot: (
            _TYPOGRAPHIC.match(spot.rest)
            or (spot.says("Unterminated string") and _TYPOGRAPHIC.search(spot.rest))
        ),
        "typographic quotation mark",
        'JSON wants straight ones: `"`',
    ),
    (lambda spot: spot.sign == "'", "single quotation mark", 'JSON wants double ones: `"`'),
    (
        lambda spot: spot.says("Unterminated string"),
        "a text is not closed",
        'close it with `"`; it may have been cut off or broken over two lines',
    ),
    (
        lambda spot: spot.says("Invalid control character"),
        "control character inside a text",
        r"write a tab as `\t` and a line break as `\n`",
    ),
    (
        lambda spot: spot.says("Invalid \\"),
        "invalid backslash escape",
        r"write a backslash as `\\`",
    ),
    (
        lambda spot: spot.says("Extra data"),
        "something follows the value",
        "remove it; in JSONL, each object stands on a line of its own",
    ),
    (lambda spot: not spot.rest.strip(), "it ends too early", "it may have been cut off"),
    (
        lambda spot: _PYTHON_WORD.match(spot.rest),
        "a word that is not JSON",
        "JSON writes `true`, `false` and `null`",
    ),
    (lambda spot: _COMMENT.match(spot.rest), "comment", "JSON has no comments; remove it"),
    (
        _Spot.follows_text,
        "a comma is missing, or a text ends too early",
        r"write a quotation mark inside a text as `\"`",
    ),
    (
        lambda spot: spot.says("Expecting property name") and _BARE_WORD.match(spot.rest),
        "a key without quotation marks",
        'put keys in double quotes: `"name"`',
    ),
    (lambda spot: spot.says("Expecting ',' delimiter"), "a comma or a bracket is missing", ""),
    (lambda spot: spot.says("Expecting ':'"), "a colon is missing after a key", ""),
    (lambda spot: spot.says("Expecting property name"), "expected a key in double quotes", ""),
    (lambda spot: spot.says("Expecting value"), "expected a value", ""),
)


def explain_syntax(text: str, error: json.JSONDecodeError) -> tuple[int, str, str | None]:
    """Give offset, reason and cure of a syntax error; the reason quotes a little of the text."""
    offset = error.pos
    before = text[:offset].rstrip()
    spot = _Spot(error.msg, text[offset:], before[-1:])
    if spot.sign in _CLOSING and spot.has_trailing_comma():
        offset = len(before) - 1
    unknown = (error.msg[:1].lower() + error.msg[1:], "")
    reason, hint = next((words for fits, *words in _CAUSES if fits(spot)), unknown)
    near = _cut_excerpt(text, offset)
    return offset, f"{reason}, near `{near}`" if near else reason, hint or None


def _cut_excerpt(text: str, offset: int) -> str:
    """Cut at most half of the text: rows may be private."""
    reach = min(_REACH, len(text) // 4)
    cut = text[max(0, offset - reach) : offset + reach].strip()
    return "".join(char if char.isprintable() else "�" for char in cut)
