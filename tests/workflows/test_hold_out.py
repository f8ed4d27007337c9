from collections import Counter
from dataclasses import replace

import pytest

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.task import Task
from azd_eval.workflows.hold_out import split_tasks
from azd_eval.workflows.optimization_job import OptimizationJob
from tests.optimization_worlds import make_task


def make_job(tasks: list[Task] | int, **fields: object) -> OptimizationJob:
    if isinstance(tasks, int):
        tasks = [make_task(f"task {number}", "tone") for number in range(tasks)]
    return OptimizationJob(Candidate("baseline", "Help."), tasks, 10, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("count", "share", "held_out"),
    [
        (1, None, 0),
        (7, None, 0),
        (8, None, 3),
        (10, None, 3),
        (15, None, 4),
        (100, None, 30),
        (10, 0.0, 0),
        (10, 0.5, 5),
        (4, 0.8, 2),
        (1, 0.8, 0),
    ],
)
def test_so_many_are_held_out(count: int, share: float | None, held_out: int) -> None:
    split = split_tasks(make_job(count, hold_out=share))

    assert (count - held_out, held_out) == (len(split.learning), len(split.held_out))
    assert not {task.key for task in split.learning} & {task.key for task in split.held_out}


def test_the_seed_decides_and_neither_order_nor_chance() -> None:
    job = make_job(20)
    split = split_tasks(job)

    backwards = split_tasks(replace(job, tasks=[*reversed(job.tasks)]))
    other = split_tasks(replace(job, seed=1))

    assert split == split_tasks(job)
    assert {*split.names["held_out"]} == {*backwards.names["held_out"]}
    assert split != other


def test_each_category_gives_its_share() -> None:
    sizes = {"ordinary": 10, "edge": 6, "hostile": 4}
    tasks = [
        replace(make_task(f"{category} {number}", "tone"), category=category)
        for category, size in sizes.items()
        for number in range(size)
    ]

    split = split_tasks(make_job(tasks, hold_out=0.5))

    assert {"ordinary": 5, "edge": 3, "hostile": 2} == Counter(
        task.category for task in split.held_out
    )


def test_tasks_of_the_users_own_are_held_out_but_for_those_that_are_learned_from() -> None:
    unseen = make_task("unseen", "tone")
    job = make_job(20)

    split = split_tasks(replace(job, validation=[unseen, job.tasks[0]]))

    assert (20, ["unseen"]) == (len(split.learning), split.names["held_out"])
