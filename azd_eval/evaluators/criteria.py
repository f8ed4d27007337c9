"""Score a reply criterion by criterion: `builtin.task_adherence`, and what the rubric shares."""

import asyncio
from dataclasses import dataclass, replace

from azd_eval.domain.criterion import Check, Criterion
from azd_eval.domain.ports import Judge, JudgeRequest, TurnUnderTest
from azd_eval.domain.score import Outcome, Score, Verdict, weighted_mean
from azd_eval.domain.task import Turn
from azd_eval.evaluators.checks import run_check

# A pattern may take its whole time limit: meanwhile the other calls should go on.
_SLOW_KINDS = ("regex", "not_regex")


async def decide_criteria(judge: Judge, request: JudgeRequest) -> tuple[Verdict, ...]:
    """Decide criteria in their order: by their `check` where they have one, else by the judge."""
    judged = tuple(criterion for criterion in request.criteria if criterion.check is None)
    asked = iter(await judge.decide(replace(request, criteria=judged)) if judged else ())
    text = request.item.reply.text
    return tuple(
        [
            next(asked)
            if criterion.check is None
            else await _run_check(criterion, criterion.check, text)
            for criterion in request.criteria
        ]
    )


async def _run_check(criterion: Criterion, check: Check, text: str) -> Verdict:
    if check.kind in _SLOW_KINDS:
        result = await asyncio.to_thread(run_check, check, text)
    else:
        result = run_check(check, text)
    outcome: Outcome = "unusable"
    if result.passed is not None:
        outcome = "met" if result.passed else "unmet"
    return Verdict(criterion.name, outcome, result.reason, criterion.weight)


def count_judged(criteria: tuple[Criterion, ...]) -> int:
    """Count the criteria that only a judge can decide."""
    return sum(criterion.check is None for criterion in criteria)


@dataclass(frozen=True, slots=True)
class TaskAdherence:
    """Judges the task's own criteria, each independently, 0 or 1; passes when all are met.

    The expected answer reaches the judge only with `use_ground_truth`.
    """

    judge: Judge
    name: str = "builtin.task_adherence"
    use_ground_truth: bool = False

    def scores(self, turn: Turn) -> bool:
        return bool(turn.criteria) and turn.options_of(self.name, {}) is not None

    def questions(self, turn: Turn) -> int:
        return count_judged(turn.criteria) if self.scores(turn) else 0

    def lacks(self, turn: Turn) -> str | None:
        return None

    async def score(self, item: TurnUnderTest) -> Score:
        expected = item.turn.expected if self.use_ground_truth else None
        request = JudgeRequest(self.name, item, item.turn.criteria, expected=expected)
        verdicts = await decide_criteria(self.judge, request)
        score = weighted_mean(verdicts)
        decided = [verdict.outcome for verdict in verdicts if verdict.value is not None]
        passed = all(outcome == "met" for outcome in decided) if decided else None
        return Score(self.name, score, passed, verdicts)
