"""The variables that lead to models, by name: those of OpenAI, of Azure, and of Microsoft 365."""

from azd_eval.wiring.environment import Environment

OPENAI_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_KEY")

_FOUNDRY_KEYS = ("FOUNDRY_API_KEY", "AZURE_AI_API_KEY", "AZURE_OPENAI_API_KEY")
# What the Microsoft 365 tool calls them; it serves where nothing else is set.
_M365_ENDPOINT = "AZURE_AI_OPENAI_ENDPOINT"
_M365_MODEL_NAME = "AZURE_AI_MODEL_NAME"
_M365_KEYS = ("AZURE_AI_API_KEY", "AZURE_OPENAI_API_KEY")

AZURE_ENDPOINTS = {
    "AZURE_OPENAI_ENDPOINT": ("AZURE_OPENAI_API_KEY",),
    "FOUNDRY_PROJECT_ENDPOINT": _FOUNDRY_KEYS,
    "AZURE_AI_PROJECT_ENDPOINT": _FOUNDRY_KEYS,
    _M365_ENDPOINT: _M365_KEYS,
}
"""Endpoints of Azure, the first that is set being the one, each with its keys."""

_AZURE_VERSIONS = ("AZURE_OPENAI_API_VERSION", "AZURE_AI_API_VERSION")
_MODEL_NAMES = ("AZURE_AI_MODEL_DEPLOYMENT_NAME", "AZURE_OPENAI_DEPLOYMENT", "OPENAI_MODEL")


def default_model_name(environment: Environment) -> str | None:
    """Give the model that the environment names, if any."""
    is_openai = environment.first_set(*OPENAI_VARIABLES)
    name = environment.first_set(*_MODEL_NAMES, *(() if is_openai else (_M365_MODEL_NAME,)))
    return environment.get(name) if name else None


def default_api_version(environment: Environment) -> str | None:
    """Give the version of Azure OpenAI that the environment names, if any."""
    name = environment.first_set(*_AZURE_VERSIONS)
    return environment.get(name) if name else None


def anything_configured(environment: Environment) -> bool:
    """Tell whether the environment knows any endpoint, key or model; if not, rules may serve."""
    names = (*AZURE_ENDPOINTS, *_FOUNDRY_KEYS, *OPENAI_VARIABLES, *_MODEL_NAMES, _M365_MODEL_NAME)
    return environment.first_set(*names) is not None


def names_azure(environment: Environment) -> bool:
    """Tell whether models are asked for at an endpoint of Azure that the environment names."""
    endpoint = environment.first_set(*AZURE_ENDPOINTS)
    stands_back = endpoint == _M365_ENDPOINT and environment.first_set(*OPENAI_VARIABLES)
    return endpoint is not None and not stands_back
