"""The agents of an azd project, read leniently: the file is azd's, most of it is not about us."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azd_eval.errors import InputError
from azd_eval.formats.yaml_files import read_yaml
from azd_eval.formats.yaml_scalars import Plain

_NAMES = ("azure.yaml", "azure.yml")
_AGENT_HOST = "azure.ai.agent"
_DEFAULT_KIND = "hosted"


@dataclass(frozen=True, slots=True)
class AzureAgent:
    """One agent of azure.yaml; `folder` is where its code and `.agent_configs` are."""

    name: str
    kind: str
    folder: Path


def find_agents(folder: Path) -> tuple[AzureAgent, ...]:
    """List the agents of the azd project that a folder belongs to, in the order of the file.

    Looks for azure.yaml in the folder and above, up to the root of the repository or the home
    folder. Raises `InputError` for one that is broken.
    """
    path = _find_project_file(folder.absolute())
    return tuple(_read_agents(path)) if path else ()


def _find_project_file(folder: Path) -> Path | None:
    for place in (folder, *folder.parents):
        for name in _NAMES:
            if (place / name).is_file():
                return place / name
        if (place / ".git").exists() or place == Path.home():
            break
    return None


def _read_agents(path: Path) -> Iterator[AzureAgent]:
    services = _read_map(path).get("services")
    for key, service in services.items() if isinstance(services, dict) else ():
        if not isinstance(service, dict) or service.get("host") != _AGENT_HOST:
            continue
        folder = path.parent / (_text(service, "project") or ".")
        named = service
        if reference := _text(service, "$ref"):
            named = {**_read_optional(path.parent / reference), **named}
        named = {**_read_optional(folder / "agent.yaml"), **named}
        yield AzureAgent(
            name=_text(named, "name") or key,
            kind=_text(named, "kind") or _DEFAULT_KIND,
            folder=folder,
        )


def _read_map(path: Path) -> dict[str, Any]:
    tree = read_yaml(path, path.name).tree
    return tree if isinstance(tree, dict) else {}


def _read_optional(path: Path) -> dict[str, Any]:
    # Parts of an agent that stand elsewhere may be missing or made by a template engine.
    try:
        return _read_map(path)
    except InputError:
        return {}


def _text(tree: dict[str, Any], key: str) -> str | None:
    value = tree.get(key)
    is_null = isinstance(value, Plain) and value.is_null
    is_given = isinstance(value, str) and not is_null and value.strip() and "${" not in value
    return str(value) if is_given else None
