"""Choose a model where none is named."""

from azd_eval.errors import InputError
from azd_eval.wiring.environment import Environment
from azd_eval.wiring.models import OFFLINE
from azd_eval.wiring.variables import anything_configured, default_model_name, names_azure

# The model of the specification's examples.
DEFAULT_MODEL = "gpt-4.1-mini"
ENGINE_NOTE = "rules, not a language model"


def choose_model(named: str | None, environment: Environment) -> tuple[str, tuple[str, ...]]:
    """Choose the model that judges and drafts, and say so where nobody named it.

    Rules serve only when nothing at all is configured. Raises `InputError` for an Azure endpoint:
    its models have names of the user's own, which cannot be guessed.
    """
    name = named or default_model_name(environment)
    if name is not None:
        return name, ()
    if not anything_configured(environment):
        return OFFLINE, ()
    if names_azure(environment):
        raise InputError(
            "no model is named: give `--eval-model DEPLOYMENT`, or set `options.eval_model` in "
            "eval.yaml"
        )
    return DEFAULT_MODEL, (f"no model is named: {DEFAULT_MODEL} is used; `--eval-model` names one",)


def describe_engine(*models: str | None) -> str | None:
    """Say so when one of the models is the offline engine; None when all are language models."""
    return ENGINE_NOTE if OFFLINE in models else None


def names_no_model(environment: Environment) -> bool:
    """Tell whether a server is configured but no model named, so that somebody must be asked."""
    return default_model_name(environment) is None and anything_configured(environment)
