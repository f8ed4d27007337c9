"""Count the calls of a run before it starts."""

from collections.abc import Sequence
from dataclasses import dataclass

from azd_eval.domain.ports import Evaluator, TaskSource
from azd_eval.domain.task import Task
from azd_eval.errors import FilesRefused, Problem


@dataclass(frozen=True, slots=True)
class CallPlan:
    """How many tasks, and how many calls by role, if no call has to be repeated."""

    tasks: int
    agent: int
    judge: int
    optimizer: int = 0

    @property
    def total(self) -> int:
        return self.agent + self.judge + self.optimizer


def plan_run(
    tasks: TaskSource,
    evaluators: Sequence[Evaluator],
    *,
    repeats: int = 1,
    batched: bool = False,
    asks_models: bool = True,
) -> CallPlan:
    """Count tasks and calls exactly. Without `asks_models`, no judge is ever called.

    Raises `FilesRefused` naming each task that no evaluator scores: it would be neither passed nor
    failed, and nobody would notice.
    """
    count = agent = judge = 0
    unscored: list[Problem] = []
    for task in tasks:
        count += 1
        agent += len(task.turns)
        judge += count_judge_calls(task, evaluators, batched=batched)
        if not any(each.scores(turn) for turn in task.turns for each in evaluators):
            unscored.append(
                Problem(
                    "no evaluator scores this task: it has no criteria",
                    item=task.name,
                    field="criteria",
                    hint="add `criteria` to the task, or a rubric to `evaluators`",
                )
            )
    if unscored:
        raise FilesRefused(unscored)
    return CallPlan(count, agent * repeats, judge * repeats if asks_models else 0)


def count_judge_calls(task: Task, evaluators: Sequence[Evaluator], *, batched: bool) -> int:
    """Count the calls that judge one trial of a task, if none has to be repeated."""
    questions = [each.questions(turn) for turn in task.turns for each in evaluators]
    return sum(map(bool, questions)) if batched else sum(questions)
