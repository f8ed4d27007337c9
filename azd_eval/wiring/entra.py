"""Sign in to Azure with Entra ID in place of a key, when the `azure` extra is installed."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable

from azd_eval.errors import InputError, ModelError

_SCOPE = "https://cognitiveservices.azure.com/.default"


def entra_token(wanted_key: str) -> Callable[[], Awaitable[str]]:
    """Give a function that gives a bearer token, from the cache of azure-identity.

    Raises `InputError` when the package is missing; `wanted_key` is the variable that would do in
    its place. The function itself raises `ModelError` when nobody is signed in.
    """
    try:
        identity = importlib.import_module("azure.identity")
        exceptions = importlib.import_module("azure.core.exceptions")
    except ImportError as error:
        raise InputError(
            f"no key for Azure: set `{wanted_key}`",
            hint="or sign in without a key: `pip install 'azd-eval[azure]'`, then `az login`",
        ) from error
    provider = identity.get_bearer_token_provider(identity.DefaultAzureCredential(), _SCOPE)

    async def token() -> str:
        try:
            return str(await asyncio.to_thread(provider))
        except exceptions.AzureError as error:
            raise ModelError(
                "nobody is signed in to Azure",
                code="wrong_key",
                hint=f"run `az login` or `azd auth login`, or set `{wanted_key}`",
            ) from error

    return token
