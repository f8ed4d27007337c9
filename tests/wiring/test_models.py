"""From a name to an endpoint, and from an endpoint to the whole stack."""

import asyncio
import subprocess
import sys
import types

import pytest

from azd_eval.config import ModelConfig, Price
from azd_eval.domain.chat import ChatRequest, Message
from azd_eval.errors import InputError, ModelError
from azd_eval.providers.endpoint import Endpoint
from azd_eval.wiring.environment import Environment
from azd_eval.wiring.models import ModelPool, PoolOptions, resolve_endpoint
from azd_eval.wiring.variables import anything_configured, default_model_name
from tests.fake_openai import Status

AZURE = {
    "AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com/",
    "AZURE_OPENAI_API_KEY": "azure-key",
}
M365 = {
    "AZURE_AI_OPENAI_ENDPOINT": "https://r.openai.azure.com/",
    "AZURE_AI_API_KEY": "azure-key",
    "AZURE_AI_API_VERSION": "2024-12-01-preview",
    "AZURE_AI_MODEL_NAME": "gpt-4o-mini",
}
FOUNDRY = {"FOUNDRY_PROJECT_ENDPOINT": "https://r.services.ai.azure.com/api/projects/p"}


def resolve(name="m", variables=None, **models):
    configs = {key: ModelConfig(**fields) for key, fields in models.items()}
    return resolve_endpoint(name, configs, Environment(variables or {}))


def azure(name="m", model=None, **fields):
    return Endpoint(
        **{
            "name": name,
            "model": model or name,
            "base_url": "https://r.openai.azure.com/openai/v1",
            "kind": "azure",
            "api_key": "azure-key",
            "key_name": "AZURE_OPENAI_API_KEY",
            **fields,
        }
    )


