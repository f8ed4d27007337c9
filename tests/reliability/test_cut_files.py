"""A run that was killed and goes on ends like one that was not, wherever its files were cut."""

import asyncio
import shutil
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.tally import Tally
from azd_eval.evaluators.criteria import TaskAdherence
from azd_eval.evaluators.judge import IndependentJudge
from azd_eval.evaluators.remembered import RememberedJudge
from azd_eval.executor import LocalExecutor
from azd_eval.storage.jsonl_log import read_json_lines
from azd_eval.storage.run_folder import JOURNAL, TRIALS, RunFolder, read_latest_trials
from azd_eval.storage.run_memory import read_memory
from azd_eval.workflows.run_eval import RunJob, run_eval
from azd_eval.workflows.run_trial import Bench
from tests.factories import BASELINE, ScriptedTarget, judge_by_name, make_task
from tests.fakes import ScriptedModel

REPEATS = 2
TASKS = (make_task("refund"), make_task("thanks", prompts=("Hi \u2028 there", "Bye 返金")))


def run_session(folder, tasks=TASKS, judging="by the rules"):
    """Run what is missing, as `eval run --resume` does; give what agent and judge were asked."""
    target = ScriptedTarget(lambda request: f"{request.prompt}? {len(request.history)}, é.")
    model = ScriptedModel(judge_by_name({"short": 0}))
    memory = read_memory(folder, judging)
    store = RunFolder(folder, judging)
    judge = RememberedJudge(IndependentJudge(model, store.journal), memory.recall_verdicts)
    bench = Bench(target, [TaskAdherence(judge)], store.journal, memory.recall_reply)
    job = RunJob(tasks, BASELINE, REPEATS, memory.finished)
    executor = LocalExecutor(bench.run_trial, 3)
    asyncio.run(run_eval(job, executor, store, Tally(REPEATS), lambda trial: None))
    store.close()
    return len(target.history), len(model.history)


def read_results(folder, judging="by the rules"):
    """Give each trial, without what differs from run to run."""
    trials = list(read_latest_trials(folder, judging))
    results = {
        (trial.task, trial.repeat): replace(
            trial, index=0, turns=tuple(replace(turn, latency_ms=0.0) for turn in trial.turns)
        )
        for trial in trials
    }
    assert len(trials) == len(results) == len(TASKS) * REPEATS
    return results


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    assert (6, 12) == run_session(folder)
    return folder


def resume_cut(whole, folder, journal_cut, trials_cut, tasks=TASKS):
    """Cut a copy of both files, go on, and compare; no answer that was kept is asked for again."""
    shutil.copytree(whole, folder)
    for name, cut in ((JOURNAL, journal_cut), (TRIALS, trials_cut)):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:cut])
    finished = read_memory(folder, "by the rules").finished
    kept = Counter(
        event["event"]
        for event in read_json_lines(folder / JOURNAL)
        if event["event"] != "session" and (event["task_key"], event["repeat"]) not in finished
    )
    turns = sum(len(task.turns) for task in TASKS for _ in range(REPEATS))
    done = sum(len(t.turns) for t in TASKS for n in range(REPEATS) if (t.key, n) in finished)

    asked = run_session(folder, tasks)

    assert (turns - done - kept["reply"], 2 * (turns - done) - kept["verdict"]) == asked
    assert read_results(whole) == read_results(folder)
    shutil.rmtree(folder)


@given(st.data())
def test_files_cut_anywhere_lose_nothing_but_the_cut_line(whole, tmp_path_factory, data):
    sizes = [(whole / name).stat().st_size for name in (JOURNAL, TRIALS)]
    cuts = [data.draw(st.integers(0, size)) for size in sizes]
    tasks = data.draw(st.permutations(TASKS))

    resume_cut(whole, tmp_path_factory.mktemp("cut") / "run", *cuts, tasks)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [JOURNAL, TRIALS])
def test_files_cut_at_every_byte(whole, tmp_path, name):
    # Without finished trials, everything comes from the journal.
    for cut in range((whole / name).stat().st_size + 1):
        cuts = (cut, 0) if name == JOURNAL else (10**6, cut)
        resume_cut(whole, tmp_path / "run", *cuts)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4))
def test_a_run_may_be_killed_again_and_again(whole, tmp_path_factory, cuts):
    folder = tmp_path_factory.mktemp("cut") / "run"
    for journal_tenths, trials_tenths in cuts:
        if folder.exists():
            run_session(folder)
        else:
            shutil.copytree(whole, folder)
        for name, tenths in ((JOURNAL, journal_tenths), (TRIALS, trials_tenths)):
            content = (folder / name).read_bytes()
            (folder / name).write_bytes(content[: len(content) * tenths // 10])
    folder.mkdir(exist_ok=True)

    run_session(folder)

    assert read_results(whole) == read_results(folder)
    assert (0, 0) == run_session(folder)


def test_another_judge_asks_the_agent_nothing(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")

    assert (0, 12) == run_session(tmp_path / "run", judging="by others")
    assert (0, 0) == run_session(tmp_path / "run", judging="by others")
    assert (0, 0) == run_session(tmp_path / "run")
    assert read_results(whole) == read_results(tmp_path / "run")
    assert read_results(whole) == read_results(tmp_path / "run", judging="by others")
