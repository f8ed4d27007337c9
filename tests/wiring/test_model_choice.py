import pytest

from azd_eval.errors import InputError
from azd_eval.wiring.environment import Environment
from azd_eval.wiring.model_choice import choose_model, describe_engine


@pytest.mark.parametrize(
    ("named", "variables", "model", "is_noted"),
    [
        ("m", {}, "m", False),
        ("m", {"OPENAI_MODEL": "other", "OPENAI_API_KEY": "k"}, "m", False),
        (None, {}, "offline", False),
        (None, {"OPENAI_API_KEY": "k"}, "gpt-4.1-mini", True),
        (None, {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "gpt-4.1-mini", True),
        (None, {"OPENAI_MODEL": "mine", "OPENAI_API_KEY": "k"}, "mine", False),
        (None, {"AZURE_AI_MODEL_DEPLOYMENT_NAME": "d"}, "d", False),
    ],
)
def test_the_model_is_the_one_named_else_what_the_environment_allows(
    named: str | None, variables: dict[str, str], model: str, is_noted: bool
) -> None:
    chosen, notes = choose_model(named, Environment(variables))

    assert (model, is_noted) == (chosen, bool(notes))


@pytest.mark.parametrize("variable", ["AZURE_OPENAI_ENDPOINT", "FOUNDRY_PROJECT_ENDPOINT"])
def test_a_deployment_is_never_guessed(variable: str) -> None:
    with pytest.raises(InputError, match="--eval-model"):
        choose_model(None, Environment({variable: "https://r.openai.azure.com"}))


def test_rules_are_called_rules() -> None:
    assert "rules, not a language model" == describe_engine("m", "offline")
    assert describe_engine("m", None) is None
