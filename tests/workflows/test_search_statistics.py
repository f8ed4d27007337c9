"""What chance does to a search: measured in small noisy worlds, each number with its seed."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import pytest

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.comparison import compare_trials
from azd_eval.domain.optimization import Proposal
from azd_eval.domain.score import Score, Trial, TurnResult, Verdict, trial_score
from azd_eval.domain.task import Task
from azd_eval.optimizers.reflect import ReflectStrategy
from azd_eval.workflows.optimization_job import OptimizationJob, OptimizationParts
from azd_eval.workflows.optimize_agent import OptimizationOutcome, optimize_agent
from tests.optimization_worlds import JUDGE, MemoryRecorder, ScriptedOptimizer, make_task

CRITERIA = 4
# A judge that errs in one of twenty verdicts, an agent that fails in one of twenty runs.
FLIP = CRASH = 0.05
# Criteria that are easy, open or hard.
CHANCES = (0.97, 0.97, 0.5, 0.03)

Shift = Callable[[Candidate, float], float]


@dataclass(frozen=True, slots=True)
class NoisyWorld:
    """Every criterion is met by chance; `shift` says by which, for a candidate.

    Agent and judge that are `steady` give the same at every look: their chance is the text's.
    """

    seed: int
    chances: dict[str, list[float]]
    shift: Shift
    is_steady: bool = False

    async def measure(
        self, candidate: Candidate, tasks: Sequence[Task], look: int
    ) -> tuple[Trial, ...]:
        return tuple(self._run(candidate, task, look) for task in tasks)

    def _run(self, candidate: Candidate, task: Task, look: int) -> Trial:
        luck = Random(f"{self.seed} {candidate.id} {task.name} {0 if self.is_steady else look}")
        crashes = luck.random() < CRASH
        verdicts = []
        for number, chance in enumerate(self.chances[task.name]):
            is_met = luck.random() < self.shift(candidate, chance) and not crashes
            if luck.random() < FLIP:
                is_met = not is_met
            verdicts.append(Verdict(f"c{number}", "met" if is_met else "unmet", "so it seems"))
        score = Score(JUDGE, None, None, tuple(verdicts))
        turns = (TurnResult(task.turns[0].prompt, "a reply", scores=(score,)),)
        return Trial(task.name, task.key, look, "failed", trial_score(turns), turns)


def keep(_: Candidate, chance: float) -> float:
    return chance


def spoil(candidate: Candidate, chance: float) -> float:
    return chance * 0.6 if candidate.parent else chance


async def search(
    seed: int, count: int, shift: Shift, iterations: int = 1, *, is_steady: bool = False
) -> OptimizationOutcome:
    luck = Random(seed)
    tasks = [make_task(f"task {n}", *(f"c{m}" for m in range(CRITERIA))) for n in range(count)]
    chances = {task.name: luck.choices(CHANCES, k=CRITERIA) for task in tasks}
    optimizer = ScriptedOptimizer(lambda evidence: Proposal(f"Attempt {evidence.attempt}."))
    measure = NoisyWorld(seed, chances, shift, is_steady).measure
    job = OptimizationJob(Candidate("baseline", "Help the user."), tasks, iterations, seed=seed)
    parts = OptimizationParts(ReflectStrategy(), optimizer, measure, MemoryRecorder())
    return await optimize_agent(job, parts)


def label_of(outcome: OptimizationOutcome) -> str:
    return outcome.confirmation.comparison.label if outcome.confirmation else "none"


@pytest.mark.parametrize(("count", "searches"), [(3, 400), (5, 300), (10, 250), (20, 120)])
async def test_an_identical_candidate_is_seldom_accepted_and_hardly_ever_called_better(
    count: int, searches: int
) -> None:
    outcomes = [await search(seed, count, keep) for seed in range(searches)]

    accepted = sum(row.accepted for outcome in outcomes for row in outcome.candidates[1:])
    labels = Counter(map(label_of, outcomes))
    assert accepted <= 0.25 * searches
    assert labels["confirmed"] + labels["likely"] <= 0.02 * searches


@pytest.mark.parametrize(("count", "searches"), [(3, 150), (6, 150), (12, 80)])
async def test_luck_that_is_the_same_at_every_look_is_seldom_called_better(
    count: int, searches: int
) -> None:
    outcomes = [await search(seed, count, keep, 2, is_steady=True) for seed in range(searches)]

    labels = Counter(map(label_of, outcomes))
    assert labels["confirmed"] + labels["likely"] <= 0.1 * searches


@pytest.mark.parametrize(("count", "searches"), [(3, 60), (5, 60), (10, 30), (20, 20)])
async def test_a_regression_never_wins(count: int, searches: int) -> None:
    outcomes = [await search(seed, count, spoil, iterations=3) for seed in range(searches)]

    assert {"confirmed", "likely"}.isdisjoint(map(label_of, outcomes))
    assert sum(outcome.best.id != "baseline" for outcome in outcomes) <= 0.02 * searches


@pytest.mark.parametrize("mean", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("count", [5, 10, 20])
@pytest.mark.parametrize("is_unseen", [True, False])
def test_intervals_of_differences_hold_as_often_as_they_say(
    count: int, mean: float, is_unseen: bool
) -> None:
    luck = Random(f"{count} {mean} {is_unseen}")
    comparisons = 1000
    held = sum(_draw_and_check(luck, count, mean, is_unseen=is_unseen) for _ in range(comparisons))

    assert held >= 0.93 * comparisons


def _draw_and_check(luck: Random, count: int, mean: float, *, is_unseen: bool) -> bool:
    """Draw tasks of which some criteria get better by a half; tell whether the interval holds."""
    before, after, truths = [], [], []
    for number in range(count):
        chances = [luck.betavariate(2 * mean, 2 - 2 * mean) for _ in range(CRITERIA)]
        better = [(1 + each) / 2 if luck.random() < 0.2 else each for each in chances]
        truths.append(sum(better) / CRITERIA - sum(chances) / CRITERIA)
        for look in range(3):
            before.append(_draw_trial(luck, number, look, chances))
            after.append(_draw_trial(luck, number, look, better))
    comparison = compare_trials(before, after, is_unseen=is_unseen)
    assert comparison is not None
    assert comparison.interval is not None
    truth = 0.2 * (1 - mean) / 2 if is_unseen else sum(truths) / count
    return comparison.interval[0] <= truth <= comparison.interval[1]


def _draw_trial(luck: Random, number: int, look: int, chances: Sequence[float]) -> Trial:
    score = sum(luck.random() < chance for chance in chances) / CRITERIA
    return Trial(f"task {number}", f"{number}", look, "failed", score, ())
