"""Every way in which servers say no."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.providers.endpoint import Endpoint
from azd_eval.providers.refusals import (
    LONGEST_SENTENCE,
    error_code,
    model_error,
    read_refusal,
    read_retry_after,
)

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2),
        ({"Retry-After": "2.5"}, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"x-ms-retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:07 GMT"}, 7),
        ({"retry-after": "Mon, 30 Nov 2026 11:59:00 GMT"}, 0),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "1m30s"}, 90),
        ({"RETRY-AFTER": " 0.25 "}, 0.25),
        ({"retry-after": "Monday, 30-Nov-26 12:00:07 GMT"}, 7),
        ({"retry-after": "1796040007"}, 7),
        ({"retry-after-ms": "0", "retry-after": "9"}, 0),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({"x-ms-retry-after-ms": "21000", "retry-after": "30"}, 21),
        ({"x-ratelimit-reset-requests": "1796040007000"}, 7),
        ({"x-ratelimit-reset-requests": "1s", "retry-after": "4"}, 4),
        ({"x-ratelimit-reset-tokens": "6m0s"}, 360),
        ({"x-ratelimit-reset-tokens": "7.66s"}, 7.66),
        ({"x-ratelimit-reset-tokens": "250µs"}, 0.00025),
        ({"x-ratelimit-reset-requests": "6m0s"}, 360),
        ({"x-ratelimit-reset-tokens": "12ms"}, 0.012),
        ({"x-ratelimit-reset-tokens": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-reset-tokens": "10"}, 10),
        ({"x-ratelimit-reset-requests": "8m", "x-ratelimit-reset-tokens": "2s"}, 2),
        (
            {
                "x-ratelimit-reset-requests": "8m",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-tokens": "2s",
                "x-ratelimit-remaining-tokens": "500",
            },
            480,
        ),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "5s later"}, None),
        ({"retry-after": "1s " * 10**6}, None),
        ({"retry-after": f"Mon, {'9' * 30} Nov 2026 12:00:07 GMT"}, None),
        ({"retry-after": f"Mon, 30 Nov 2026 12:00:07 +{'9' * 30}"}, None),
        ({}, None),
    ],
)
def test_reads_the_wait_in_every_form(headers, seconds):
    assert seconds == pytest.approx(read_retry_after(headers, "", NOW))


@pytest.mark.parametrize(
    ("sentence", "seconds"),
    [
        ("Rate limit reached. Please try again in 20ms. Visit x", 0.02),
        ("Please retry after 27 seconds.", 27),
        ("Please try again in 1.5s", 1.5),
        ("Please retry in 2m", 120),
        ("Please retry after 21 seconds. See x", 21),
        ("Please retry after 1 second.", 1),
        ("try again in 1m2.5s", 62.5),
        ("Please try again in 7m12.48s. Need more tokens?", 432.48),
        ("Try again in 1h2m3s", 3723),
        ("try again in 20 milliseconds", 0.02),
        ("Try again in 2 minutes and 5 seconds.", 125),
        ("Please retry in 40.557214s.", 40.557214),
        ("try again in 1 hour, 30 minutes", 5400),
        ("TRY AGAIN IN 3 SECS", 3),
        ("Please wait 20 seconds before retrying", 20),
        ("Please wait for 2 days", 172800),
        ("Limit 10000 tokens in 1m, used 9000. Try again in 3s", 3),
        ("retry after 5 servers are up", None),
        ("try again in 2 months", None),
        ("Please retry later", None),
    ],
)
def test_reads_the_wait_from_the_words(sentence, seconds):
    assert seconds == pytest.approx(read_retry_after({}, sentence, NOW))


@given(st.text(max_size=30))
def test_no_header_is_too_strange(text):
    wait = read_retry_after({"retry-after": text, "x-ratelimit-reset-tokens": text}, text, NOW)

    assert wait is None or wait >= 0


def openai_error(message="no", **fields):
    return json.dumps({"error": {"message": message, **fields}})


CODES = [
    (401, openai_error("Incorrect API key provided", code="invalid_api_key"), "wrong_key"),
    (403, openai_error("Country not supported"), "wrong_key"),
    (402, openai_error("Insufficient credits"), "no_credit"),
    (429, openai_error("You exceeded your current quota", code="insufficient_quota"), "no_credit"),
    (429, openai_error("You exceeded your current quota, check your billing"), "no_credit"),
    (429, openai_error("Quota exceeded for metric: requests, limit: 0, model: m"), "no_credit"),
    (429, openai_error("Quota exceeded for metric: requests, limit: 10, model: m"), "rate_limited"),
    (429, openai_error("You exceeded your current quota. Please retry in 3s"), "rate_limited"),
    (400, openai_error("stop", code="billing_hard_limit_reached"), "no_credit"),
    (400, openai_error("Your credit balance is too low"), "no_credit"),
    (429, openai_error("Rate limit reached. Add a payment method: /billing"), "rate_limited"),
    (429, openai_error("slow down", code="429"), "rate_limited"),
    (404, openai_error("The model `x` does not exist", code="model_not_found"), "not_found"),
    (403, openai_error("no access to model x", code="model_not_found"), "not_found"),
    (404, openai_error("Resource not found", code="404"), "not_found"),
    (400, openai_error("Model Not Exist"), "not_found"),
    (408, "", "server_error"),
    (409, "", "server_error"),
    (500, "", "server_error"),
    (502, "<html><title>Bad gateway</title></html>", "server_error"),
    (503, openai_error("overloaded"), "server_error"),
    (529, openai_error("overloaded", type="overloaded_error"), "server_error"),
    (
        400,
        openai_error(
            "x", code="content_filter", innererror={"code": "ResponsibleAIPolicyViolation"}
        ),
        "content_filter",
    ),
    (400, openai_error("x", innererror={"code": "ResponsibleAIPolicyViolation"}), "content_filter"),
    (400, openai_error("triggering Azure OpenAI's content management policy"), "content_filter"),
    (
        400,
        openai_error("maximum context length is 8192", code="context_length_exceeded"),
        "too_long",
    ),
    (400, openai_error("prompt is too long: 300000 tokens"), "too_long"),
    (413, "", "too_long"),
    (400, openai_error("Failed to generate JSON", code="json_validate_failed"), "unreadable_reply"),
    (400, openai_error("Invalid value for 'n'"), "refused_request"),
    (422, '{"detail": [{"msg": "field required"}]}', "refused_request"),
    (418, "I am a teapot", "refused_request"),
]


@pytest.mark.parametrize(("status", "body", "code"), CODES)
def test_tells_failures_apart(status, body, code):
    assert code == error_code(read_refusal(status, {}, body))


def test_a_limit_that_lasts_for_hours_is_a_quota_that_is_used_up():
    refusal = read_refusal(429, {"retry-after": "86400"}, openai_error("slow down"))

    error = model_error(refusal, Endpoint("m", "m", "http://h/v1"))

    assert ("no_credit", True) == (error.code, error.is_fatal)
    assert "86400 s" in error.message


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('{"error": {"message": "plain"}}', "plain"),
        ('{"error": "only text"}', "only text"),
        ('{"message": "at the top"}', "at the top"),
        ('{"detail": "of FastAPI"}', "of FastAPI"),
        ('{"detail": [{"msg": "field required"}]}', '[{"msg": "field required"}]'),
        ('[{"error": {"message": "in a list"}}]', "in a list"),
        ("<html><h1>502</h1>\n<p>Bad\tgateway</p></html>", "502 Bad gateway"),
        ("just words", "just words"),
        ("", "(no text)"),
        ("[]", "[]"),
        ("null", "null"),
        ('{"error": {"message": "two\\nlines"}}', "two lines"),
    ],
)
def test_quotes_the_server_whatever_shape_it_answers_in(body, sentence):
    assert sentence == read_refusal(500, {}, body).sentence


@given(st.text(), st.integers(400, 599))
def test_no_body_is_too_strange(text, status):
    for body in (text, json.dumps({"error": text}), json.dumps({"error": {"message": text}})):
        error = model_error(read_refusal(status, {}, body), Endpoint("m", "m", "http://h/v1"))

        assert len(error.message) <= LONGEST_SENTENCE + 100
        assert "\n" not in error.message


def test_deep_json_is_quoted_not_fatal():
    assert read_refusal(500, {}, "[" * 100_000).sentence.startswith("[[[")


@pytest.mark.parametrize(
    ("endpoint", "body", "hint"),
    [
        (Endpoint("m", "m", "http://h/v1"), "404 page not found", "base URL"),
        (Endpoint("m", "m", "http://h/v1"), openai_error("The model `m` does not exist"), "model"),
        (
            Endpoint("m", "d", "http://h", kind="azure", api_version="2024-08-06"),
            openai_error("Resource not found", code="404"),
            "API version (2024-08-06)",
        ),
        (
            Endpoint("m", "d", "http://h/openai/v1", kind="azure"),
            openai_error("The API deployment does not exist", code="DeploymentNotFound"),
            "name of the deployment",
        ),
    ],
)
def test_not_found_says_where_it_looked_and_what_to_check(endpoint, body, hint):
    error = model_error(read_refusal(404, {}, body), endpoint)

    assert endpoint.shown_url in error.message
    assert hint in (error.hint or "")


@pytest.mark.parametrize(
    ("endpoint", "hint"),
    [
        (Endpoint("m", "m", "http://h", api_key="k", key_name="MY_KEY"), "`MY_KEY`"),
        (Endpoint("m", "m", "http://h", key_name="OPENAI_API_KEY"), "set `OPENAI_API_KEY`"),
        (Endpoint("m", "m", "http://h"), "api_key_env"),
    ],
)
def test_a_wrong_key_names_the_variable_to_check(endpoint, hint):
    error = model_error(read_refusal(401, {}, openai_error()), endpoint)

    assert hint in (error.hint or "")
