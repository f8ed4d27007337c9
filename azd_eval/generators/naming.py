"""Make the short names of tasks, criteria and dimensions, and keep them apart."""

import re
from collections.abc import Iterable
from typing import Final

from azd_eval.domain.task import make_unique

_CAPITAL_INSIDE = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_LONGEST: Final = 60


def snake_case(text: str) -> str:
    """Write a text as `snake_case`, in any alphabet; empty when it holds no letter or digit."""
    name = re.sub(r"[\W_]+", "_", _CAPITAL_INSIDE.sub("_", text)).strip("_").casefold()
    if len(name) > _LONGEST:
        name = name[:_LONGEST].rpartition("_")[0] or name[:_LONGEST]
    return name


def tell_apart(names: Iterable[str]) -> list[str]:
    """Add a number to names that came before: `a`, `a`, `b` become `a`, `a_2`, `b`."""
    taken: dict[str, None] = {}
    for name in names:
        taken[make_unique(name, taken)] = None
    return list(taken)
