"""Load and fill the texts of `templates/`: all words that we send to a model or scaffold.

Filling is one pass: text that comes from a dataset, an agent or a model is never filled again.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_PLACEHOLDER = re.compile(r"\{\{ *([a-z_]+) *\}\}")
_PACKAGE = Path(__file__).parent
_HOMES = (_PACKAGE / "_templates", _PACKAGE.parent / "templates")


def template_path(name: str) -> Path:
    """Find a file of `templates/`: inside the wheel, else beside the package."""
    for home in _HOMES:
        path = home / name
        if path.is_file():
            return path
    raise FileNotFoundError(f"template {name!r} is missing from the installation")


@cache
def template(name: str) -> str:
    """Read a template as it is, with the line ends of the file made `\\n`."""
    return template_path(name).read_text(encoding="utf-8")


def fill(name: str, values: Mapping[str, str]) -> str:
    """Fill the `{{ placeholders }}` of a template in a single pass.

    Raises `KeyError` for a placeholder without a value: templates and callers are ours.
    """
    return fill_text(template(name), values)


def fill_text(text: str, values: Mapping[str, str]) -> str:
    """Fill a text that came out of a template, as `fill` does."""
    return _PLACEHOLDER.sub(lambda match: values[match.group(1)], text)
