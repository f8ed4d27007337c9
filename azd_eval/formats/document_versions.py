"""Versions of the schema of evaluation documents: which are read, and what came with which."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from azd_eval.evaluator_options import OPTIONS
from azd_eval.formats.faults import Fault, Loc, name_kind, show

NEWEST_MINOR = 11

_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")
_OFFICIAL = re.compile(r"1\.[0-9]+\.[0-9]+")
_WRITE = 'write `"schemaVersion": "1.6.0"`'

# Of the evaluators of 1.1.0 the specification says 1.2.0, as of `turns`.
_FIELDS = {
    "default_evaluators": 2,
    "evaluators": 2,
    "evaluators_mode": 2,
    "turns": 2,
    "diagnostics": 6,
    "tags": 9,
    "allowed_tools": 11,
    "allowed_tools_mode": 11,
    "default_allowed_tools": 11,
}
_EVALUATORS = {
    "Similarity": 3,
    "RetrievalQuery": 5,
    "RetrievalResult": 5,
    "ToolCallSelection": 11,
    "ToolCallExecution": 11,
}


def require_official_version(version: str) -> str:
    """Raise `ValueError` for what the official schema does not take as a version."""
    if not _OFFICIAL.fullmatch(version):
        raise ValueError(f"expected a version such as 1.6.0, got {show(version)}")
    return version


def find_version_faults(version: object) -> list[Fault]:
    """Say whether documents of a version are read: all of major 1, newer minors with a note."""
    loc = ("schemaVersion",)
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if match is None:
        shown = show(version) if isinstance(version, str) else name_kind(version)
        return [Fault(loc, f"expected a version such as 1.6.0, got {shown}", _WRITE)]
    major, minor, _ = map(int, match.groups())
    if major != 1:
        message = f"documents of schema version {match[0]} are not read, only those of 1.x"
        hint = "azd-eval may have a newer release that reads it" if major > 1 else _WRITE
        return [Fault(loc, message, hint)]
    if minor > NEWEST_MINOR:
        message = f"schema version {match[0]} is newer than 1.{NEWEST_MINOR}, the newest known"
        return [Fault(loc, message, "what it adds is kept and not used", "note")]
    return []


def find_newer_features(version: object, root: Mapping[str, Any], items: Loc) -> list[Fault]:
    """Note what a document uses though the version that it states did not have it yet."""
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    stated = int(match[2]) if match else NEWEST_MINOR
    return [
        Fault(loc, f"{what} came with schema version 1.{minor}.0; this is {version}", None, "note")
        for loc, what, minor in _find_features(root, items)
        if minor > stated
    ]


def find_lowest_version(root: Mapping[str, Any]) -> str:
    """Give the first version that has all that a document uses, so that all tools read it."""
    minors = (minor for _, _, minor in _find_features(root, ("items",)))
    return f"1.{max(minors, default=0)}.0"


def _find_features(root: Mapping[str, Any], items: Loc) -> Iterator[tuple[Loc, str, int]]:
    """Yield where a feature is used, its name, and the minor version that brought it."""
    yield from _find_fields((), root)
    for index, item in enumerate(_listed(root.get("items"))):
        loc = (*items, index)
        yield from _find_fields(loc, item)
        for place, turn in enumerate(_listed(item.get("turns"))):
            yield from _find_fields((*loc, "turns", place), turn)


def _find_fields(loc: Loc, part: Mapping[str, Any]) -> Iterator[tuple[Loc, str, int]]:
    for key in filter(_FIELDS.get, part):
        yield (*loc, key), f"`{key}`", _FIELDS[key]
    for key in ("default_evaluators", "evaluators"):
        named = part.get(key)
        for name, options in named.items() if isinstance(named, dict) else ():
            where = (*loc, key, name)
            if name in OPTIONS:
                yield where, f"`{name}`", _EVALUATORS.get(name, 0)
            else:
                yield where, "an evaluator of one's own", 6
            if isinstance(options, dict) and options.get("citation_format") == "markdown":
                yield where, "the citation format `markdown`", 8


def _listed(value: object) -> Sequence[dict[str, Any]]:
    listed = value if isinstance(value, list) else []
    return [each if isinstance(each, dict) else {} for each in listed]
