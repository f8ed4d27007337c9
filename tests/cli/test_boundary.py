"""Where every command ends: exit codes, one plain line, and never the key."""

import os
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

from tests.cli.shell import KEY, command, connect
from tests.fake_openai import Body, Status

COMMANDS = {
    "init": "eval init -g Refunds. -m m --max-samples 3",
    "run": "eval run",
    "optimize": "optimize",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_named_model_without_a_key_says_what_to_set(shell, command):
    if command != "init":
        shell.write_suite()
    before = shell.files()

    refused = shell(*COMMANDS[command].split())

    assert (2, "") == (refused.code, refused.stdout)
    (line,) = [line for line in refused.stderr.splitlines() if line.startswith("error: ")]
    assert "set `OPENAI_API_KEY`" in line
    assert before == shell.files()


def test_nothing_at_all_says_what_to_do(shell):
    results = {
        "eval run": shell("eval", "run"),
        "eval run --json": shell("eval", "run", "--json"),
        "eval init": shell("eval", "init"),
        "optimize show": shell("optimize", "show"),
        "optimize apply": shell("optimize", "apply", "candidate_1"),
    }

    for words, result in results.items():
        assert (2, "") == (result.code, result.stdout), words
        assert 1 == result.stderr.count("error: "), words
        assert 1 == result.stderr.count("\nhint: "), words
    assert {} == shell.files()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, f"Incorrect API key provided: {KEY}."),
        (429, f"You exceeded your current quota (key {KEY[:12]})."),
    ],
)
def test_a_wrong_key_ends_it_without_a_traceback_or_the_key(
    shell, fake_openai, command, status, message
):
    code = "insufficient_quota" if status == 429 else "invalid_api_key"
    server = fake_openai(
        lambda request: Status(status, {"error": {"message": message, "code": code}})
    )
    if command != "init":
        shell.write_suite(options="{eval_model: m, concurrency: 2}")

    failed = shell(*COMMANDS[command].split(), "--verbose", **connect(server))

    assert 3 == failed.code, failed.output
    assert KEY not in failed.output
    assert "error: " in failed.stderr
    assert status == 429 or "the key in `OPENAI_API_KEY` was refused (401)" in failed.stderr
    assert [] == [name for name, data in shell.files().items() if KEY.encode() in data]
    assert len(server.calls) <= 4


def test_the_key_alone_in_a_file_is_enough_and_stays_there(shell, world):
    shell.write_suite()
    shell.write(".env", f"OPENAI_BASE_URL={world.base_url}\nOPENAI_API_KEY='{KEY}'\n")

    result = shell("eval", "run", "--json")

    assert 1 == result.code, result.stderr
    assert f"Bearer {KEY}" == world.calls[0].headers["authorization"]
    assert [".env"] == [name for name, data in shell.files().items() if KEY.encode() in data]


@pytest.mark.parametrize(
    "answer",
    [Status(500), Body("<html>Welcome</html>", "text/html"), Body(""), Body("[]"), Body("null")],
    ids=["500", "html", "empty", "list", "null"],
)
def test_a_server_that_never_answers_well_is_no_measurement(shell, fake_openai, answer):
    shell.write_suite(options="{eval_model: m, timeout_s: 0.5}")

    failed = shell("eval", "run", "--json", **connect(fake_openai(lambda request: answer)))

    assert 3 == failed.code, failed.stderr
    assert (3, None) == (failed.json["tasks"]["errored"], failed.json["score"])
    assert "Traceback" not in failed.stderr


def test_no_server_at_all_is_no_measurement(shell):
    shell.write_suite(options="{eval_model: m, timeout_s: 0.5}")

    failed = shell("eval", "run", OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_API_KEY=KEY)

    assert 3 == failed.code
    assert "127.0.0.1:9" in failed.output


@pytest.mark.parametrize(
    "flags",
    [
        "eval run --bogus",
        "eval walk",
        "optimize one two",
        "optimize my-agent list",
        "eval run --config gone.yaml",
        "eval run --cwd gone",
        "eval run --repeat many",
        "dataset validate",
    ],
)
def test_wrong_words_are_a_matter_of_the_user(shell, flags):
    refused = shell(*flags.split())

    assert (2, "") == (refused.code, refused.stdout)
    assert refused.stderr.startswith("error: ")
    assert "Traceback" not in refused.stderr


def test_a_bug_of_ours_is_one_line_and_a_file(shell):
    shell.write("sitecustomize.py", "import json\njson.dumps = None\n")

    broken = shell("optimize", "list", "--json", PYTHONPATH=f"{shell.folder}:{_path()}")

    assert (70, "") == (broken.code, broken.stdout)
    assert broken.stderr.startswith("error: this is a bug of azd-eval (TypeError: ")
    path = Path(broken.stderr.split("the traceback is in ")[1].strip())
    assert "Traceback" in path.read_text(encoding="utf-8")
    path.unlink()


def _path():
    return os.environ["PYTHONPATH"]


@pytest.mark.parametrize(
    ("redirection", "code", "message"),
    [
        ("<&- >&- 2>&-", 0, ""),
        (">/dev/full", 2, "error: the system refused: [Errno 28] No space left on device"),
    ],
)
def test_streams_may_be_closed_or_full(shell, redirection, code, message):
    words = shlex.join(command("optimize", "list"))

    done = subprocess.run(
        ["sh", "-c", f"{words} {redirection}"],
        cwd=shell.folder,
        env=shell.environment({}),
        check=False,
        capture_output=True,
        encoding="utf-8",
    )

    assert (code, message) == (done.returncode, done.stderr.partition("\n")[0])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_place_that_cannot_be_written_is_told_before_any_call(shell, world, command):
    if command != "init":
        shell.write_suite()
    # A file where the folder would be stops even root.
    shell.write(".azure", "")

    refused = shell(*COMMANDS[command].split(), **connect(world))

    assert (2, "") == (refused.code, refused.stdout)
    assert ".azure" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert [] == world.calls


@pytest.mark.skipif(not os.geteuid(), reason="root may write anywhere")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_read_only_folder_is_told_before_any_call(shell, world, command):
    if command != "init":
        shell.write_suite()
    shell.folder.chmod(stat.S_IRUSR | stat.S_IXUSR)

    refused = shell(*COMMANDS[command].split(), **connect(world))

    shell.folder.chmod(stat.S_IRWXU)
    assert (2, []) == (refused.code, world.calls)
