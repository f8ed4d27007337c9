"""What a scalar written without quotes means, by YAML 1.2 and by the field that it fills.

No `no` that means false, no 1:30 that means 90, no date: only `null`, `true`, `false` and numbers,
and those only where the field wants them.
"""

import math
import re
from typing import Any, get_origin

from azd_eval.formats.schema import fields_of, item_type, unwrap

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]{1,300}|0o[0-7]{1,300}|0x[0-9a-fA-F]{1,300}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


class Plain(str):
    """A scalar written without quotes; an empty one is a value left out."""

    __slots__ = ()

    @property
    def is_null(self) -> bool:
        return self in _NULL


def resolve(tree: Any) -> Any:
    """Give a free-form tree the types of the YAML 1.2 core schema.

    Infinity and not-a-number stay text: JSON, where such trees end up, has neither.
    """
    if isinstance(tree, dict):
        return {key: resolve(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [resolve(value) for value in tree]
    return _resolve_scalar(tree) if isinstance(tree, Plain) else tree


def fit(tree: Any, kind: Any) -> Any:
    """Give a tree the types that a model or type asks for, where it can; text stays text.

    A value left out is dropped, so that the field has its default; a section left empty is an empty
    map. What does not fit is left as it is, for the model to refuse.
    """
    kind = unwrap(kind)
    if kind is Any:
        return resolve(tree)
    if fields_of(kind) and isinstance(tree, Plain) and tree.is_null:
        return {}
    if isinstance(tree, dict):
        return _fit_map(tree, kind)
    if isinstance(tree, list):
        fitted = [fit(value, item_type(kind)) for value in tree]
        return tuple(fitted) if get_origin(kind) is tuple else fitted
    return _fit_scalar(tree, kind) if isinstance(tree, Plain) else tree


def _fit_map(tree: dict[str, Any], kind: Any) -> dict[str, Any]:
    fields = fields_of(kind)
    fitted = {}
    for key, value in tree.items():
        wanted = fields.get(key, Any) if fields else item_type(kind)
        is_left_out = isinstance(value, Plain) and value.is_null
        if not is_left_out or not fields or fields_of(unwrap(wanted)):
            fitted[key] = fit(value, wanted)
    return fitted


def _fit_scalar(text: Plain, kind: Any) -> Any:
    value = _resolve_scalar(text)
    wanted = (int, float) if kind is float else kind
    is_fitting = wanted in (bool, int) and type(value) is wanted
    if is_fitting or (kind is float and type(value) in (int, float)):
        return value
    return str(text)


def _resolve_scalar(text: Plain) -> Any:
    if text.is_null:
        return None
    if text in _FLAGS:
        return _FLAGS[text]
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return str(text)
