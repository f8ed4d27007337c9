"""Keys are planted everywhere, provoked by every fault, and found in nothing that is written."""

import json
import tempfile

import pytest
import typer

from azd_eval.cli.boundary import run_guarded
from tests.cli.shell import Shell
from tests.fake_openai import Body, Status

# Of a shape that no pattern knows; the second is Azure's, the third looks like OpenAI's.
AGENT_KEY = "Qm9z9k2LwXy7VdTa4hJr"
JUDGE_KEY = "0f3c9a7d51e84b26a1c7f0d2e9b85a43"
SPARE_KEY = "sk-proj-7Hd81kLmNoPqRsTuVwXyZ012"
KEYS = (AGENT_KEY, JUDGE_KEY, SPARE_KEY)

MODELS = """\
models:
  agent-model: {{base_url: "{url}", api_key_env: AGENT_SECRET}}
  judge-model: {{base_url: "{url}", api_key_env: JUDGE_SECRET}}
"""
RAISING = """\
import os

def respond(prompt):
    raise PermissionError(f"401 for {{'authorization': 'Bearer {os.environ['AGENT_SECRET']}'}}")
"""
TELLING = """\
import os

def respond(prompt):
    return f"All I know is {os.environ['AGENT_SECRET']}."
"""
BROKEN = """\
import os

raise RuntimeError(f"no such key: {os.environ['AGENT_SECRET']}")
"""


def echo(request):
    """Say what no server should say: all headers that came, keys among them."""
    return json.dumps(dict(request.headers))


FAULTS = {
    "401": lambda request: Status(401, {"error": {"message": f"Incorrect key: {echo(request)}"}}),
    "403 as text": lambda request: Status(403, echo(request)),
    "400": lambda request: Status(400, {"error": {"message": echo(request)}}),
    "404": lambda request: Status(404, {"error": {"code": "x", "message": echo(request)}}),
    "429 without credit": lambda request: Status(
        429, {"error": {"code": "insufficient_quota", "message": echo(request)}}
    ),
    "500 as a page": lambda request: Status(500, f"<html><body>{echo(request)}</body></html>"),
    "200 that is no JSON": lambda request: Body(request.headers["authorization"]),
    "200 with an error": lambda request: Body(json.dumps({"error": {"message": echo(request)}})),
    "200 without a choice": lambda request: Body(json.dumps(dict(request.headers))),
    "401 with half of the key": lambda request: Status(
        401, {"error": {"message": f"key {request.headers['authorization'][7:][:12]}… is wrong"}}
    ),
}


