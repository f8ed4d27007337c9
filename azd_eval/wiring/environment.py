"""Variables from the process and from `.env` files; the one place that reads them."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values

from azd_eval.errors import FilesRefused, InputError, Problem

# Later files win over earlier ones, and the process over all of them.
ENV_FILES = (".env", ".env.local", ".env.local.user")

_VARIABLE = re.compile(r"\$\{([^}]*\}?)")
_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
# Shorter values, such as `none` or `ollama`, are no secrets but words.
_SHORTEST_SECRET = 8
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Environment:
    """Variables by name, read once. Values are shown nowhere; an empty one counts as unset."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = {name: value for name, value in values.items() if value.strip()}

    def __repr__(self) -> str:
        return f"Environment({len(self._values)} variables)"

    def get(self, name: str) -> str | None:
        return self._values.get(name)

    def first_set(self, *names: str) -> str | None:
        """Name the first of some variables that is set, or None."""
        return next((name for name in names if name in self._values), None)

    def redact(self, text: str, *names: str) -> str:
        """Blot out the values of these variables, and of all whose names speak of secrets."""
        secrets = {
            value
            for name, value in self._values.items()
            if (name in names or _SECRET_NAME.search(name)) and len(value) >= _SHORTEST_SECRET
        }
        for secret in sorted(secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


def read_process_environment() -> Environment:
    """Read the variables of the process alone."""
    return Environment(os.environ)


def read_environment(folder: Path) -> Environment:
    """Read the variables of the process over those of the folder's `.env` files.

    Values in the files stand for themselves: `${OTHER}` in them is not replaced. Raises
    `InputError` for a file that cannot be read.
    """
    values: dict[str, str] = {}
    for name in ENV_FILES:
        values.update(_read_env_file(folder / name))
    return Environment({**values, **os.environ})


def _read_env_file(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        pairs = dotenv_values(path, interpolate=False, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {str(path)!r}: {error}") from error
    return {name: value for name, value in pairs.items() if value is not None}


def replace_variables(text: str, environment: Environment, where: str) -> str:
    """Replace each `${NAME}` by its value, in one pass.

    Raises `FilesRefused` that says where (the field `models.m.base_url`) and which variable is
    missing; the text is never used with a `${…}` left in it.
    """

    def value_of(match: re.Match[str]) -> str:
        name = match.group(1).removesuffix("}")
        if not (match.group().endswith("}") and _NAME.fullmatch(name)):
            message = f"`{match.group()}` does not name a variable"
            raise FilesRefused([Problem(message, field=where)])
        value = environment.get(name)
        if value is None:
            hint = f"set `{name}` in the shell or in a `.env` file beside eval.yaml"
            message = f"environment variable `{name}` is not set"
            raise FilesRefused([Problem(message, field=where, hint=hint)])
        return value

    return _VARIABLE.sub(value_of, text)
