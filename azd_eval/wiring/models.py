"""From the name of a model to something that answers."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from azd_eval.config import DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT_S, ModelConfig
from azd_eval.domain.chat import Usage
from azd_eval.domain.ports import ChatModel
from azd_eval.domain.stop import StopSign
from azd_eval.errors import FilesRefused, InputError, Problem
from azd_eval.providers.budget import Budget, Limits
from azd_eval.providers.endpoint import (
    Endpoint,
    is_azure,
    read_api_version,
    read_azure_endpoint,
    read_base_url,
)
from azd_eval.providers.gate import Gate, Line
from azd_eval.providers.meter import Meter, Price
from azd_eval.providers.middleware import Bounded, Cached, Metered, Retrying, RetryPolicy
from azd_eval.storage.reply_cache import SqliteReplyCache
from azd_eval.wiring.entra import entra_token
from azd_eval.wiring.environment import Environment, replace_variables
from azd_eval.wiring.variables import (
    AZURE_ENDPOINTS,
    OPENAI_VARIABLES,
    default_api_version,
    names_azure,
)

if TYPE_CHECKING:
    from azd_eval.providers.openai import OpenAIModel

OFFLINE = "offline"
OPENAI_URL = "https://api.openai.com/v1"
OLLAMA_URL = "http://127.0.0.1:11434/v1"


@dataclass(frozen=True, slots=True)
class _Wish:
    """A model as it was asked for. What is None comes from the address or the environment."""

    name: str
    model: str | None
    base_url: str | None = None
    key_name: str | None = None
    api_version: str | None = None


def resolve_endpoint(
    name: str, models: Mapping[str, ModelConfig], environment: Environment
) -> Endpoint:
    """Find where a model lives: by prefix, by the `models:` of eval.yaml, by the environment.

    Prefixes are `openai:`, `azure:` and `ollama:`; `offline` is no language model. Raises
    `InputError` that says what to set.
    """
    if name == OFFLINE:
        return Endpoint(name, name, kind="offline")
    prefix, _, rest = name.partition(":")
    if rest and prefix == "ollama":
        return Endpoint(name, rest, OLLAMA_URL)
    if rest and prefix == "openai":
        return _find_openai(_Wish(name, rest), environment)
    if rest and prefix == "azure":
        return _find_azure(_Wish(name, rest), environment)
    if name in models:
        return _find_configured(name, models[name], environment)
    return _find_in_environment(_Wish(name, name), environment)


def _find_configured(name: str, config: ModelConfig, environment: Environment) -> Endpoint:
    def replaced(field_name: str) -> str | None:
        text = getattr(config, field_name)
        where = f"models.{name}.{field_name}"
        return None if text is None else replace_variables(text, environment, where)

    if config.api_key_env and environment.get(config.api_key_env) is None:
        message = f"environment variable `{config.api_key_env}` is not set"
        raise FilesRefused([Problem(message, field=f"models.{name}.api_key_env")])
    base_url = replaced("base_url")
    wish = _Wish(
        name=name,
        model=replaced("deployment"),
        base_url=base_url,
        key_name=config.api_key_env,
        api_version=replaced("api_version"),
    )
    if base_url is None:
        endpoint = _find_in_environment(wish, environment)
    elif wish.api_version or is_azure(base_url):
        endpoint = _find_azure(wish, environment)
    else:
        endpoint = _find_openai(wish, environment)
    price = (config.price.input, config.price.output) if config.price else None
    return replace(
        endpoint,
        parameters=config.parameters,
        price=price,
        max_rpm=config.max_rpm,
        max_tpm=config.max_tpm,
    )


def _find_in_environment(wish: _Wish, environment: Environment) -> Endpoint:
    if names_azure(environment):
        return _find_azure(wish, environment)
    if environment.first_set(*OPENAI_VARIABLES):
        return _find_openai(wish, environment)
    raise InputError(
        f"no endpoint for model {wish.name!r}: set `OPENAI_API_KEY`, or `OPENAI_BASE_URL` for "
        "another server, or `AZURE_OPENAI_ENDPOINT` and `AZURE_OPENAI_API_KEY`",
        hint="`ollama:NAME` asks a local Ollama; `models:` in eval.yaml names other endpoints",
    )


def _find_openai(wish: _Wish, environment: Environment) -> Endpoint:
    where = f"models.{wish.name}.base_url" if wish.base_url else "OPENAI_BASE_URL"
    text = wish.base_url or environment.get("OPENAI_BASE_URL") or OPENAI_URL
    if wish.base_url is None and is_azure(text):
        key_name = environment.first_set("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY")
        return _find_azure(replace(wish, base_url=text, key_name=key_name), environment)
    try:
        base_url = read_base_url(text)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from error
    key_name = wish.key_name
    # The key of OpenAI goes to no server that eval.yaml names without asking for it.
    if key_name is None and (wish.base_url is None or base_url == OPENAI_URL):
        key_name = "OPENAI_API_KEY"
    key = _read_key(key_name, environment) if key_name else None
    if key is None and base_url == OPENAI_URL:
        raise InputError(f"no key for model {wish.name!r}: set `OPENAI_API_KEY`")
    return Endpoint(
        name=wish.name,
        model=wish.model or wish.name,
        base_url=base_url,
        api_key=key,
        key_name=key_name,
    )


def _find_azure(wish: _Wish, environment: Environment) -> Endpoint:
    variable = environment.first_set(*AZURE_ENDPOINTS)
    where = f"models.{wish.name}.base_url" if wish.base_url else variable
    text = wish.base_url or (environment.get(variable) if variable else None)
    if text is None:
        raise InputError(f"no endpoint for model {wish.name!r}: set `AZURE_OPENAI_ENDPOINT`")
    try:
        address = read_azure_endpoint(text)
    except ValueError as error:
        raise InputError(
            f"{where}: {error}", hint="it looks like `https://NAME.openai.azure.com`"
        ) from error
    key_names = AZURE_ENDPOINTS.get(variable or "", ("AZURE_OPENAI_API_KEY",))
    key_name = wish.key_name or environment.first_set(*key_names) or key_names[0]
    key = _read_key(key_name, environment)
    version = wish.api_version or address.api_version or default_api_version(environment)
    api_version = None if address.is_v1 else read_api_version(version)
    return Endpoint(
        name=wish.name,
        model=wish.model or address.deployment or wish.name,
        base_url=address.root if api_version else f"{address.root}/openai/v1",
        kind="azure",
        api_key=key,
        key_name=key_name,
        api_version=api_version,
        token=None if key else entra_token(key_name),
    )


def _read_key(name: str, environment: Environment) -> str | None:
    key = (environment.get(name) or "").strip()
    if not re.fullmatch(r"[!-~]*", key) or key[:1] in ("'", '"'):
        raise InputError(f"`{name}` holds quotes, spaces or letters that no key has")
    return key or None


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """What a pool needs to know. Without `cache` every question is asked anew.

    `seed` is sent with every call, unless the model has one of its own. `tell` hears what the user
    should know while it waits.
    """

    environment: Environment
    models: Mapping[str, ModelConfig] = field(default_factory=dict)
    concurrency: int = DEFAULT_CONCURRENCY
    timeout_s: float = DEFAULT_TIMEOUT_S
    cache: Path | None = None
    seed: int | None = None
    limits: Limits = field(default_factory=Limits)
    stop: StopSign = field(default_factory=StopSign)
    tell: Callable[[str], None] = lambda _: None


class ModelPool:
    """All models of one command, with what they share: gate, meter, cache, pauses, connections.

    An async context manager, entered in the loop in which the models are used; leaving it closes
    everything.
    """

    def __init__(self, options: PoolOptions) -> None:
        self.gate = Gate(options.concurrency)
        self.meter = Meter()
        self.budget = Budget(options.limits, self.usage, options.stop)
        self._options = options
        self._cache = SqliteReplyCache(options.cache) if options.cache else None
        self._models: dict[str, ChatModel] = {}
        self._prices: dict[str, Price] = {}
        self._lines: dict[tuple[str, str | None], Line] = {}
        self._clients: list[OpenAIModel] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for client in self._clients:
            await client.aclose()
        if self._cache:
            self._cache.close()

    def model(self, name: str) -> ChatModel:
        """Give the model of that name, always the same one. Raises `InputError`."""
        if name not in self._models:
            self._models[name] = Metered(self._build(name), self.meter, name)
        return self._models[name]

    def usage(self) -> Usage:
        """Add up what all models have spent so far."""
        return self.meter.usage(self._prices)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what was done otherwise than configured: refused parameters, a damaged cache."""
        adaptations = [note for client in self._clients for note in client.adaptations]
        return (*adaptations, *(self._cache.notes if self._cache else ()))

    def _build(self, name: str) -> ChatModel:
        endpoint = resolve_endpoint(name, self._options.models, self._options.environment)
        if endpoint.kind == "offline":
            from azd_eval.providers.offline import OfflineModel  # noqa: PLC0415 - seldom used

            return OfflineModel()
        from azd_eval.providers.openai import OpenAIModel  # noqa: PLC0415 - half a second to load

        if endpoint.price:
            self._prices[name] = endpoint.price
        if self._options.seed is not None:
            parameters = {"seed": self._options.seed, **endpoint.parameters}
            endpoint = replace(endpoint, parameters=parameters)
        timeout_s = self._options.timeout_s
        client = OpenAIModel(endpoint, timeout_s=timeout_s, admit=self.budget.admit)
        self._clients.append(client)
        model = Retrying(
            Bounded(client, self.budget.bound),
            self._find_line(endpoint),
            RetryPolicy(timeout_s=timeout_s),
            endpoint.parameters,
        )
        return Cached(model, self._cache, endpoint.identity) if self._cache else model

    def _find_line(self, endpoint: Endpoint) -> Line:
        """Give the line of an endpoint: servers count by key, so all models of a key share one."""
        place = endpoint.base_url, endpoint.api_key
        line = self._lines.setdefault(place, Line(self.gate, self._options.tell, self.budget.check))
        line.pace.tighten(endpoint.max_rpm, endpoint.max_tpm)
        return line
