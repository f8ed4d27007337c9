"""Consoles, logs and folders that are not as they should be (cases 097 to 105)."""

import json

import pytest

from tests.cli.shell import connect, judge_by_name
from tests.fake_openai import Status
from tests.personas import support_world
from tests.reliability.projects import make_row, make_rows, write_rows

COMMANDS = {
    "run": "eval run",
    "run as json": "eval run --json",
    "optimize": "optimize --max-iterations 1",
    "validate": "dataset validate tasks.jsonl",
    "init": "eval init --force -m m --max-samples 2 -g",
}
FOREIGN = "héllo 你好 🙂 ✓ → “quoted” \u2028 ★ │"


@pytest.mark.parametrize("encoding", ["cp1252", "cp950", "ascii", "latin-1"])
@pytest.mark.parametrize("name", COMMANDS)
def test_case_097_a_console_that_lacks_a_character_stops_nothing(project, encoding, name):
    row = make_row(FOREIGN, f"{FOREIGN}?", {"name": FOREIGN, "instruction": FOREIGN})
    project.write_suite(tasks=write_rows([row, {**row, "name": "b", "unknown ✓": 1}]))
    server = project.serve(support_world())
    arguments = [*COMMANDS[name].split(), *(["Refunds → “30 days”."] if name == "init" else [])]

    plain = project.run(server, *arguments)
    done = project.run(
        server, *arguments, PYTHONIOENCODING=encoding, PYTHONUTF8="0", LC_ALL="C", TERM="dumb"
    )

    assert plain.code == done.code, done.output
    assert "Traceback" not in done.output
    assert "bug" not in done.output
    if name == "run as json":
        assert {FOREIGN} == {each["name"] for each in done.json["criteria"]}
    texts = [path.read_bytes().decode("utf-8") for path in project.folder.rglob("*.jsonl")]
    assert any(FOREIGN in text for text in texts)


MARKUP = {
    "unbalanced": "[/INST] done [/b]",
    "style": "[red]not red[/red] [bold]",
    "link": "[link=file:///etc]x[/link]",
    "emoji": ":smile: :warning:",
    "path": "path [/v1/chat] not found",
    "escapes": r"\[red] \\[/]",
}


@pytest.mark.parametrize("text", MARKUP.values(), ids=MARKUP)
def test_case_099_brackets_are_text(project, text):
    rows = [
        make_row(f"n {text}", "How?", {"name": f"c {text}", "instruction": text}),
        make_row("broken", "Broken?"),
    ]
    project.write_suite(tasks=write_rows(rows))

    def respond(request):
        if request.schema_name:
            return {"reason": f"why {text}", "score": 0}
        if "Broken?" in request.user:
            return Status(400, {"error": {"message": f"said {text}"}})
        return f"reply {text}"

    server = project.serve(respond)

    done = project.run(server, "eval", "run", "--max-errors", "1", FORCE_COLOR="", COLUMNS="200")

    assert 1 == done.code, done.output
    for shown in (f"n {text} · c {text} [builtin.task_adherence]: why {text}", f"said {text}"):
        assert shown in done.stdout
    report = next(d.decode() for name, d in project.files().items() if name.endswith(".html"))
    assert "<b>" not in report.partition("reply ")[2][:40]


LOGS = {
    "plain": {},
    "ci": {"CI": "true", "TERM": "dumb"},
    "github": {"CI": "true", "GITHUB_ACTIONS": "true", "TERM": "xterm-256color"},
    "colour wanted": {"FORCE_COLOR": "1", "CI": "true"},
    "colour of others": {"CLICOLOR_FORCE": "1", "PY_COLORS": "1", "TTY_COMPATIBLE": "1"},
}


@pytest.mark.parametrize("variables", LOGS.values(), ids=LOGS)
@pytest.mark.parametrize("flags", ["", "--json", "--quiet --json", "--no-progress", "-v"])
def test_case_101_a_log_has_no_redraws(project, variables, flags):
    project.write_suite(tasks=write_rows(make_rows(60)))
    server = project.serve(latency=0.02)

    done = project.run(server, "eval", "run", "--concurrency", "4", *flags.split(), **variables)

    assert 0 == done.code, done.output
    for stream in (done.stdout, done.stderr):
        for redraw in ("\r", "\x1b[2K", "\x1b[1A", "\x1b[?25l", "\x1b]"):
            assert redraw not in stream
    assert len(done.stderr.splitlines()) <= 3
    if "--json" in flags:
        assert 60 == done.json["tasks"]["passed"]
    if "--quiet" in flags:
        assert "" == done.stderr


def test_case_105_results_go_where_they_are_wanted_though_the_folder_is_new(project):
    project.write_suite()
    server = project.serve()

    done = project.run(server, *"eval run --json --run-dir out/new/dir".split())

    assert 0 == done.code, done.output
    folder = project.folder / "out/new/dir" / done.json["run_id"]
    assert done.json == json.loads((folder / "summary.json").read_bytes())


PLACES = {"a file": "taken/dir", "below a file": "taken", "no place": "/proc/none/x"}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_case_105_a_place_that_cannot_be_written_is_found_out_before_any_call(project, place):
    project.write_suite()
    project.write("taken", "a file")
    server = project.serve()

    done = project.run(server, "eval", "run", "--run-dir", place)

    assert 2 == done.code, done.output
    assert "cannot write results under" in done.stderr
    assert [] == server.calls
    assert "a file" == project.read("taken")


def test_case_105_runs_that_start_together_have_folders_of_their_own(project):
    project.write_suite()
    server = project.serve()

    started = [
        project.start("eval", "run", "--json", "--run-dir", "out", **connect(server))
        for _ in range(4)
    ]
    results = [json.loads(process.communicate(timeout=60)[0]) for process in started]

    assert [0] * 4 == [process.returncode for process in started]
    folders = {path.name for path in (project.folder / "out").iterdir()}
    assert folders == {result["run_id"] for result in results}
    assert 4 == len(folders)
    for folder in (project.folder / "out").iterdir():
        assert not set(folder.name) & set(':*?"<>\\|')
        assert 3 == len((folder / "trials.jsonl").read_bytes().splitlines())


def test_case_105_an_older_run_is_never_written_over(project):
    project.write_suite()
    server = project.serve(judge_by_name())
    project.run(server, "eval", "run", "--run-dir", "out")
    before = {name: data for name, data in project.files().items() if name.startswith("out/")}

    project.run(server, "eval", "run", "--run-dir", "out", "--no-cache")

    after = project.files()
    assert before == {name: after[name] for name in before}
    assert 2 == len(list((project.folder / "out").iterdir()))
