"""Choose a model where none is named: the environment's, else the offline engine, else nobody's."""

from azd_eval.errors import InputError
from azd_eval.wiring.environment import Environment
from azd_eval.wiring.models import OFFLINE, anything_configured, default_model_name

ENGINE_NOTE = "rules, not a language model"


def choose_model(named: str | None, environment: Environment) -> str:
    """Choose the model that judges and drafts.

    Rules serve only when nothing at all is configured. Raises `InputError` when a server is, but no
    model is named: guessing one could cost money.
    """
    name = named or default_model_name(environment)
    if name is not None:
        return name
    if anything_configured(environment):
        raise InputError(
            "no model is named: give `--eval-model MODEL`, or set `options.eval_model` in eval.yaml"
        )
    return OFFLINE


def describe_engine(*models: str | None) -> str | None:
    """Say so when one of the models is the offline engine; None when all are language models."""
    return ENGINE_NOTE if OFFLINE in models else None


def names_no_model(environment: Environment) -> bool:
    """Tell whether a server is configured but no model named, so that somebody must be asked."""
    return default_model_name(environment) is None and anything_configured(environment)