def openai(name="m", model=None, **fields):
    return Endpoint(
        **{
            "name": name,
            "model": model or name,
            "base_url": "https://api.openai.com/v1",
            "api_key": "openai-key",
            "key_name": "OPENAI_API_KEY",
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("name", "variables", "expected"),
    [
        ("m", {"OPENAI_API_KEY": "openai-key"}, openai()),
        (
            "m",
            {"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1/"},
            openai(base_url="http://127.0.0.1:8000/v1", api_key=None),
        ),
        (
            "llama3:8b",
            {"OPENAI_BASE_URL": "localhost:8000/v1", "OPENAI_API_KEY": "openai-key"},
            openai("llama3:8b", base_url="http://localhost:8000/v1"),
        ),
        ("m", {**AZURE, "OPENAI_API_KEY": "openai-key"}, azure()),
        (
            "m",
            {**AZURE, "AZURE_OPENAI_API_VERSION": "2024-10-21"},
            azure(base_url="https://r.openai.azure.com", api_version="2024-10-21"),
        ),
        ("m", {**AZURE, "AZURE_OPENAI_API_VERSION": "preview"}, azure()),
        (
            "m",
            {
                **AZURE,
                "AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com/openai/v1/",
                "AZURE_OPENAI_API_VERSION": "2024-10-21",
            },
            azure(),
        ),
        (
            "m",
            {
                **AZURE,
                "AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com/openai/deployments/d"
                "/chat/completions?api-version=2025-01-01-preview",
            },
            azure(base_url="https://r.openai.azure.com", api_version="2025-01-01-preview"),
        ),
        (
            "m",
            {**FOUNDRY, "AZURE_AI_API_KEY": "azure-key", "AZURE_OPENAI_API_VERSION": "2024-10-21"},
            azure(
                base_url="https://r.services.ai.azure.com/openai/v1", key_name="AZURE_AI_API_KEY"
            ),
        ),
        (
            "m",
            M365,
            azure(
                base_url="https://r.openai.azure.com",
                api_version="2024-12-01-preview",
                key_name="AZURE_AI_API_KEY",
            ),
        ),
        ("m", {**M365, "OPENAI_API_KEY": "openai-key"}, openai()),
        (
            "m",
            {"OPENAI_BASE_URL": "https://r.openai.azure.com", "OPENAI_API_KEY": "azure-key"},
            azure(key_name="OPENAI_API_KEY"),
        ),
        ("openai:m", {**AZURE, "OPENAI_API_KEY": "openai-key"}, openai("openai:m", "m")),
        ("azure:m", {**AZURE, "OPENAI_API_KEY": "k"}, azure("azure:m", "m")),
        (
            "ollama:llama3:8b",
            {**AZURE, "OPENAI_API_KEY": "k"},
            Endpoint("ollama:llama3:8b", "llama3:8b", "http://127.0.0.1:11434/v1"),
        ),
        ("offline", AZURE, Endpoint("offline", "offline", kind="offline")),
    ],
)
def test_finds_models_by_prefix_and_environment(name, variables, expected):
    assert expected == resolve(name, variables)


@pytest.mark.parametrize(
    ("config", "variables", "expected"),
    [
        (
            {"base_url": "http://${HOST}/v1", "api_key_env": "MY_KEY", "deployment": "d"},
            {"HOST": "h", "MY_KEY": "mine", **AZURE},
            openai(model="d", base_url="http://h/v1", api_key="mine", key_name="MY_KEY"),
        ),
        (
            {"base_url": "https://api.groq.com/openai/v1"},
            {"OPENAI_API_KEY": "openai-key"},
            openai(base_url="https://api.groq.com/openai/v1", api_key=None, key_name=None),
        ),
        (
            {"base_url": "https://api.openai.com/v1"},
            {"OPENAI_API_KEY": "openai-key", **AZURE},
            openai(),
        ),
        (
            {"base_url": "https://r.openai.azure.com/openai/deployments/d?api-version=2024-10-21"},
            AZURE,
            azure(model="d", base_url="https://r.openai.azure.com", api_version="2024-10-21"),
        ),
        (
            {"base_url": "https://gw.example/x", "api_version": "2024-10-21", "deployment": "d"},
            AZURE,
            azure(model="d", base_url="https://gw.example/x", api_version="2024-10-21"),
        ),
        (
            {"deployment": "d", "api_key_env": "MY_KEY", "parameters": {"temperature": 0}},
            {**AZURE, "MY_KEY": "mine"},
            azure(model="d", api_key="mine", key_name="MY_KEY", parameters={"temperature": 0}),
        ),
        (
            {"price": Price(input=1, output=2)},
            {"OPENAI_API_KEY": "openai-key"},
            openai(price=(1, 2)),
        ),
    ],
)
def test_finds_models_that_the_config_names(config, variables, expected):
    assert expected == resolve("m", variables, m=config)


@pytest.mark.parametrize(
    ("name", "variables", "config", "words"),
    [
        ("m", {}, None, "OPENAI_API_KEY"),
        ("openai:m", {}, None, "set `OPENAI_API_KEY`"),
        ("openai:m", AZURE, None, "set `OPENAI_API_KEY`"),
        ("azure:m", {"OPENAI_API_KEY": "k"}, None, "set `AZURE_OPENAI_ENDPOINT`"),
        ("m", {"OPENAI_BASE_URL": "https://api.openai.com/v1/"}, None, "set `OPENAI_API_KEY`"),
        ("m", {"OPENAI_BASE_URL": "ftp://h"}, None, "OPENAI_BASE_URL: not an http"),
        ("m", {**AZURE, "AZURE_OPENAI_ENDPOINT": "//"}, None, "AZURE_OPENAI_ENDPOINT: not an http"),
        ("m", {"OPENAI_API_KEY": "“quoted-secret”"}, None, "`OPENAI_API_KEY` holds"),
        ("m", {"OPENAI_API_KEY": "two secret words"}, None, "`OPENAI_API_KEY` holds"),
        ("m", {"OPENAI_API_KEY": "'quoted-secret'"}, None, "`OPENAI_API_KEY` holds"),
        ("m", {}, {"base_url": "http://${HOST}"}, r"models\.m\.base_url: .*`HOST`"),
        ("m", {}, {"base_url": "ftp://h"}, r"models\.m\.base_url: not an http"),
        (
            "m",
            {"OPENAI_API_KEY": "k"},
            {"api_key_env": "MINE"},
            r"models\.m\.api_key_env: .*`MINE`",
        ),
        ("m", {}, {"deployment": "d"}, "OPENAI_API_KEY"),
        ("", {}, None, "OPENAI_API_KEY"),
    ],
)
def test_says_in_one_line_what_to_set(name, variables, config, words):
    with pytest.raises(InputError, match=words) as caught:
        resolve(name, variables, **({"m": config} if config else {}))

    assert "\n" not in caught.value.message
    assert "secret" not in f"{caught.value.message} {caught.value.hint}"


def test_a_key_with_a_line_break_at_its_end_is_used_without(capsys):
    assert "k" == resolve(variables={"OPENAI_API_KEY": "k\r\n"}).api_key


KEYLESS = {"AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com"}


class TestEntra:
    def test_without_key_and_package_says_both_ways_out(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "azure.identity", None)

        with pytest.raises(InputError, match="set `AZURE_OPENAI_API_KEY`") as caught:
            resolve(variables=KEYLESS)

        assert "azd-eval[azure]" in str(caught.value.hint)

    async def test_signs_in_when_there_is_no_key(self, monkeypatch):
        answers = iter(["token-1", PermissionError("nobody")])

        def provider():
            answer = next(answers)
            if isinstance(answer, Exception):
                raise answer
            return answer

        # azure-identity is an extra, so its two functions are stood in for here.
        identity = types.ModuleType("azure.identity")
        identity.DefaultAzureCredential = object
        identity.get_bearer_token_provider = lambda credential, scope: provider
        exceptions = types.ModuleType("azure.core.exceptions")
        exceptions.AzureError = PermissionError
        monkeypatch.setitem(sys.modules, "azure.identity", identity)
        monkeypatch.setitem(sys.modules, "azure.core.exceptions", exceptions)
        endpoint = resolve(variables=KEYLESS)
        assert endpoint.token

        assert "token-1" == await endpoint.token()
        with pytest.raises(ModelError, match="nobody is signed in") as caught:
            await endpoint.token()
        assert "wrong_key" == caught.value.code


@pytest.mark.parametrize(
    ("variables", "name", "configured"),
    [
        ({}, None, False),
        ({"HOME": "/root", "HTTPS_PROXY": "http://p"}, None, False),
        ({"OPENAI_API_KEY": "k"}, None, True),
        ({"OPENAI_BASE_URL": "http://h"}, None, True),
        (AZURE, None, True),
        (FOUNDRY, None, True),
        ({"OPENAI_MODEL": "a"}, "a", True),
        ({"AZURE_OPENAI_DEPLOYMENT": "b", "OPENAI_MODEL": "a"}, "b", True),
        ({"AZURE_AI_MODEL_DEPLOYMENT_NAME": "c", "AZURE_OPENAI_DEPLOYMENT": "b"}, "c", True),
        (M365, "gpt-4o-mini", True),
        ({**M365, "AZURE_OPENAI_DEPLOYMENT": "b"}, "b", True),
        ({**M365, "OPENAI_API_KEY": "k"}, None, True),
    ],
)
def test_knows_what_the_environment_offers(variables, name, configured):
    environment = Environment(variables)

    assert (name, configured) == (
        default_model_name(environment),
        anything_configured(environment),
    )


def ask(text="hi", purpose="judge"):
    return ChatRequest((Message("user", text),), purpose)


def options(server, **fields):
    variables = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "pool-secret"}
    return PoolOptions(environment=Environment(variables), **fields)


