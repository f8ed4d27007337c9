"""Small JSON objects on disk: manifests and summaries."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from azd_eval.files import write_atomically


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write an object, whole or not at all."""
    write_atomically(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def read_json(path: Path) -> Mapping[str, Any] | None:
    """Read an object; None where there is none: one damaged folder must not hide the others."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
