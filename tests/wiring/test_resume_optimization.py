"""An optimization that is killed at any step and taken up again ends as if nothing had happened."""

import asyncio
import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from azd_eval.errors import InputError
from azd_eval.storage.optimization_folder import read_optimization
from azd_eval.wiring.optimization import Watch
from azd_eval.wiring.optimization_start import (
    find_unfinished,
    open_optimization,
    resume_optimization,
)
from azd_eval.wiring.overrides import Overrides
from azd_eval.wiring.setup import set_up
from tests.shop import write_tasks

START = "Be kind. Call the user {name}.\n"
NAMES = ("refund", "repair")
OPTIONS = {"concurrency": 1, "cache": False, "max_iterations": 2, "seed": 4}


class Killed(BaseException):
    """Stands for a process that is no more."""


class KillAfter:
    """A watch that ends everything at the n-th thing it is told."""

    def __init__(self, count: int | None) -> None:
        self._left = count
        self.watch = Watch(self._tell, self._tell)

    def _tell(self, _: object) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise Killed


class Noise:
    """Plays all roles by chance: the same request draws anew for the first three times.

    Further looks are made at the same time, and the server cannot tell which is which.
    """

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def __call__(self, request):
        text = f"{request.system}{request.user}"
        self.seen[text] += 1
        drawn = hashlib.sha256(f"{text}{min(3, self.seen[text])}".encode()).digest()[0]
        if request.schema_name is None:
            return f"{request.system} Answer {drawn}."
        if request.schema_name == "instructions":
            if drawn % 5 == 0:
                return "I would rather not."
            return {"rationale": f"rule {drawn}", "instructions": f"{START}Rule {drawn}.\n"}
        return {"reason": f"drew {drawn}", "score": 1 if drawn % 3 else 0}


@pytest.fixture
def noisy(shop):
    shop.server._respond = Noise()
    shop.shell.write("instructions.md", START)
    shop.shell.write("tasks.jsonl", write_tasks(NAMES))
    return shop


def prepare(shop, **changes):
    return set_up(
        shop.shell.folder / "eval.yaml", Overrides(**{**OPTIONS, **changes}), optimizes=True
    )


def run(optimization, count=None):
    return asyncio.run(optimization.run(KillAfter(count).watch))


def result_of(summary):
    """Give all that must not depend on how often it was interrupted."""
    plain = summary.as_dict()
    for name in ("optimization_id", "created_at", "usage", "duration_s", "run_dir", "notes"):
        del plain[name]
    return json.loads(json.dumps(plain).replace(summary.optimization_id, "ID"))


def story_of(folder: Path) -> str:
    return (folder / "events.jsonl").read_text(encoding="utf-8").replace(folder.name, "ID")


def tear(folder: Path) -> None:
    """End every log in the middle of a line, as a process does that is killed while it writes."""
    for path in folder.rglob("*.jsonl"):
        with open(path, "ab") as file:
            file.write(b'{"event": "reply", "task_key": "\xc3')


def test_killed_at_every_step_it_ends_the_same_and_pays_nothing_twice(noisy):
    whole = run(open_optimization(prepare(noisy)))
    events = story_of(noisy.shell.folder / whole.run_dir)
    paid = len(noisy.server.calls)
    noisy.server._respond = Noise()

    optimization = open_optimization(prepare(noisy))
    for count in range(1000):
        try:
            summary = run(optimization, count)
            break
        except Killed:
            tear(optimization.folder)
        setup = prepare(noisy)
        optimization = resume_optimization(setup, read_optimization(optimization.folder))

    assert count > 15
    assert result_of(whole) == result_of(summary)
    assert events == story_of(optimization.folder)
    assert 2 * paid == len(noisy.server.calls)


CHANGES = {
    "instructions": ("instructions.md", "Be kind", "Be brief"),
    "dataset": ("tasks.jsonl", "What of refund?", "What of a refund?"),
    "criteria": ("tasks.jsonl", "Is polite", "Is rude"),
    "agent.model": ("eval.yaml", "model: a", "model: b"),
    "eval_model": ("eval.yaml", "eval_model: m", "eval_model: b"),
}


@pytest.mark.parametrize("part", CHANGES)
def test_with_anything_changed_that_decides_it_is_refused_by_name(noisy, part):
    with pytest.raises(Killed):
        run(open_optimization(prepare(noisy)), 3)
    noisy.change(*CHANGES[part])
    before = len(noisy.server.calls)
    setup = prepare(noisy)

    with pytest.raises(InputError, match=f"changed since it began: .*{part}"):
        resume_optimization(setup, find_unfinished(setup))

    assert before == len(noisy.server.calls)


@pytest.mark.parametrize("option", ["seed", "proposals", "hold_out", "optimize_model"])
def test_with_another_option_that_decides_it_is_refused_by_name(noisy, option):
    with pytest.raises(Killed):
        run(open_optimization(prepare(noisy)), 3)
    values = {"seed": 5, "proposals": 2, "hold_out": 0.4, "optimize_model": "other"}
    setup = prepare(noisy, **{option: values[option]})
    name = "optimization_model" if option == "optimize_model" else option

    with pytest.raises(InputError, match=name):
        resume_optimization(setup, find_unfinished(setup))


def test_with_more_iterations_it_goes_on_from_where_it_ended(noisy):
    first = run(open_optimization(prepare(noisy, max_iterations=1)))
    paid = len(noisy.server.calls)
    stored = read_optimization(noisy.shell.folder / first.run_dir)

    second = run(resume_optimization(prepare(noisy), stored))

    assert first.candidates == second.candidates[: len(first.candidates)]
    assert second.iterations > first.iterations
    assert paid < len(noisy.server.calls)


def test_what_ended_is_not_unfinished(noisy):
    run(open_optimization(prepare(noisy, max_iterations=1)))

    with pytest.raises(InputError, match="no unfinished optimization"):
        find_unfinished(prepare(noisy))


def test_it_starts_from_a_candidate_of_an_earlier_one(noisy):
    first = run(open_optimization(prepare(noisy)))
    name = next(row.id for row in first.candidates if row.parent and row.path)
    source = f"{first.optimization_id}/{name}"

    optimization = open_optimization(prepare(noisy), source)

    text = (
        noisy.shell.folder / first.run_dir / "candidates" / name / "instructions.md"
    ).read_text()
    assert text == optimization.job.baseline.instructions
    with pytest.raises(Killed):
        run(optimization, 3)
    again = resume_optimization(prepare(noisy), read_optimization(optimization.folder))
    assert text == again.job.baseline.instructions
    with pytest.raises(InputError, match="no candidate 'candidate_99'"):
        open_optimization(prepare(noisy), f"{first.optimization_id}/candidate_99")


def test_tasks_of_the_users_own_are_held_out_and_decide_the_label(noisy):
    noisy.shell.write("unseen.jsonl", write_tasks(("warranty", "spare_part", "refund")))
    noisy.shell.write(
        "eval.yaml", noisy.shell.read("eval.yaml") + "validation_dataset: unseen.jsonl\n"
    )

    optimization = open_optimization(prepare(noisy))
    summary = run(optimization)

    # One of them is in the dataset, too: what is learned from says nothing.
    assert {"learning": 2, "held_out": 2} == summary.tasks
    manifest = read_optimization(optimization.folder).manifest
    assert ["warranty", "spare_part"] == manifest["split"]["held_out"]
    if summary.held_out:
        assert (2, True) == (summary.held_out.tasks, summary.held_out.is_unseen)
