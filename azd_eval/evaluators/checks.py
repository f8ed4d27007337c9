"""Deterministic tests of a reply, asked in place of a judge.

Text is compared as a reader sees it: without regard to case, to the width of white space and to how
an accent is encoded. `equals` alone is exact but for white space at the ends, and `regex` follows
its own pattern.
"""

import json
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

import regex

from azd_eval.domain.criterion import Check, CheckKind

# A pattern comes from a dataset, perhaps from a model: without a limit it could hang the run.
_REGEX_SECONDS = 1.0
_PATTERN_FAULTS = (regex.error, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Whether a reply passes a check, and why; `passed` is None when the check could not be run."""

    passed: bool | None
    reason: str


def run_check(check: Check, text: str) -> CheckResult:
    """Test a reply; never raises."""
    return _KINDS[check.kind](check.value, text)


def pattern_fault(pattern: str) -> str | None:
    """Say what is wrong with a regular expression, or None when it compiles."""
    try:
        regex.compile(pattern)
    except _PATTERN_FAULTS as error:
        return str(error)
    return None


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text.casefold()).split())


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, tuple) else (str(value),)


def _missing(value: object, text: str) -> list[str]:
    folded = _fold(text)
    return [wanted for wanted in _texts(value) if _fold(wanted) not in folded]


def _contains(value: object, text: str) -> CheckResult:
    if missing := _missing(value, text):
        return CheckResult(False, f"the reply does not contain {_listed(missing)}")
    return CheckResult(True, f"the reply contains {_listed(_texts(value))}")


def _contains_any(value: object, text: str) -> CheckResult:
    wanted = _texts(value)
    found = [item for item in wanted if item not in _missing(value, text)]
    if found:
        return CheckResult(True, f"the reply contains {found[0]!r}")
    return CheckResult(False, f"the reply contains none of {_listed(wanted)}")


def _not_contains(value: object, text: str) -> CheckResult:
    missing = _missing(value, text)
    found = [item for item in _texts(value) if item not in missing]
    if found:
        return CheckResult(False, f"the reply contains {_listed(found)}")
    return CheckResult(True, f"the reply does not contain {_listed(missing)}")


def _search(pattern: str, text: str) -> bool | None:
    try:
        found = regex.search(pattern, text, timeout=_REGEX_SECONDS)
    except (*_PATTERN_FAULTS, TimeoutError):
        return None
    return found is not None


def _regex(value: object, text: str) -> CheckResult:
    return _matched(value, text, wanted=True)


def _not_regex(value: object, text: str) -> CheckResult:
    return _matched(value, text, wanted=False)


def _matched(value: object, text: str, *, wanted: bool) -> CheckResult:
    found = _search(str(value), text)
    if found is None:
        return CheckResult(
            None, f"the pattern {value!r} is invalid or took over {_REGEX_SECONDS} s"
        )
    word = "matches" if found else "does not match"
    return CheckResult(found is wanted, f"the reply {word} the pattern {value!r}")


def _equals(value: object, text: str) -> CheckResult:
    same = text.strip() == str(value).strip()
    return CheckResult(same, f"the reply {'is' if same else 'is not'} exactly {value!r}")


def _min_words(value: object, text: str) -> CheckResult:
    count = len(text.split())
    return CheckResult(count >= _number(value), f"the reply has {count} words; at least {value}")


def _max_words(value: object, text: str) -> CheckResult:
    count = len(text.split())
    return CheckResult(count <= _number(value), f"the reply has {count} words; at most {value}")


def _is_json(value: object, text: str) -> CheckResult:
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return CheckResult(value is False, "the reply is not JSON")
    return CheckResult(value is not False, "the reply is JSON")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _listed(items: tuple[str, ...] | list[str]) -> str:
    return ", ".join(repr(item) for item in items)


_KINDS: dict[CheckKind, Callable[[object, str], CheckResult]] = {
    "contains": _contains,
    "contains_all": _contains,
    "contains_any": _contains_any,
    "not_contains": _not_contains,
    "regex": _regex,
    "not_regex": _not_regex,
    "equals": _equals,
    "min_words": _min_words,
    "max_words": _max_words,
    "is_json": _is_json,
}
