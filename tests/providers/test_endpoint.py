"""Addresses as people write them, and keys that must not be seen."""

import pytest

from azd_eval.providers.endpoint import (
    AzureAddress,
    Endpoint,
    hide_credentials,
    is_azure,
    read_api_version,
    read_azure_endpoint,
    read_base_url,
)

RESOURCE = "https://r.openai.azure.com"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (RESOURCE, AzureAddress(RESOURCE)),
        (f"{RESOURCE}/", AzureAddress(RESOURCE)),
        (f" '{RESOURCE}/' ", AzureAddress(RESOURCE)),
        ("r.openai.azure.com", AzureAddress(RESOURCE)),
        (f"{RESOURCE}/openai", AzureAddress(RESOURCE)),
        (f"{RESOURCE}/openai/v1", AzureAddress(RESOURCE, is_v1=True)),
        (f"{RESOURCE}/openai/v1/", AzureAddress(RESOURCE, is_v1=True)),
        (f"{RESOURCE}/openai/v1/openai/v1/", AzureAddress(RESOURCE, is_v1=True)),
        (f"{RESOURCE}/openai/v1/chat/completions", AzureAddress(RESOURCE, is_v1=True)),
        (
            f"{RESOURCE}/openai/deployments/d%20e/chat/completions?api-version=2024-10-21",
            AzureAddress(RESOURCE, "d e", "2024-10-21"),
        ),
        (f"{RESOURCE}/openai/deployments/d", AzureAddress(RESOURCE, "d")),
        (f"{RESOURCE}?api-version=preview", AzureAddress(RESOURCE)),
        (
            "https://r.services.ai.azure.com/api/projects/p",
            AzureAddress("https://r.services.ai.azure.com", is_v1=True),
        ),
        (
            "https://r.services.ai.azure.com/models?api-version=2024-05-01-preview",
            AzureAddress(
                "https://r.services.ai.azure.com", api_version="2024-05-01-preview", is_v1=True
            ),
        ),
        ("https://gw.example/team/openai/v1", AzureAddress("https://gw.example/team", is_v1=True)),
        ("http://127.0.0.1:8080", AzureAddress("http://127.0.0.1:8080")),
    ],
)
def test_reads_azure_endpoints_in_every_spelling(text, address):
    assert address == read_azure_endpoint(text)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        ("api.openai.com/v1", "https://api.openai.com/v1"),
        ("localhost:11434/v1", "http://localhost:11434/v1"),
        ("127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("https://h/v1/chat/completions", "https://h/v1"),
        ("https://h/v1/chat/completions/", "https://h/v1"),
    ],
)
def test_reads_base_urls_in_every_spelling(text, url):
    assert url == read_base_url(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ftp://host/v1",
        "https://",
        "http://h:port/v1",
        "http://h:99999",
        "http://[::1/v1",
        "http://h/\x00",
        "http://h/v1\x7f",
    ],
)
@pytest.mark.parametrize("read", [read_base_url, read_azure_endpoint])
def test_refuses_what_is_no_http_address(text, read):
    with pytest.raises(ValueError, match=r"\w"):
        read(text)


@pytest.mark.parametrize("text", [None, "", " ", "v1", "preview", "Latest"])
def test_an_undated_api_version_is_none(text):
    assert read_api_version(text) is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (RESOURCE, True),
        ("https://r.cognitiveservices.azure.com/", True),
        ("https://r.openai.azure.us/openai/v1", True),
        ("https://r.services.ai.azure.com/api/projects/p", True),
        ("https://gw.example/openai/deployments/d", True),
        ("https://api.groq.com/openai/v1", False),
        ("https://openai.azure.com.evil.example", False),
    ],
)
def test_knows_azure_by_host_or_path(url, expected):
    assert expected == is_azure(url)


KEY = "abcd1234-long-and-secret"


@pytest.mark.parametrize(
    "text",
    [
        f"key {KEY} is wrong",
        f"key ({KEY[:9]}…) is wrong",
        "Incorrect API key provided: sk-pr*****1234.",
        "Incorrect API key provided: sk-proj-abcdef123456.",
        "token eyJhbGciOi.eyJzdWIi.c2ln is wrong",
    ],
)
def test_blots_out_keys_whole_masked_or_foreign(text):
    redacted = Endpoint("m", "m", api_key=KEY).redact(text)

    assert "***" in redacted
    assert not any(part in redacted for part in (KEY[:9], "sk-", "1234", "eyJ"))


@pytest.mark.parametrize("key", [None, "", "none", "ollama"])
def test_a_text_without_a_key_stays_as_it_is(key):
    text = "none of the models of ollama is `gpt-4.1`"

    assert text == Endpoint("m", "m", api_key=key).redact(text)


def test_shows_neither_key_nor_password_nor_query():
    endpoint = Endpoint(
        "m", "d", "https://user:pass@h/p?code=secret", api_key=KEY, key_name="MY_KEY"
    )

    assert "https://h/p/chat/completions" == endpoint.shown_url
    assert not any(secret in repr(endpoint) for secret in (KEY, "pass", "secret"))


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://h:8/v1", "https://h:8/v1"),
        ("https://me:secret@h/v1", "https://***@h/v1"),
        ("https://secret@h/v1", "https://***@h/v1"),
        ("me:se@cret@h/v1", "***@h/v1"),
        ("h/v1?key=secret&a=\nsecret", "h/v1?***"),
        ("${SCHEME}://${USER}:${SECRET}@${HOST}/v1?${QUERY}", "${SCHEME}://***@${HOST}/v1?***"),
        ("https://h/@me", "https://h/@me"),
    ],
)
def test_who_signs_in_by_the_address_is_not_shown(address, shown):
    assert shown == hide_credentials(address)
