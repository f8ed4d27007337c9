"""Where a model lives, and the many ways in which people write its address."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

Kind = Literal["openai", "azure", "offline"]

_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1", "0.0.0.0")
_AZURE_HOSTS = (
    ".openai.azure.com",
    ".openai.azure.us",
    ".openai.azure.cn",
    ".cognitiveservices.azure.com",
    ".services.ai.azure.com",
)
_AZURE_TAIL = re.compile(r"/(openai|models|api/projects)(/|\Z).*")
_CALL = re.compile(r"/(chat/completions|completions|responses)\Z")
_DEPLOYMENT = re.compile(r"/deployments/([^/]+)")
_SHORTEST_KEY = 8
# One limit, two names: servers know the one or the other.
TOKEN_LIMITS = ("max_completion_tokens", "max_tokens")
_UNDATED = ("v1", "preview", "latest")
_SECRET_SHAPES = r"\S*\*{3,}\S*|\b[sp]k-[\w-]{6,}|\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one server.

    `name` is what the user calls it, `model` the model or deployment to ask for. With an
    `api_version` Azure's dated API is spoken, without one the OpenAI API below `base_url`.
    `key_name` is the variable that holds the key; `token` gives a bearer token in place of a key.
    `price` is per million tokens, input and output; `max_rpm` and `max_tpm` are calls and tokens
    per minute.
    """

    name: str
    model: str
    base_url: str = field(default="", repr=False)
    kind: Kind = "openai"
    api_key: str | None = field(default=None, repr=False)
    key_name: str | None = None
    api_version: str | None = None
    token: Callable[[], Awaitable[str]] | None = field(default=None, repr=False, compare=False)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    price: tuple[float, float] | None = None
    max_rpm: int | None = None
    max_tpm: int | None = None

    @property
    def shown_url(self) -> str:
        """Give the URL that is called, without user, password and query."""
        parts = urlsplit(self.base_url)
        place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        if self.api_version:
            place += f"/openai/deployments/{self.model}"
        return f"{place}/chat/completions"

    @property
    def place(self) -> str:
        """Name model and address, as messages do."""
        return f"{self.model!r} at {self.shown_url}"

    @property
    def identity(self) -> tuple[Any, ...]:
        """Give all that tells answers of this endpoint from those of another."""
        return (self.base_url, self.model, self.api_version, dict(self.parameters))

    def hide_key(self, text: str) -> str:
        """Blot the whole key out of a text; dummies such as `none` are words, no keys."""
        is_secret = self.api_key and len(self.api_key) >= _SHORTEST_KEY
        return text.replace(self.api_key or "", "***") if is_secret else text

    def redact(self, text: str) -> str:
        """Blot the key out of a text, whole or half-masked, and whatever else looks like one."""
        secrets = _SECRET_SHAPES
        if self.api_key and len(self.api_key) >= _SHORTEST_KEY:
            secrets += rf"|\S*{re.escape(self.api_key[:8])}\S*"
        return re.sub(secrets, "***", text)


def hide_credentials(address: str) -> str:
    """Blot user, password and query out of an address, however it is written."""
    return re.sub(r"((?<=//)|^)[^/?#]*(?=@)|(?<=\?).+", "***", address, flags=re.DOTALL)


@dataclass(frozen=True, slots=True)
class AzureAddress:
    """An Azure endpoint taken apart. Without `api_version` the undated v1 API is meant."""

    root: str
    deployment: str | None = None
    api_version: str | None = None
    is_v1: bool = False


def merge_parameters(general: Mapping[str, Any], special: Mapping[str, Any]) -> dict[str, Any]:
    """Lay the parameters of a request over those of its model; one limit of tokens is left."""
    merged = {**general, **special}
    for limits in (special, merged):
        if named := [name for name in TOKEN_LIMITS if name in limits]:
            others = set(TOKEN_LIMITS) - {named[0]}
            return {name: value for name, value in merged.items() if name not in others}
    return merged


def is_local(url: str) -> bool:
    """Tell whether a server runs on this machine."""
    return urlsplit(url).hostname in _LOCAL_HOSTS


def is_azure(url: str) -> bool:
    """Tell whether an address is Azure's, by its host or its path."""
    parts = urlsplit(url)
    return (parts.hostname or "").endswith(_AZURE_HOSTS) or "/openai/deployments/" in parts.path


def read_base_url(text: str) -> str:
    """Bring the base URL of an OpenAI-compatible server into one form.

    A missing scheme, a slash at the end and the path of a call are mended. Raises
    `ValueError` for what is no HTTP address.
    """
    parts = _split(text)
    path = _CALL.sub("", parts.path.rstrip("/"))
    return f"{parts.scheme}://{parts.netloc}{path}"


def read_azure_endpoint(text: str) -> AzureAddress:
    """Take apart an Azure OpenAI or Foundry endpoint.

    Understood are the bare resource, with or without slash, `/openai`, `/openai/v1` (also twice),
    the URL of a deployment or of a call, a Foundry project, and a gateway with a path before
    these. Raises `ValueError` for what is no HTTP address.
    """
    parts = _split(text)
    root_path = _AZURE_TAIL.sub("", parts.path).rstrip("/")
    tail = parts.path[len(root_path) :]
    deployment = _DEPLOYMENT.search(tail)
    version = parse_qs(parts.query).get("api-version", [None])[0]
    return AzureAddress(
        root=f"{parts.scheme}://{parts.netloc}{root_path}",
        deployment=unquote(deployment.group(1)) if deployment else None,
        api_version=read_api_version(version),
        is_v1="/v1" in tail or tail.startswith(("/models", "/api/projects")),
    )


def read_api_version(text: str | None) -> str | None:
    """Read an Azure API version; None means the undated v1 API."""
    version = (text or "").strip()
    return None if version.lower() in ("", *_UNDATED) else version


def _split(text: str) -> SplitResult:
    address = text.strip().strip("'\"")
    if "://" not in address:
        scheme = "http" if is_local(f"//{address}") else "https"
        address = f"{scheme}://{address}"
    parts = urlsplit(address)
    is_whole = parts.hostname and address.isprintable()
    if parts.scheme not in ("http", "https") or not is_whole:
        raise ValueError("not an http or https address")
    # Reading the port checks it; a bad one raises ValueError.
    _ = parts.port
    return parts
