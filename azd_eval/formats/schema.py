"""Hold a plain tree against a pydantic type and say every fault in our own words."""

from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Generic,
    NotRequired,
    Required,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import is_typeddict

from azd_eval.errors import Severity
from azd_eval.formats.faults import HALF_PAIR, Fault, Loc, name_kind, show, suggest

T = TypeVar("T")

_MOST_ERRORS = 5_000
_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "`true` or `false`",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}
_OBJECT_WANTED = ("dict_type", "model_type")
_BOUNDS = {
    "greater_than": ("gt", "above"),
    "greater_than_equal": ("ge", "of at least"),
    "less_than": ("lt", "below"),
    "less_than_equal": ("le", "of at most"),
}
_SENTENCES = {
    "string_pattern_mismatch": "must not be empty",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "finite_number": "expected a finite number",
    "string_unicode": HALF_PAIR,
}


class Schema(Generic[T]):
    """A model or typed dictionary as a check of plain trees.

    An unknown key is an error; in a `lenient` type it is a warning, unless it resembles a known
    key.
    """

    def __init__(self, kind: type[T], *, lenient: Iterable[type] = ()) -> None:
        self._kind = kind
        self._lenient = tuple(lenient)
        self._validator = TypeAdapter(kind).validator

    def read(self, tree: object) -> tuple[T | None, list[Fault]]:
        """Give what the tree holds, or None and every fault of its shape."""
        try:
            return self._validator.validate_python(tree, strict=True), []
        except ValidationError as error:
            # To list them takes far more memory than what they are about.
            if error.error_count() > _MOST_ERRORS:
                return None, [Fault((), f"{error.error_count()} faults are too many to list")]
            details = error.errors(include_url=False)
        return None, [self._word(detail) for detail in details]

    def _word(self, detail: ErrorDetails) -> Fault:
        loc = detail["loc"]
        if detail["type"] == "extra_forbidden":
            return self._word_unknown_key(loc)
        hint = None
        if detail["type"] in _OBJECT_WANTED:
            hint = _list_keys(fields_of(type_at(self._kind, loc)))
        return Fault(loc, _word_mismatch(detail), hint)

    def _word_unknown_key(self, loc: Loc) -> Fault:
        *outer, key = loc
        kind = type_at(self._kind, tuple(outer))
        known = fields_of(kind)
        close = suggest(str(key), known)
        severity: Severity = "warning" if close is None and kind in self._lenient else "error"
        hint = _list_keys(known) if close is None else f"did you mean `{close}`?"
        if severity == "warning":
            hint = "it is not used; data of your own belongs under `metadata`"
        return Fault(loc, f"unknown key {show(str(key))}", hint, severity, at_key=True)


def fields_of(kind: Any) -> Mapping[str, Any]:
    """Give the types of the fields of a model or typed dictionary; other types have none."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    return kind.__annotations__ if is_typeddict(kind) else {}


def item_type(kind: Any) -> Any:
    """Give the type of the members of a list, tuple or map type; `Any` where it has none."""
    members = get_args(kind)
    return (members[-1] if get_origin(kind) is dict else members[0]) if members else Any


def unwrap(kind: Any) -> Any:
    """Strip `Annotated`, `Required` and `| None` from a type."""
    origin, members = get_origin(kind), get_args(kind)
    if origin in (Annotated, Required, NotRequired):
        return unwrap(members[0])
    if origin in (Union, UnionType):
        others = [member for member in members if member is not NoneType]
        return unwrap(others[0]) if len(others) == 1 else kind
    return kind


def type_at(kind: Any, loc: Loc) -> Any:
    """Follow a path of keys and indices through a type."""
    for step in loc:
        fields = fields_of(kind)
        kind = unwrap(fields[str(step)] if fields else item_type(kind))
    return kind


def _word_mismatch(detail: ErrorDetails) -> str:
    problem, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if problem == "missing":
        return f"missing `{detail['loc'][-1]}`"
    if problem == "literal_error":
        wanted = context["expected"].replace("'", "`")
        return f"expected {wanted}, got {_name_value(value)}"
    if problem in _BOUNDS:
        bound, relation = _BOUNDS[problem]
        return f"expected a number {relation} {context[bound]:g}, got {value}"
    if problem == "too_long":
        return f"expected at most {context['max_length']} entries, got {context['actual_length']}"
    if problem in _TYPES:
        # A word where a number is wanted says more than its type; elsewhere text may be private.
        is_scalar = problem not in (*_OBJECT_WANTED, "list_type", "tuple_type")
        given = _name_value(value) if is_scalar else name_kind(value)
        return f"expected {_TYPES[problem]}, got {given}"
    return _SENTENCES.get(problem) or detail["msg"].removeprefix("Value error, ")


def _name_value(value: object) -> str:
    if isinstance(value, str):
        return show(value)
    return str(value) if isinstance(value, float) else name_kind(value)


def _list_keys(fields: Mapping[str, Any]) -> str | None:
    return f"its keys are {', '.join(f'`{name}`' for name in fields)}" if fields else None