class TestPool:
    async def test_roles_share_model_cache_and_meter(self, fake_openai, tmp_path):
        server = fake_openai(lambda request: "ok")
        models = {"m": ModelConfig(price=Price(input=1, output=2))}
        path = tmp_path / "cache" / "replies.db"

        async with ModelPool(options(server, cache=path, models=models)) as pool:
            await pool.model("m").complete(ask(purpose="agent"))
            await pool.model("m").complete(ask(purpose="judge"))
            await pool.model("m").complete(ask("other"))
            usage = pool.usage()

        assert 2 == len(server.calls)
        assert (2, 1, 20, 10) == (
            usage.calls,
            usage.cached_calls,
            usage.input_tokens,
            usage.output_tokens,
        )
        assert {"agent": 1, "judge": 1} == usage.calls_by_role
        assert (20 * 1 + 10 * 2) / 1e6 == usage.cost
        assert b"pool-secret" not in path.read_bytes()

    async def test_the_gate_is_one_for_all_models(self, fake_openai):
        server = fake_openai(lambda request: "ok", latency=0.02)

        async with ModelPool(options(server, concurrency=3)) as pool:
            models = [pool.model(name) for name in ("a", "b", "openai:a")]
            await asyncio.gather(*(models[n % 3].complete(ask(str(n))) for n in range(15)))

        assert (15, 3) == (len(server.calls), server.most_in_flight)

    async def test_notes_say_once_what_was_adapted(self, fake_openai):
        refusal = {"error": {"message": "Unsupported value: 'temperature'"}}
        server = fake_openai(
            lambda request: Status(400, refusal) if "temperature" in request.body else "ok"
        )
        models = {"m": ModelConfig(parameters={"temperature": 0})}

        async with ModelPool(options(server, models=models)) as pool:
            for number in range(3):
                await pool.model("m").complete(ask(str(number)))

            assert ("m: sent without `temperature`, which it refuses",) == pool.notes

    async def test_the_time_limit_of_a_call_is_the_option(self, fake_openai):
        server = fake_openai(lambda request: "late", latency=5)

        async with ModelPool(options(server, timeout_s=0.2)) as pool:
            with pytest.raises(ModelError) as caught:
                await pool.model("m").complete(ask())

        assert "timeout" == caught.value.code

    async def test_what_a_server_lets_wait_for_is_told(self, fake_openai):
        server = fake_openai(lambda request: Status(429, retry_after=30))
        told = asyncio.Queue()

        async with ModelPool(options(server, tell=told.put_nowait)) as pool:
            call = asyncio.create_task(pool.model("m").complete(ask()))
            said = await told.get()
            call.cancel()

        assert said.startswith("'m' at http://127.0.0.1:")
        assert said.endswith("rate limited (429): something went wrong; waiting 30 s")

    async def test_models_of_one_key_share_their_line_and_its_limits(self, fake_openai):
        server = fake_openai(lambda request: "ok")
        models = {
            "a": ModelConfig(max_rpm=600, base_url=server.base_url, api_key_env="KEY"),
            "b": ModelConfig(max_tpm=6000, base_url=server.base_url, api_key_env="KEY"),
            "c": ModelConfig(base_url=server.base_url, api_key_env="OTHER"),
        }
        environment = Environment({"KEY": "one", "OTHER": "two"})

        async with ModelPool(PoolOptions(environment=environment, models=models)) as pool:
            for name in "abc":
                pool.model(name)
            await asyncio.gather(
                *(pool.model(name).complete(ask(str(n))) for n in range(4) for name in "abc")
            )

        times = {name: [call.time for call in server.calls if call.model == name] for name in "abc"}
        slow = sorted(times["a"] + times["b"])
        # Eight calls of one key leave a tenth of a second apart; those of the other just go.
        assert slow[-1] - slow[0] >= 0.4
        assert times["c"][-1] < slow[-1]

    async def test_rules_are_no_call_to_a_server_but_are_counted(self):
        async with ModelPool(PoolOptions(environment=Environment({}))) as pool:
            await pool.model("offline").complete(ask(purpose="agent"))

            assert 1 == pool.usage().calls

    async def test_an_unknown_model_is_the_users_error(self):
        async with ModelPool(PoolOptions(environment=Environment({}))) as pool:
            with pytest.raises(InputError):
                pool.model("m")


def test_two_commands_in_one_process_do_not_meet(fake_openai, tmp_path):
    server = fake_openai(lambda request: "ok")

    async def command():
        async with ModelPool(options(server, cache=tmp_path / "c.db", concurrency=1)) as pool:
            return await asyncio.gather(*(pool.model("m").complete(ask()) for _ in range(3)))

    for _ in range(2):
        assert ["ok"] * 3 == [reply.text for reply in asyncio.run(command())]


def test_the_client_is_not_loaded_before_it_is_used():
    code = "import sys, azd_eval.wiring.models; print('openai' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "False" == done.stdout.strip()
