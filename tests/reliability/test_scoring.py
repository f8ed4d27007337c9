"""What a run amounts to: which code it ends with, and what errors do to its score."""

import pytest

from tests.cli.shell import judge_by_name
from tests.fake_openai import FakeReply, Status
from tests.reliability.projects import make_row, make_rows, write_rows

REFUSED = Status(400, {"error": {"message": "not this one"}})


def score_by_number(*, failed=(), agent=(), judge=()):
    """Make a server whose answers fail, or whose agent or judge errs, for tasks of some numbers."""

    def respond(request):
        is_agent = request.schema_name is None

        def names(numbers):
            return any(f"Question {number}?" in request.user for number in numbers)

        if names(agent if is_agent else judge):
            return REFUSED
        return "Good day." if is_agent else {"reason": "so", "score": 0 if names(failed) else 1}

    return respond


FLAGS = [
    "",
    "--json",
    "--quiet",
    "--no-progress",
    "--verbose",
    "--no-prompt",
    "--run-dir kept",
    "--no-cache",
    "--repeat 2",
    "--limit 1",
    "--task task_0",
    "--name nightly",
    "--concurrency 1",
    "--fail-under 1.0",
    "--fail-under 0.01",
    "--max-errors 50%",
    "--max-calls 99",
]


@pytest.mark.parametrize("flags", FLAGS)
def test_case_092_no_flag_but_one_lets_failures_pass(project, call, flags):
    project.write_suite(tasks=write_rows(make_rows(2)))
    project.serve(judge_by_name("right"))

    assert 1 == call("eval", "run", *flags.split())


@pytest.mark.parametrize("flags", ["--no-gate", "--no-gate --fail-under 1", "--fail-under 0"])
def test_case_092_the_gate_may_be_opened(project, call, flags):
    project.write_suite(tasks=write_rows(make_rows(2)))
    project.serve(judge_by_name("right"))

    assert 0 == call("eval", "run", *flags.split())


def test_case_092_resumed_and_cached_runs_have_the_same_code(project, call):
    project.write_suite(tasks=write_rows(make_rows(3)))
    server = project.serve(score_by_number(failed=[1], agent=[2]))

    errored = call("eval", "run")
    cached = call("eval", "run", "--max-errors", "1")
    server._respond = score_by_number(failed=[1])
    resumed = call("eval", "run", "--resume")
    opened = call("eval", "run", "--no-gate")

    assert (3, 1, 1, 0) == (errored, cached, resumed, opened)


@pytest.mark.parametrize(
    ("fail_under", "is_passed"), [(None, False), (0.5, True), (0.51, False), (1.0, False)]
)
def test_case_092_the_api_says_it_too(project, fail_under, is_passed):
    project.write_suite(tasks=write_rows(make_rows(2)))
    project.serve(score_by_number(failed=[1]))

    summary = project.evaluate(fail_under=fail_under)

    assert (is_passed, is_passed) == (summary.gate.passed, not summary.gate.reasons)


def test_case_092_a_gate_of_the_config_holds(project, call, capfd):
    project.write_suite(tasks=write_rows(make_rows(4)), options="{eval_model: m, fail_under: 0.75}")
    project.serve(score_by_number(failed=[1]))

    assert 0 == call("eval", "run")
    assert 1 == call("eval", "run", "--fail-under", "76%")
    assert "Gate     missed: score 0.75 is under 0.76" in capfd.readouterr().out


ERRORS = {
    "agent": {"agent": [8, 9]},
    "judge": {"judge": [8, 9]},
    "both": {"agent": [8], "judge": [9]},
}


@pytest.mark.parametrize("errors", ERRORS.values(), ids=ERRORS)
def test_case_094_errors_are_counted_apart_with_both_figures(project, call, errors, capfd):
    project.write_suite(tasks=write_rows(make_rows(10)))
    project.serve(score_by_number(failed=[6, 7], **errors))

    code = call("eval", "run")
    shown = capfd.readouterr()
    summary = project.evaluate(max_errors=2)

    assert 3 == code
    assert "error: not measured: 2 of 10 trials errored; `--max-errors`" in shown.err
    assert "Score    0.75 (95 % interval" in shown.out
    assert "         0.60 with errored tasks as 0\n" in shown.out
    assert "Tasks    10: 6 passed, 2 failed, 2 errored, 0 skipped" in shown.out
    assert (0.75, 0.6) == (summary.score, summary.score_errors_as_zero)
    html = (project.folder / summary.run_dir / "report.html").read_text(encoding="utf-8")
    assert "0.75" in html
    assert "0.60" in html


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ("", 3),
        ("--max-errors 1", 3),
        ("--max-errors 2", 1),
        ("--max-errors 19%", 3),
        ("--max-errors 20%", 1),
        ("--max-errors 2 --fail-under 0.6", 0),
        # 6 of 8 are right, but errors count as 0 where it matters.
        ("--max-errors 2 --fail-under 0.61", 1),
        ("--max-errors 2 --fail-under 75%", 1),
        ("--max-errors 2 --no-gate", 0),
        # Not measured is worse than missed, and no gate helps.
        ("--no-gate", 3),
        ("--fail-under 0.1", 3),
    ],
)
def test_case_094_a_gate_on_errors_and_one_on_the_score(project, call, flags, code):
    project.write_suite(tasks=write_rows(make_rows(10)))
    project.serve(score_by_number(failed=[6, 7], agent=[8, 9]))

    assert code == call("eval", "run", *flags.split())


def test_case_094_an_error_of_one_criterion_makes_no_half_score(project):
    project.write_suite(tasks=write_rows([make_row("t", "How?", "right", "short")]))
    judge = judge_by_name()
    project.serve(lambda r: REFUSED if r.schema_name and '"short":' in r.user else judge(r))

    summary = project.evaluate()

    assert (1, None, None) == (
        summary.tasks.errored,
        summary.score,
        summary.score_errors_as_zero,
    )
    assert not summary.gate.passed


@pytest.mark.parametrize("reply", [FakeReply(""), FakeReply(" \n"), REFUSED], ids=str)
def test_case_094_whatever_the_error_of_the_agent(project, reply):
    project.write_suite(tasks=write_rows(make_rows(4)))
    good = judge_by_name()
    project.serve(lambda r: reply if r.schema_name is None and "Question 3?" in r.user else good(r))

    summary = project.evaluate()

    assert (3, 1, 1.0, 0.75) == (
        summary.tasks.passed,
        summary.tasks.errored,
        summary.score,
        summary.score_errors_as_zero,
    )


def test_case_094_an_errored_repeat_counts_as_its_share(project):
    project.write_suite(tasks=write_rows(make_rows(2)))
    server = project.serve()
    seen = []

    def respond(request):
        if request.schema_name is None and "Question 1?" in request.user:
            seen.append(request)
            return REFUSED if len(seen) == 1 else "Good day."
        return judge_by_name()(request)

    server._respond = respond

    summary = project.evaluate(repeats=4, cache=False)

    assert (2, 1, 1.0, 0.875) == (
        summary.tasks.passed,
        summary.errored_trials,
        summary.score,
        summary.score_errors_as_zero,
    )
