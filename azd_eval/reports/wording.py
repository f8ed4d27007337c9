"""How numbers and foreign text are written on a page."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeGuard

from azd_eval.domain.score import Score
from azd_eval.domain.summary import Interval

NOTHING = "\N{EN DASH}"

# A text is folded after the first part and cut after the second: one reply must not bury a page.
_SHOWN_AT_ONCE = 1500
_SHOWN_AT_ALL = 20_000

_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {
    0x7F: 0x2421
}
_UNFIT = (*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)
_VISIBLE = _PICTURES | dict.fromkeys(_UNFIT, 0xFFFD)
_MINUTE_S = 60


@dataclass(frozen=True, slots=True)
class TextParts:
    """A long text in parts: shown at once, shown on demand, number of characters left out."""

    head: str
    rest: str
    left_out: int


def is_finite(value: object) -> TypeGuard[float]:
    """Tell whether a value is a number that can be written and drawn."""
    return isinstance(value, int | float) and math.isfinite(value)


def make_visible(value: Any) -> Any:
    """Replace what a page may not hold: control characters by their pictures, halves of pairs.

    Leaves markup and everything that is no text as it is.
    """
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return value.replace("\r\n", "\n").translate(_VISIBLE)


def split_text(text: str) -> TextParts:
    """Split a text for showing, at the end of a line or word where there is one nearby."""
    if len(text) <= _SHOWN_AT_ONCE + _SHOWN_AT_ONCE // 2:
        return TextParts(text, "", 0)
    cut = max(text.rfind(space, _SHOWN_AT_ONCE // 2, _SHOWN_AT_ONCE) for space in "\n ")
    cut = _SHOWN_AT_ONCE if cut < 0 else cut
    rest = text[cut:_SHOWN_AT_ALL]
    return TextParts(text[:cut], rest, max(0, len(text) - _SHOWN_AT_ALL))


def write_score(value: object) -> str:
    """Write a score or rate with two decimals; a third where two would make it a perfect 1."""
    if not is_finite(value):
        return NOTHING
    text = f"{value:.2f}"
    return f"{value:.3f}" if text == "1.00" and value < 1 else text


def _write_interval(interval: Interval | None) -> str:
    if interval is None:
        return NOTHING
    return f"{write_score(interval[0])} to {write_score(interval[1])}"


def _write_change(value: object) -> str:
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}") if is_finite(value) else NOTHING


def _write_count(value: object) -> str:
    return f"{value:,.0f}" if is_finite(value) else NOTHING


def _write_plain(value: object) -> str:
    return f"{value:g}" if is_finite(value) else NOTHING


def _write_native(score: Score) -> str:
    """Write a result on its evaluator's own scale, as ` (4 of 5, passes from 3)`."""
    parts = []
    if is_finite(score.native) and score.native != score.score:
        is_graded = any(verdict.grade is not None for verdict in score.verdicts)
        word = "mean grade " if len(score.verdicts) > 1 else ""
        parts.append(f"{word}{round(score.native, 2):g}" + (" of 5" if is_graded else ""))
    if is_finite(score.threshold):
        parts.append(f"passes from {score.threshold:g}")
    return f" ({', '.join(parts)})" if parts else ""


def _write_cost(value: object) -> str:
    return f"{value:,.4f}" if is_finite(value) else "no price known"


def _write_duration(value: object) -> str:
    if not is_finite(value):
        return NOTHING
    if value < _MINUTE_S:
        return f"{value:.1f} s"
    minutes, seconds = divmod(round(value), _MINUTE_S)
    return f"{minutes} min {seconds} s"


def _percent(value: object) -> float:
    return round(100 * min(1.0, max(0.0, value)), 2) if is_finite(value) else 0.0


def _merge(first: Iterable[str], second: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))


FILTERS = {
    "score": write_score,
    "interval": _write_interval,
    "change": _write_change,
    "count": _write_count,
    "plain": _write_plain,
    "native": _write_native,
    "cost": _write_cost,
    "duration": _write_duration,
    "percent": _percent,
    "parts": split_text,
    "merge": _merge,
}
"""The filters of the page templates, by name."""
