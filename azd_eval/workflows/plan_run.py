"""Count the calls of a run before it starts."""

from collections.abc import Iterator, Sequence
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

    Raises `FilesRefused` naming each turn that lacks what an evaluator needs, and each task that no
    evaluator scores: it would be neither passed nor failed, and nobody would notice.
    """
    count = agent = judge = 0
    problems: list[Problem] = []
    for task in tasks:
        count += 1
        agent += len(task.turns)
        judge += count_judge_calls(task, evaluators, batched=batched)
        problems += _find_problems(task, evaluators)
    if problems:
        raise FilesRefused(problems)
    return CallPlan(count, agent * repeats, judge * repeats if asks_models else 0)


def _find_problems(task: Task, evaluators: Sequence[Evaluator]) -> Iterator[Problem]:
    is_scored = False
    for index, turn in enumerate(task.turns):
        place = f"turns[{index}]." if len(task.turns) > 1 else ""
        for evaluator in evaluators:
            if evaluator.scores(turn):
                is_scored = True
                if lack := evaluator.lacks(turn):
                    yield Problem(
                        f"{evaluator.name} needs an expected answer",
                        item=task.name,
                        field=place + lack,
                        hint=f"add `{lack}` (`expected_response` in evaluation documents), "
                        f"or do not score the task with {evaluator.name}",
                    )
    if not is_scored:
        yield Problem(
            "no evaluator scores the task",
            item=task.name,
            field="criteria",
            hint="add `criteria`, or to `evaluators` one that needs none: a rubric, Relevance, "
            "...; with `evaluators_mode: replace`, only those of the task itself score it",
        )


def count_judge_calls(task: Task, evaluators: Sequence[Evaluator], *, batched: bool) -> int:
    """Count the calls that judge one trial of a task, if none has to be repeated."""
    questions = [each.questions(turn) for turn in task.turns for each in evaluators]
    return sum(map(bool, questions)) if batched else sum(questions)
