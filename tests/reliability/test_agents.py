"""Agents that answer nothing, half or too much, crash or print (cases 058, 096, 126 to 133)."""

import json

import pytest

from tests.cli.shell import judge_by_name
from tests.fake_openai import Body, FakeReply, Status
from tests.reliability.projects import make_row, make_rows, write_rows

PYTHON = "{name: a, callable: 'agent.py:respond'}"

FALSY = {
    "''": ("empty_reply", "the agent returned no text"),
    "' \\n\\t'": ("empty_reply", "the agent returned no text"),
    "{'output': ''}": ("empty_reply", "the agent returned no text"),
    "None": ("agent_error", "returned None, not a reply"),
    "{'output': None}": ("agent_error", "not a reply"),
    "b''": ("agent_error", "returned a value of type bytes, not a reply"),
    "0": "0",
    "0.0": "0.0",
    "False": "false",
    "[]": "[]",
    "{}": "{}",
    "'0'": "0",
    "'null'": "null",
    "{'output': 0}": "0",
    "{'output': False}": "false",
}


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("value", "outcome"), FALSY.items(), ids=FALSY)
def test_case_096_a_falsy_reply_is_what_it_is(project, value, outcome, is_async):
    project.write_suite(tasks=write_rows([make_row()]), agent=PYTHON)
    begin = "async def" if is_async else "def"
    project.write("agent.py", f"{begin} respond(prompt):\n    return {value}\n")
    server = project.serve()

    run = project.evaluate()

    (turn,) = project.trials(run.run_dir)["t"]["turns"]
    if isinstance(outcome, str):
        assert (1, outcome, None) == (run.tasks.passed, turn["reply"], turn["error"])
        assert 1 == len(server.calls)
    else:
        code, words = outcome
        assert (1, None, code) == (run.tasks.errored, turn["reply"], turn["error_code"])
        assert words in turn["error"]
        assert [] == server.calls


