from pathlib import Path

import pytest

from azd_eval.errors import InputError
from azd_eval.formats.azure_project import AzureAgent, find_agents

SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "azd"
SIMPLE = """\
name: demo
services:
  web: {host: appservice, project: ./web}
  assistant:
    host: azure.ai.agent
    project: ./agents/assistant
    kind: hosted
    name: my-support-agent
"""


def write(text: str, path: str = "azure.yaml") -> Path:
    target = Path.cwd() / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target.parent


def test_agents_are_the_services_on_the_agent_host() -> None:
    folder = write(SIMPLE)

    assert (
        AzureAgent("my-support-agent", "hosted", folder / "agents" / "assistant"),
    ) == find_agents(folder)


@pytest.mark.parametrize("start", ["agents/assistant", "agents", "src/deep/er"])
def test_the_project_is_found_from_any_folder_below(start: str) -> None:
    folder = write(SIMPLE)
    below = folder / start
    below.mkdir(parents=True, exist_ok=True)

    assert find_agents(folder) == find_agents(below)


def test_the_search_ends_at_the_root_of_the_repository() -> None:
    folder = write(SIMPLE)
    repository = folder / "other"
    (repository / ".git").mkdir(parents=True)
    (repository / "sub").mkdir()

    assert () == find_agents(repository / "sub")


def test_the_search_ends_at_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(SIMPLE)
    home = folder / "home" / "me"
    (home / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))

    assert () == find_agents(home / "work")


@pytest.mark.parametrize(
    ("service", "name", "kind"),
    [
        ("{host: azure.ai.agent}", "key", "hosted"),
        ("{host: azure.ai.agent, name: no, kind: prompt}", "no", "prompt"),
        ("{host: azure.ai.agent, name: '${NAME}'}", "key", "hosted"),
        ("{host: azure.ai.agent, name: [x], kind: {}}", "key", "hosted"),
        ("{host: azure.ai.agent, project: agents/a}", "from-agent-yaml", "container"),
        ("{host: azure.ai.agent, $ref: ./triage.yaml}", "from-ref", "prompt"),
        ("{host: azure.ai.agent, $ref: ./triage.yaml, name: own}", "own", "prompt"),
        ("{host: azure.ai.agent, $ref: ./none.yaml}", "key", "hosted"),
        ("{host: azure.ai.agent, $ref: ./broken.yaml}", "key", "hosted"),
        (f"{{host: azure.ai.agent, $ref: {'long' * 100}}}", "key", "hosted"),
        ('{host: azure.ai.agent, $ref: "zero\\0"}', "key", "hosted"),
        ("{host: azure.ai.agent, name: ~, kind: null, project: }", "key", "hosted"),
        ("{host: azure.ai.agent, name: '~', kind: 'null'}", "~", "null"),
    ],
)
def test_name_and_kind_are_taken_from_where_they_are(service: str, name: str, kind: str) -> None:
    folder = write(f"services:\n  key: {service}\n")
    write("name: from-ref\nkind: prompt\n", "triage.yaml")
    write("name: from-agent-yaml\nkind: container\n", "agents/a/agent.yaml")
    write("a: [", "broken.yaml")

    (agent,) = find_agents(folder)

    assert (name, kind) == (agent.name, agent.kind)


@pytest.mark.parametrize(
    "text", ["", "name: x\n", "services:\n", "services: [a]\n", "- a\n", "services: {a: b}\n"]
)
def test_a_project_without_agents_has_none(text: str) -> None:
    assert () == find_agents(write(text))


def test_no_project_at_all() -> None:
    assert () == find_agents(Path.cwd())


def test_the_other_extension_is_read_too() -> None:
    assert 1 == len(find_agents(write(SIMPLE, "azure.yml")))


def test_a_broken_project_file_is_refused_with_its_line() -> None:
    folder = write("services:\n\tassistant: {}\n")

    with pytest.raises(InputError, match=r"azure\.yaml:2:1: .*tab used for indentation"):
        find_agents(folder)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="azd's own samples are not beside the repository")
def test_azds_own_samples_are_read(tmp_path: Path) -> None:
    expected = {
        "simple": [("assistant", "hosted")],
        "complex": [("researcher", "hosted"), ("writer", "hosted"), ("triage", "hosted")],
    }

    for sample, agents in expected.items():
        text = (SAMPLES / f"{sample}.azure.yaml").read_text(encoding="utf-8")
        folder = write(text, f"{sample}/azure.yaml")

        assert agents == [(agent.name, agent.kind) for agent in find_agents(folder)]
