"""Where models live, in every spelling of the address that people paste."""

import pytest

from tests.fake_openai import Status

V1 = "/openai/v1/chat/completions"
DATED = "/openai/deployments/{}/chat/completions"
SPELLINGS = {
    "{root}": (V1, "m"),
    "{root}/": (V1, "m"),
    "'{root}/' ": (V1, "m"),
    "{host}": (V1, "m"),
    "{root}/openai": (V1, "m"),
    "{root}/openai/": (V1, "m"),
    "{root}/openai/v1": (V1, "m"),
    "{root}/openai/v1/": (V1, "m"),
    "{root}/openai/v1/openai/v1/": (V1, "m"),
    "{root}/openai/v1/chat/completions": (V1, "m"),
    "{root}/openai/v1/responses": (V1, "m"),
    "{root}/api/projects/my-project": (V1, "m"),
    "{root}?api-version=preview": (V1, "m"),
    "{root}/openai/deployments/d": (V1, "d"),
    "{root}/?api-version=2024-10-21": (DATED, "m"),
    "{root}/openai/responses?api-version=2024-10-21": (DATED, "m"),
    "{root}/openai/deployments/d?api-version=2024-10-21": (DATED, "d"),
    "{root}/openai/deployments/d/?api-version=2024-10-21": (DATED, "d"),
    "{root}/openai/deployments/d/chat/completions?api-version=2024-10-21": (DATED, "d"),
}


def run_at(project, server, config="", **variables):
    """Evaluate one task with the model `m` that the environment, or a line of eval.yaml, knows."""
    project.write_suite()
    if config:
        with (project.folder / "eval.yaml").open("a", encoding="utf-8") as file:
            file.write(f"models: {{m: {{{config}}}}}\n")
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        project.monkeypatch.delenv(name)
    for name, value in variables.items():
        address = value.format(root=server.root_url, host=server.root_url.removeprefix("http://"))
        project.monkeypatch.setenv(name, address)
    return project.evaluate(limit=1)


def find_places(server):
    return {(call.path, call.query.get("api-version"), call.model) for call in server.calls}


@pytest.mark.parametrize("variable", ["AZURE_OPENAI_ENDPOINT", "FOUNDRY_PROJECT_ENDPOINT"])
@pytest.mark.parametrize(("spelling", "wanted"), SPELLINGS.items())
def test_case_069_every_spelling_of_an_azure_endpoint_is_understood(
    project, variable, spelling, wanted
):
    server = project.serve()
    path, _ = wanted

    summary = run_at(project, server, **{variable: spelling, "AZURE_OPENAI_API_KEY": "key"})

    version = "2024-10-21" if path == DATED else None
    # The model that eval.yaml names counts for more than a deployment in an address for all.
    assert {(path.format("m"), version, "m")} == find_places(server)
    assert (1, {"agent": "m", "judge": "m"}) == (summary.tasks.passed, summary.models)


@pytest.mark.parametrize("spelling", [text for text in SPELLINGS if "/deployments/" in text])
def test_case_069_an_azure_url_is_known_by_its_path_wherever_it_stands(project, spelling):
    server = project.serve()
    path, model = SPELLINGS[spelling]
    version = "2024-10-21" if path == DATED else None

    run_at(project, server, OPENAI_BASE_URL=spelling, OPENAI_API_KEY="key")
    assert {(path.format("m"), version, "m")} == find_places(server)
    server.calls.clear()
    config = f"base_url: '{spelling.format(root=server.root_url)}', api_key_env: K"
    run_at(project, server, config, OPENAI_BASE_URL="http://127.0.0.1:1", OPENAI_API_KEY="", K="k")
    assert {(path.format(model), version, model)} == find_places(server)


@pytest.mark.parametrize(
    "spelling",
    [
        "{root}/v1",
        "{root}/v1/",
        "{root}/v1//",
        "{root}/v1/chat/completions",
        "{root}/v1/chat/completions/",
        "{root}/v1/completions",
        "{root}/v1/responses",
        " {root}/v1 ",
        "'{root}/v1'",
        "{host}/v1",
    ],
)
def test_case_069_every_spelling_of_a_compatible_server_is_understood(project, spelling):
    server = project.serve()

    run_at(project, server, OPENAI_BASE_URL=spelling, OPENAI_API_KEY="key")

    assert {("/v1/chat/completions", None, "m")} == find_places(server)


@pytest.mark.parametrize("api_version", ["2024-10-21", "v1"])
def test_case_069_deployment_and_model_are_kept_apart(project, api_version):
    server = project.serve()
    config = f"deployment: my-deployment, api_version: '{api_version}'"

    summary = run_at(
        project, server, config, AZURE_OPENAI_ENDPOINT="{root}", AZURE_OPENAI_API_KEY="key"
    )

    assert {"my-deployment"} == {call.model for call in server.calls}
    assert {"agent": "m", "judge": "m"} == summary.models


MISSING = {"error": {"code": "DeploymentNotFound", "message": "The API deployment does not exist."}}
NOWHERE = {"error": {"code": "404", "message": "Resource not found"}}


@pytest.mark.parametrize(
    ("body", "version", "said"),
    [
        (MISSING, "2024-10-21", "no such deployment"),
        (NOWHERE, "2024-10-21", "nothing answers here"),
        # A version of the model in place of one of the API.
        (NOWHERE, "2025-04-14", "nothing answers here"),
    ],
)
def test_case_069_a_404_names_the_url_and_what_to_check(project, body, version, said):
    server = project.serve(lambda request: Status(404, body))
    variables = {
        "AZURE_OPENAI_ENDPOINT": f"{server.root_url}/?api-version={version}",
        "AZURE_OPENAI_API_KEY": "key",
    }
    project.write_suite()

    done = project("eval", "run", **variables)

    assert 3 == done.code
    url = f"{server.root_url}/openai/deployments/m/chat/completions"
    assert f"'m' at {url}: {said} (404): {body['error']['message']}" in done.stderr
