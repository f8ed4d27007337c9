"""Hold maps of named evaluators with their options, as documents and tasks write them, to rules."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from azd_eval.evaluator_options import OPTIONS, CustomOptions
from azd_eval.formats.faults import Fault, show, suggest
from azd_eval.formats.schema import Schema

_SCHEMAS = {name: Schema(kind) for name, kind in OPTIONS.items()}
_CUSTOM = Schema(CustomOptions)


def check_evaluators(
    named: Mapping[str, Any], others: Collection[str] | None = None
) -> list[Fault]:
    """Find every fault of a map from evaluators to options, the paths within the map.

    `others` are the configured evaluators that are not built in; None when nobody knows them, and
    then any name is taken.
    """
    faults: list[Fault] = []
    for name, options in named.items():
        if name in OPTIONS or others is None or name in others:
            found = check_options(name, options)
            faults += [replace(fault, loc=(name, *fault.loc)) for fault in found]
        else:
            faults.append(_word_unknown(name, others))
    return faults


def check_options(name: str, options: Any) -> list[Fault]:
    """Find every fault of the options of one evaluator, the paths within the options."""
    _, faults = _SCHEMAS.get(name, _CUSTOM).read(options)
    if not faults and name == "Citations" and options.get("citation_format") == "inline":
        note = "`inline` is read as `mixed`, which finds every format"
        faults.append(Fault(("citation_format",), note, severity="note"))
    return faults


def _word_unknown(name: str, others: Collection[str]) -> Fault:
    known = (*OPTIONS, *others)
    close = suggest(name, known)
    hint = f"did you mean `{close}`?" if close else f"there are {', '.join(map(_quote, known))}"
    return Fault((name,), f"unknown evaluator {show(name)}", hint, at_key=True)


def _quote(name: str) -> str:
    return f"`{name}`"
