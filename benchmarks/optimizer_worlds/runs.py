"""Runs of the simulated agent, judged: trials as the real thing would hand them on, metered."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.optimization import FailedVerdict
from azd_eval.domain.score import Score, Trial, TurnResult, Verdict, mean
from azd_eval.domain.task import Task
from optimizer_worlds.families import Family
from optimizer_worlds.world import SimulatedTask, World

JUDGE = "judge"


class BudgetSpentError(Exception):
    """The hard cap: no agent run is left."""


@dataclass(slots=True)
class Laboratory:
    """Measures in one world, up to `evaluations`: agent runs on a task, all criteria judged.

    Luck depends on the text, the task and how often that text met it, never on who asks or when:
    every strategy meets the same luck.
    """

    world: World
    evaluations: int
    spent: int = 0
    _tasks: dict[str, SimulatedTask] = field(init=False)
    _looks: dict[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._tasks = {task.name: task for task in self.world.tasks}

    @property
    def left(self) -> int:
        return self.evaluations - self.spent

    def run(self, candidate: Candidate, task: Task, index: int = 0, repeat: int = 0) -> Trial:
        """Run and judge one task; raises `BudgetSpentError`."""
        if self.left <= 0:
            raise BudgetSpentError
        self.spent += 1
        simulated = self._tasks[task.name]
        place = (candidate.instructions, simulated.name)
        look = self._looks[place] = self._looks.get(place, -1) + 1
        family = self.world.family
        random = _luck(f"{family.name}/{self.world.number}/{place}/{look}")
        chances = self.world.chances(candidate.instructions, simulated)
        if random.random() < family.run_fails:
            chances = [0.0] * len(chances)
        verdicts = tuple(
            _judge(random, family, str(name), chance) for name, chance in enumerate(chances)
        )
        return _make_trial(simulated, index, repeat, verdicts)


def look(laboratory: Laboratory, candidate: Candidate) -> tuple[Trial, ...]:
    """Run every task once."""
    tasks = [simulated.task for simulated in laboratory.world.tasks]
    return tuple(laboratory.run(candidate, task, index) for index, task in enumerate(tasks))


def score(trials: Iterable[Trial]) -> float:
    """Average what was scored."""
    return mean(trial.score for trial in trials if trial.score is not None) or 0.0


def list_failures(world: World, trials: Iterable[Trial]) -> list[FailedVerdict]:
    """List the criteria that were found unmet, as an optimizer gets to see them."""
    turns = {simulated.name: simulated.task.turns[0] for simulated in world.tasks}
    verdicts: dict[tuple[str, str], list[bool]] = {}
    for trial in trials:
        for verdict in trial.turns[0].scores[0].verdicts:
            if verdict.outcome != "unusable":
                place = trial.task, verdict.criterion
                verdicts.setdefault(place, []).append(verdict.outcome == "unmet")
    return [
        FailedVerdict(
            task,
            turns[task].prompt,
            "",
            turns[task].criteria[int(name)],
            "",
            missed=sum(misses),
            looks=len(misses),
        )
        for (task, name), misses in verdicts.items()
        if any(misses)
    ]


def _judge(random: Random, family: Family, name: str, chance: float) -> Verdict:
    is_met, errs = random.random() < chance, random.random() < family.flips
    if random.random() < family.unusable:
        return Verdict(name, "unusable", "the judge said nothing")
    seems_met = is_met or errs if family.lenient else is_met != errs
    return Verdict(name, "met" if seems_met else "unmet")


def _make_trial(
    task: SimulatedTask, index: int, repeat: int, verdicts: tuple[Verdict, ...]
) -> Trial:
    is_usable = all(verdict.outcome != "unusable" for verdict in verdicts)
    met = sum(verdict.outcome == "met" for verdict in verdicts)
    score = met / len(verdicts) if is_usable else None
    turn = TurnResult(
        task.task.turns[0].prompt,
        "an answer",
        scores=(Score(JUDGE, score, met == len(verdicts), verdicts),),
    )
    return Trial(
        task.name,
        task.name,
        repeat,
        "errored" if not is_usable else "passed" if met == len(verdicts) else "failed",
        score,
        (turn,),
        index,
    )


def _luck(key: str) -> Random:
    return Random(int.from_bytes(blake2b(key.encode(), digest_size=8).digest()))