@pytest.fixture
def shell(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    shell = Shell(folder)
    shell.write(".env", f"JUDGE_SECRET={JUDGE_KEY}\n")
    shell.write(".env.local.user", f"OPENAI_API_KEY='{SPARE_KEY}'\n")
    return shell


def write_suite(shell, url, agent="{name: my-agent, model: agent-model, instructions: Be kind.}"):
    options = "{eval_model: judge-model, optimization_model: judge-model, timeout_s: 1}"
    shell.write_suite(agent=agent, options=options)
    shell.write("eval.yaml", shell.read("eval.yaml") + MODELS.format(url=url))


def find_leaks(shell, *results):
    """Say where a key, or more than its first characters, can be read."""
    written = {name: data for name, data in shell.files().items() if not name.startswith(".env")}
    written |= {f"output {n}": result.output.encode() for n, result in enumerate(results)}
    return [
        (place, key) for place, data in written.items() for key in KEYS if key[:9].encode() in data
    ]


@pytest.mark.parametrize(
    ("command", "fault"), [*(("eval run", fault) for fault in FAULTS), ("optimize", "401")]
)
def test_whatever_a_server_says_of_the_key_is_masked(shell, fake_openai, command, fault):
    server = fake_openai(FAULTS[fault])
    write_suite(shell, server.base_url)

    result = shell(*command.split(), "-v", AGENT_SECRET=AGENT_KEY, TMPDIR=str(shell.folder))

    assert any(AGENT_KEY in str(call.headers) for call in server.calls)
    assert [] == find_leaks(shell, result)
    assert 3 == result.code


@pytest.mark.parametrize("code", [RAISING, BROKEN, TELLING])
def test_a_python_agent_that_tells_our_key_is_masked(shell, fake_openai, code):
    server = fake_openai(lambda request: {"reason": request.user, "score": 1})
    write_suite(shell, server.base_url, "{name: my-agent, kind: python, callable: 'a.py:respond'}")
    shell.write("a.py", code)

    result = shell("eval", "run", "-v", AGENT_SECRET=AGENT_KEY, TMPDIR=str(shell.folder))

    assert {RAISING: 3, BROKEN: 2, TELLING: 0}[code] == result.code
    assert [] == find_leaks(shell, result)
    assert AGENT_KEY not in str([call.body for call in server.calls])


def test_a_key_under_any_name_is_masked(shell, fake_openai):
    server = fake_openai(lambda request: {"reason": "it is", "score": 1})
    write_suite(shell, server.base_url, "{name: my-agent, kind: python, callable: 'a.py:respond'}")
    shell.write("eval.yaml", shell.read("eval.yaml").replace("AGENT_SECRET", "OUR_MODEL"))
    shell.write("a.py", RAISING.replace("AGENT_SECRET", "OUR_MODEL"))

    result = shell("eval", "run", OUR_MODEL=AGENT_KEY)

    assert 3 == result.code
    assert "raised PermissionError: 401 for {'authorization': 'Bearer ***'}" in result.stdout
    assert [] == find_leaks(shell, result)


def test_a_password_in_an_address_stays_in_the_file_where_it_was_written(shell, fake_openai):
    server = fake_openai(lambda request: {"reason": "it is", "score": 1})
    address = server.base_url.replace("//", f"//me:{SPARE_KEY}@") + f"?sig={JUDGE_KEY}"
    write_suite(shell, address)

    result = shell("eval", "run", "-v", AGENT_SECRET=AGENT_KEY)

    assert 0 == result.code, result.stderr
    assert {"eval.yaml"} == {place for place, _ in find_leaks(shell, result)}


def test_a_server_that_answers_with_the_key_is_masked(shell, fake_openai):
    def respond(request):
        return echo(request) if request.schema_name is None else {"reason": "it is", "score": 1}

    server = fake_openai(respond)
    write_suite(shell, server.base_url)

    result = shell("eval", "run", AGENT_SECRET=AGENT_KEY)

    assert 0 == result.code, result.stderr
    assert [] == find_leaks(shell, result)


def test_the_report_of_a_bug_holds_no_key(monkeypatch, tmp_path, capsys):
    app = typer.Typer()

    @app.command()
    def fail() -> None:
        raise RuntimeError(f"with {AGENT_KEY}")

    monkeypatch.setenv("AGENT_SECRET", AGENT_KEY)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    assert 70 == run_guarded(app, [])

    (report,) = tmp_path.glob("azd-eval-*.log")
    assert "RuntimeError: with ***" in report.read_text(encoding="utf-8")
    assert "(RuntimeError: with ***)" in capsys.readouterr().err


PRIVATE = "Dear doctor, " + "".join(f"symptom {number}, " for number in range(400)) + "the end"
CRITERION = {"name": "c", "instruction": "Is polite"}
FAULTY_ROWS = (
    {"prompt": [PRIVATE], "criteria": [CRITERION]},
    {"prompt": PRIVATE, "criteria": PRIVATE},
    {"prompt": PRIVATE, "criteria": [PRIVATE]},
    {"prompt": PRIVATE},
    {"prompt": "", "context": PRIVATE, "criteria": [CRITERION]},
    {"prompt": PRIVATE, "criteria": [CRITERION], "category": {"of": PRIVATE}},
    {"prompt": PRIVATE, "criteria": [{**CRITERION, "weight": PRIVATE}]},
    {"prompt": PRIVATE, "criteria": [{**CRITERION, "check": {PRIVATE: PRIVATE}}]},
    {"prompt": PRIVATE, "criteria": [{**CRITERION, "check": {"regex": f"({PRIVATE}"}}]},
    {"prompt": PRIVATE, "criteria": [CRITERION], PRIVATE: PRIVATE},
    {"prompt": PRIVATE, "criteria": [CRITERION, CRITERION]},
)


@pytest.mark.parametrize("flag", [None, "--strict", "--lint", "--json"])
def test_faulty_rows_are_not_told_whole(shell, flag):
    lines = [PRIVATE]
    for whole in map(json.dumps, FAULTY_ROWS):
        lines += [whole, whole, whole[: len(whole) // 2], whole.replace(":", "", 1)]
    shell.write("tasks.jsonl", "\n".join(lines))

    result = shell("dataset", "validate", "tasks.jsonl", *([flag] if flag else []))

    assert 2 == result.code
    assert "tasks.jsonl" in result.output
    assert "symptom 60" not in result.output
