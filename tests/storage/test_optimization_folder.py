from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.optimization import Proposal
from azd_eval.domain.score import Verdict
from azd_eval.errors import InputError
from azd_eval.storage.optimization_folder import (
    OptimizationFolder,
    candidate_instructions,
    list_optimizations,
    read_optimization,
)
from azd_eval.storage.run_folder import read_trials
from azd_eval.storage.run_ids import make_run_folder
from tests.optimization_worlds import make_errored_trial, make_task, make_trial

TEXT = "Use {name}.\r\nLine\u2028two\rthree\n\n“quoted” 日本語"


def write_optimization(path: Path) -> OptimizationFolder:
    path.mkdir(parents=True)
    folder = OptimizationFolder(path, "judging")
    folder.write_manifest({"agent": "support"})
    folder.record({"event": "decided", "id": "baseline"})
    folder.keep_candidate(Candidate("baseline", TEXT))
    return folder


SUMMARY = {"baseline": {"score": 0.5}, "best": {"id": "baseline"}, "stop_reason": "max_iterations"}


def test_a_finished_optimization_reads_back(tmp_path: Path) -> None:
    folder = write_optimization(tmp_path / "support-20261130-101112-ab12")
    folder.write_summary(SUMMARY)
    folder.close()

    stored = read_optimization(folder.path)

    assert "support-20261130-101112-ab12" == stored.id
    assert {"agent": "support"} == stored.manifest
    assert SUMMARY == stored.summary
    assert ({"event": "decided", "id": "baseline"},) == stored.events


def test_what_was_recorded_is_on_disk_at_once(tmp_path: Path) -> None:
    folder = write_optimization(tmp_path / "optimization")

    stored = read_optimization(folder.path)

    assert stored.summary is None
    assert 1 == len(stored.events)
    folder.close()


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    folder = write_optimization(tmp_path / "optimization")
    folder.close()
    with open(folder.path / "events.jsonl", "ab") as events:
        events.write('{"event": "decided", "id": "é'.encode()[:-1])

    assert 1 == len(read_optimization(folder.path).events)


@given(st.text())
def test_instructions_are_kept_to_the_letter(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = OptimizationFolder(tmp_path_factory.mktemp("optimization"), "judging")
    folder.keep_candidate(Candidate("candidate_1", text))
    folder.close()

    assert text == candidate_instructions(folder.path, "candidate_1")


def test_keeping_a_candidate_tells_where_it_is(tmp_path: Path) -> None:
    folder = write_optimization(tmp_path / "optimization")

    path = folder.keep_candidate(Candidate("candidate_1", "Help."))
    folder.close()

    assert "Help." == Path(path).read_text(encoding="utf-8")
    assert "candidates/candidate_1/instructions.md" == (
        Path(path).relative_to(folder.path).as_posix()
    )


@pytest.mark.parametrize("name", ["candidate_9", "../baseline", "baseline/..", "", "."])
def test_an_unknown_candidate_is_refused_naming_the_known(tmp_path: Path, name: str) -> None:
    folder = write_optimization(tmp_path / "optimization")
    folder.close()

    with pytest.raises(InputError) as caught:
        candidate_instructions(folder.path, name)

    assert "baseline" in (caught.value.hint or "")


def test_a_further_session_knows_what_was_measured_and_proposed(tmp_path: Path) -> None:
    folder = write_optimization(tmp_path / "optimization")
    task = make_task("a", "tone")
    trials = (
        make_trial(task, Verdict("tone", "met")),
        make_errored_trial(task, repeat=1),
        make_errored_trial(task, repeat=2, fatal="the key was refused"),
    )
    log = folder.open_candidate("baseline")
    for trial in trials:
        log.append(trial)
    log.close()
    folder.proposals.record({"attempt": 1, **asdict(Proposal("Help.", "because"))})
    folder.proposals.record({"attempt": 2, **asdict(Proposal(None, fault="refused"))})
    folder.close()
    with open(folder.path / "proposals.jsonl", "ab") as file:
        file.write(b'{"attempt": 3, "instr')

    again = OptimizationFolder(folder.path, "judging")
    other = OptimizationFolder(folder.path, "another judging")

    assert trials[:2] == tuple(again.read_candidate("baseline").trials.values())
    assert {} == other.read_candidate("baseline").trials
    assert {1: Proposal("Help.", "because"), 2: Proposal(None, fault="refused")} == (
        again.read_proposals()
    )
    # Decisions follow from what is known, and are written anew.
    assert () == read_optimization(folder.path).events
    again.close()
    other.close()


def test_trials_of_each_candidate_stay_apart(tmp_path: Path) -> None:
    folder = write_optimization(tmp_path / "optimization")
    trials = {
        name: make_trial(make_task(name, "tone"), Verdict("tone", "met"))
        for name in ("baseline", "candidate_1")
    }
    for name, trial in trials.items():
        run = folder.open_candidate(name)
        run.append(trial)
        run.close()
    folder.close()

    candidates = folder.path / "candidates"
    assert trials == {name: next(read_trials(candidates / name)) for name in trials}


def test_lists_the_newest_first_whatever_the_agent_is_called(tmp_path: Path) -> None:
    names = ("z-agent-20260101-000000-aaaa", "a-agent-20270101-000000-aaaa", "m-20260601-1-b")
    for name in names:
        write_optimization(tmp_path / name).close()
    (tmp_path / "stray").mkdir()
    (tmp_path / "note.txt").write_text("", encoding="utf-8")

    listed = [stored.id for stored in list_optimizations(tmp_path)]

    assert [names[1], names[2], names[0]] == listed


def test_no_folder_lists_nothing(tmp_path: Path) -> None:
    assert () == list_optimizations(tmp_path / "missing")


def _break_json(path: Path) -> None:
    path.write_text('{"agent": ', encoding="utf-8")


def _write_a_list(path: Path) -> None:
    path.write_text("[]", encoding="utf-8")


@pytest.mark.parametrize("damage", [_break_json, _write_a_list, Path.unlink])
def test_a_damaged_file_does_not_hide_the_rest(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    folder = write_optimization(tmp_path / "optimization")
    folder.close()
    damage(folder.path / "manifest.json")

    (stored,) = list_optimizations(tmp_path)

    assert ({}, 1) == (stored.manifest, len(stored.events))


def test_a_folder_without_an_optimization_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no optimization in"):
        read_optimization(tmp_path)


def test_simultaneous_starts_get_folders_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: make_run_folder(tmp_path, "support"), range(40)))

    assert 40 == len(set(paths))
    assert not any(":" in path.name for path in paths)
