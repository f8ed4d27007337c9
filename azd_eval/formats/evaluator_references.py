"""Hold the list `evaluators:` of eval.yaml to the rules between its names and their options."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from azd_eval.evaluator_options import OPTIONS, RESERVED
from azd_eval.formats.evaluator_maps import find_evaluator_faults
from azd_eval.formats.faults import Fault, Loc

_BUILT_IN = "builtin."
_HOMES = ("callable", "prompt_file", "local_uri")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_GRADES = (1, 5)
_RESERVED = frozenset(name.casefold() for name in RESERVED)


def find_reference_faults(listed: object) -> Iterator[Fault]:
    """Find what is wrong with evaluators of a list whose shape is otherwise checked."""
    for index, row in enumerate(listed if isinstance(listed, list | tuple) else ()):
        if isinstance(row, Mapping) and isinstance(name := row.get("name"), str):
            yield from _find_faults(("evaluators", index), name, row)


def _find_faults(loc: Loc, name: str, row: Mapping[str, Any]) -> Iterator[Fault]:
    homes = [key for key in _HOMES if row.get(key) is not None]
    is_own = "callable" in homes or "prompt_file" in homes
    built_in = name.removeprefix(_BUILT_IN)
    if len(homes) > 1:
        yield Fault((*loc, homes[1]), f"`{homes[0]}` already says what {name!r} is", "keep one")
    if is_own and built_in.casefold() in _RESERVED:
        hint = "give your own evaluator another name"
        yield Fault((*loc, "name"), f"{name!r} is the name of a built-in evaluator", hint)
    elif is_own and not _IDENTIFIER.fullmatch(name):
        yield Fault((*loc, "name"), "expected letters, digits and `_`, a letter first")
    if is_own or (built_in in OPTIONS and not homes):
        options = {built_in: row.get("initialization_parameters") or {}}
        for fault in find_evaluator_faults((), options, (built_in,)):
            where = (*loc, "initialization_parameters", *fault.loc[1:])
            yield replace(fault, loc=where)
        if "prompt_file" in homes:
            yield from _find_grade_faults(loc, options[built_in])


def _find_grade_faults(loc: Loc, options: object) -> Iterator[Fault]:
    threshold = options.get("threshold") if isinstance(options, Mapping) else None
    lowest, highest = _GRADES
    if isinstance(threshold, int | float) and not lowest <= threshold <= highest:
        where = (*loc, "initialization_parameters", "threshold")
        yield Fault(where, f"expected a grade, from {lowest} to {highest}, got {threshold}")
