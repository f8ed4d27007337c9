"""Named evaluators with their options, as a task or a document chooses them."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from azd_eval.evaluator_options import OFFICIAL_OPTIONS, OPTIONS, CustomOptions
from azd_eval.formats.faults import Fault, Loc, show, suggest
from azd_eval.formats.schema import Schema

_OPTIONS: Final[dict[str, Schema[Any]]] = {name: Schema(kind) for name, kind in OPTIONS.items()}
_CUSTOM = Schema(CustomOptions)
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*")
_RENAMED = "`citation_format: inline` is taken as `mixed`"
_NAMES = (
    f"the evaluators are {', '.join(f'`{name}`' for name in OPTIONS)}; "
    "one of your own is set up in eval.yaml, with `callable` or `prompt_file`"
)


def find_evaluator_faults(
    loc: Loc, evaluators: object, custom: Collection[str] | None
) -> list[Fault]:
    """Check names and options; `custom` are the user's own evaluators, None when not known."""
    faults: list[Fault] = []
    for name, options in evaluators.items() if isinstance(evaluators, dict) else ():
        if name not in OPTIONS and name not in (custom or ()):
            faults += _find_unknown((*loc, name), custom)
        _, found = _OPTIONS.get(name, _CUSTOM).read(options)
        faults += [replace(fault, loc=(*loc, name, *fault.loc)) for fault in found]
        if isinstance(options, dict) and options.get("citation_format") == "inline":
            where = (*loc, name, "citation_format")
            faults.append(Fault(where, _RENAMED, severity="note"))
    return faults


def keep_official(evaluators: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Leave out the options that the official schema does not have."""
    known = {name: kind.model_fields for name, kind in OFFICIAL_OPTIONS.items()}
    return {
        name: {key: options[key] for key in options if key in known.get(name, options)}
        for name, options in evaluators.items()
    }


def find_name_faults(loc: Loc) -> list[Fault]:
    """Check the name of an evaluator, at the end of its path, by the official schema."""
    if _NAME.fullmatch(name := str(loc[-1])):
        return []
    hint = "names begin with a letter and go on with letters, digits and `_`"
    return [Fault(loc, f"{show(name)} is no name of an evaluator", hint, at_key=True)]


def _find_unknown(loc: Loc, custom: Collection[str] | None) -> list[Fault]:
    name = str(loc[-1])
    message = f"unknown evaluator {show(name)}"
    if close := suggest(name, [*OPTIONS, *(custom or ())]):
        return [Fault(loc, message, f"did you mean `{close}`?", at_key=True)]
    if custom is not None:
        return [Fault(loc, message, _NAMES, at_key=True)]
    hint = "it must be set up as an evaluator of your own where this is run"
    return find_name_faults(loc) or [Fault(loc, message, hint, "warning", at_key=True)]