PRINTING = {
    "print": "print('noise')",
    "flush": "print('noise', flush=True)",
    "bytes": "import sys; sys.stdout.buffer.write(b'noise'); sys.stdout.flush()",
    "a descriptor": "import os; os.write(1, b'noise')",
    "a shell": "import os; os.system('echo noise')",
    "a child": "import subprocess; subprocess.run(['echo', 'noise'])",
    "a child of Python": (
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(\"noise\")'])"
    ),
    "a child that lives on": (
        "import subprocess; subprocess.Popen('sleep 0.3; echo noise', shell=True)"
    ),
    "the C library": "import ctypes; c = ctypes.CDLL(None); c.puts(b'noise'); c.fflush(None)",
    "no text at all": "import os; os.write(1, b'noise \\xff\\xfe\\x9d')",
}


@pytest.mark.parametrize("place", ["import", "call"])
@pytest.mark.parametrize("code", PRINTING.values(), ids=PRINTING)
def test_case_126_what_an_agent_prints_is_apart_from_the_result(project, code, place):
    project.write_suite(tasks=write_rows([make_row()]), agent=PYTHON)
    within = code if place == "call" else "pass"
    project.write(
        "agent.py",
        f"{code if place == 'import' else ''}\n\ndef respond(prompt):\n    {within}\n"
        "    return 'Good day.'\n",
    )
    server = project.serve()

    done = project.run(server, "eval", "run", "--json")

    assert (0, 1) == (done.code, done.json["tasks"]["passed"]), done.output
    assert "noise" in done.stderr


@pytest.mark.parametrize("command", ["eval run", "eval run --dry-run", "optimize"])
def test_case_126_results_on_the_screen_are_apart_too(project, command):
    project.write_suite(tasks=write_rows(make_rows(3)), agent=PYTHON)
    project.write("instructions.md", "Be kind.")
    noise = "os.system('echo noise')"
    config = project.read("eval.yaml").replace("agent.py:respond'", "agent.py:respond', ", 1)
    project.write(
        "eval.yaml", config.replace("respond', }", "respond', instructions_file: instructions.md}")
    )
    project.write(
        "agent.py",
        f"import os\n{noise}\n\ndef respond(prompt, instructions):\n    {noise}\n    return 'x'\n",
    )
    server = project.serve()

    done = project.run(server, *command.split())

    assert 0 == done.code, done.output
    assert "noise" in done.stderr
    assert "noise" not in done.stdout
    assert done.stdout.strip()


@pytest.mark.parametrize(
    "variables",
    [{}, {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}],
    ids=["utf-8", "c"],
)
def test_case_126_bytes_of_a_child_reach_the_judge_as_text(project, variables):
    project.write_suite(tasks=write_rows([make_row()]), agent=PYTHON)
    said = "“so” ".encode() + b"\x9d\xff"
    project.write(
        "agent.py",
        "import subprocess, sys\n\n"
        f"SCRIPT = 'import os; os.write(1, bytes.fromhex(\"{said.hex()}\"))'\n\n"
        "def respond(prompt):\n"
        "    child = subprocess.run([sys.executable, '-c', SCRIPT], stdout=subprocess.PIPE)\n"
        "    return child.stdout.decode('utf-8', 'surrogateescape')\n",
    )
    server = project.serve()

    done = project.run(server, "eval", "run", "--json", **variables)

    assert 0 == done.code, done.output
    assert "“so” ??" == project.trials(done.json["run_dir"])["t"]["turns"][0]["reply"]
    assert "“so” ??" in server.calls[0].user


CRASHES = {
    "raise": "raise RuntimeError('no such order')",
    "exit 1": "sys.exit(1)",
    "exit 0": "sys.exit(0)",
    "exit with words": "sys.exit('done')",
    "assert": "assert False, 'done'",
    "interrupt": "raise KeyboardInterrupt",
    "end of a generator": "raise StopIteration",
    "cancelled": "raise asyncio.CancelledError",
    "no memory": "raise MemoryError",
    "recursion": "respond(prompt)",
    "child": "subprocess.run(['false'], check=True)",
    "child in time": "subprocess.run(['sleep', '9'], timeout=0.05)",
    "a name": "retrun('done')",
}
LENIENT = {"name": "lenient", "instruction": "Says no sorry", "check": {"not_contains": "sorry"}}


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("crash", CRASHES.values(), ids=CRASHES)
def test_case_128_an_agent_that_crashed_is_an_error_and_never_a_pass(project, crash, is_async):
    rows = [make_row("t", "Crash?", LENIENT, "right"), make_row("fine", "Fine?", LENIENT, "right")]
    project.write_suite(tasks=write_rows(rows), agent=PYTHON)
    begin = "async def" if is_async else "def"
    again = "await respond(prompt)" if is_async else "respond(prompt)"
    project.write(
        "agent.py",
        "import asyncio, subprocess, sys\n\n"
        f"{begin} respond(prompt):\n    if 'Crash' in prompt:\n        print('done')\n"
        f"        {crash.replace('respond(prompt)', again)}\n    return 'done'\n",
    )
    server = project.serve()

    run = project.evaluate()

    assert (1, 0, 1) == (run.tasks.passed, run.tasks.failed, run.tasks.errored)
    (turn,) = project.trials(run.run_dir)["t"]["turns"]
    assert ("agent_error", []) == (turn["error_code"], turn["scores"])
    assert "agent.py:" in turn["error"]
    assert 1 == len(server.calls)


@pytest.mark.parametrize("code", ["def respond(prompt)\n    return 1\n", "import gone\n", ""])
def test_case_128_an_agent_that_cannot_be_loaded_stops_everything(project, code):
    project.write_suite(agent=PYTHON)
    project.write("agent.py", code)
    server = project.serve()

    done = project.run(server, "eval", "run")

    assert 2 == done.code, done.output
    assert "agent.py" in done.stderr
    assert [] == server.calls


PAGE = "<html><body>We are sorry for the inconvenience.</body></html>"
PAGES = {
    "500 as JSON": Status(500, {"detail": "We are sorry for the inconvenience."}),
    "500 as a page": Status(500, PAGE),
    "400 as text": Status(400, "We are sorry."),
    "404 as a page": Status(404, PAGE),
    "200 as a page": Body(PAGE, "text/html"),
    "200 with an error": Body('{"error": {"message": "We are sorry."}}'),
    "200 with null": Body("null"),
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_case_130_an_error_page_is_not_judged(project, page):
    project.write_suite(
        tasks=write_rows([make_row("t", "Late?", LENIENT), make_row("fine", "Fine?", "right")]),
        options="{eval_model: m, timeout_s: 1.5}",
    )

    def respond(request):
        return page if "Late?" in request.user else judge_by_name()(request)

    server = project.serve(respond)

    run = project.evaluate()

    assert (1, 1) == (run.tasks.passed, run.tasks.errored)
    (turn,) = project.trials(run.run_dir)["t"]["turns"]
    assert (None, []) == (turn["reply"], turn["scores"])
    assert 1 == len([call for call in server.calls if call.schema_name])


FILTERED = {
    "azure": Status(
        400,
        {
            "error": {
                "message": "The response was filtered",
                "code": "content_filter",
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
    ),
    "azure without a code": Status(
        400,
        {
            "error": {
                "message": "filtered",
                "code": None,
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
    ),
    "end of a reply": FakeReply("", "content_filter"),
    "no reply": FakeReply(None, "content_filter"),
}


@pytest.mark.parametrize("answer", FILTERED.values(), ids=FILTERED)
def test_case_058_the_content_filter_stops_one_task_only(project, answer):
    project.write_suite(tasks=write_rows(make_rows(5)))

    def respond(request):
        if "Question 2" in request.user:
            return answer
        return judge_by_name()(request)

    server = project.serve(respond)

    run = project.evaluate()

    assert (4, 0, 1) == (run.tasks.passed, run.tasks.failed, run.tasks.errored)
    assert (1.0, 0.8) == (run.score, run.score_errors_as_zero)
    (turn,) = project.trials(run.run_dir)["task_2"]["turns"]
    assert ("content_filter", []) == (turn["error_code"], turn["scores"])
    assert "content filter" in turn["error"]
    assert 4 * 2 + 1 == len(server.calls)


def test_case_133_a_reply_that_was_cut_off_is_told_and_not_cached(project):
    project.write_suite(tasks=write_rows(make_rows(4)))

    def respond(request):
        if request.schema_name is None and "Question 1" in request.user:
            return FakeReply("Step 1: open the", "length")
        return judge_by_name()(request)

    server = project.serve(respond)

    first = project.run(server, "eval", "run", "--json")
    again = project.run(server, "eval", "run")

    assert (0, 0) == (first.code, again.code), first.output
    assert 1 == first.json["cut_replies"]
    told = "replies cut off at the token limit, scored all the same: 1, in task_1"
    assert told in first.json["notes"]
    assert told in again.stderr
    (turn,) = project.trials(first.json["run_dir"])["task_1"]["turns"]
    assert ("Step 1: open the", "length") == (turn["reply"], turn["finish_reason"])
    assert "cut off at the token limit</strong>" in project.read(
        f"{first.json['run_dir']}/report.html"
    )
    # Whoever raises the limit, or is luckier, gets another reply.
    cut = [c for c in server.calls if c.schema_name is None and "Question 1" in c.user]
    assert (2, 4 + 1) == (len(cut), sum(call.schema_name is None for call in server.calls))


@pytest.mark.parametrize("text", ["", None, "   ", "<think>Step 1: open"])
def test_case_133_nothing_before_the_limit_is_an_error_that_names_it(project, text):
    project.write_suite(tasks=write_rows(make_rows(2)))

    def respond(request):
        if request.schema_name is None and "Question 1" in request.user:
            return FakeReply(text, "length")
        return judge_by_name()(request)

    server = project.serve(respond)

    runs = [project.evaluate(), project.evaluate()]

    for run in runs:
        assert (1, 1) == (run.tasks.passed, run.tasks.errored)
        (turn,) = project.trials(run.run_dir)["task_1"]["turns"]
        assert (None, []) == (turn["reply"], turn["scores"])
        assert "limit" in turn["error"]
    assert 1 + 2 == len([call for call in server.calls if call.schema_name is None])


THOUGHTS = {
    "think": ("<think>\nThey want {x}.\n</think>\n\n", "It is 30 days."),
    "thinking": ("<thinking>30?</thinking>", "It is 30 days."),
    "reasoning": (" <Reasoning>30?</Reasoning>\n", "It is 30 days."),
    "several": ("<think>a</think>\n<thought>b</thought>\n", "It is 30 days."),
    "end alone": ("They ask for the window.\n</think>\n\n", "It is 30 days."),
    "nothing thought": ("<think>\n\n</think>\n\n", "It is 30 days."),
    "later": ("", "It is 30 days. <think>Is it?</think>"),
    "a word": ("", "Write </think> at the end, or <think> at the beginning."),
    "not ended": ("", "<think> is a tag."),
    "another tag": ("", "<b>It</b> is 30 days."),
}


@pytest.mark.parametrize(("thought", "said"), THOUGHTS.values(), ids=THOUGHTS)
def test_reasoning_before_a_reply_is_kept_and_not_judged(project, thought, said):
    criterion = {"name": "right", "instruction": "Is right"}
    short = {"name": "short", "instruction": "Is it", "check": {"equals": said}}
    turns = [{"prompt": f"How {n}?", "criteria": [criterion, short]} for n in range(2)]
    project.write_suite(tasks=write_rows([{"name": "t", "turns": turns}]))
    server = project.serve(
        lambda request: thought + said if request.schema_name is None else {"score": 1}
    )

    runs = [project.evaluate(), project.evaluate()]

    assert 2 + 2 == len(server.calls)
    second = [call for call in server.calls if not call.schema_name][1]
    assert said == second.text_of("assistant")
    for call in server.calls:
        if call.schema_name:
            line = call.user.partition("Reply to be judged")[2].split("\n")[1]
            assert said == json.loads(line)
            assert call.user.count("30?") <= said.count("30?")
    for run in runs:
        assert 1 == run.tasks.passed
        for turn in project.trials(run.run_dir)["t"]["turns"]:
            kept = turn.get("evidence", {}).get("reasoning", "")
            assert (said, thought) == (turn["reply"], kept)


def test_tags_in_the_reply_of_a_function_are_the_users_own(project):
    project.write_suite(tasks=write_rows([make_row()]), agent=PYTHON)
    project.write("agent.py", "def respond(prompt):\n    return '<think>a</think>b'\n")
    project.serve()

    run = project.evaluate()

    assert "<think>a</think>b" == project.trials(run.run_dir)["t"]["turns"][0]["reply"]
