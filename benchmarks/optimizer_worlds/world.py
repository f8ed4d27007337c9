"""One world: its rules, its tasks, and the true score of any instructions in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import fmean

from azd_eval.domain.criterion import Criterion
from azd_eval.domain.task import Task, Turn
from optimizer_worlds.families import Family

UNSEEN_TASKS = 60
WITH_RULE = 0.95
WITHOUT_RULE = (0.05, 0.6)
CONFLICT = 0.6
HARM = 0.85
# The share of what is missing that a memo about the very task makes good.
MEMO = 0.5
HARMFUL_LINES = 8
# Lines that instructions hold before each further one costs.
CAPACITY = 16
COST_OF_LENGTH = 0.02
KNOWN_RULES = 2
OPENING = "You are the support agent of a shop. Answer the question of the customer."


@dataclass(frozen=True, slots=True)
class NamedTask(Task):
    """A task that is known by its name: a search asks for keys all the time."""

    @property
    def key(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Demand:
    """What one criterion needs: `base` is its chance while a line of `needs` is missing."""

    needs: tuple[str, ...]
    base: float


@dataclass(frozen=True, slots=True)
class SimulatedTask:
    """A task of the dataset, and what its criteria really need."""

    task: NamedTask
    demands: tuple[Demand, ...]

    @property
    def name(self) -> str:
        return self.task.name


@dataclass(slots=True)
class World:
    """A drawn world. `conflicts` maps a line to the rules whose criteria it spoils."""

    family: Family
    number: int
    tasks: tuple[SimulatedTask, ...]
    unseen: tuple[SimulatedTask, ...]
    conflicts: dict[str, frozenset[str]]
    baseline: str
    _chances: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    _unseen_scores: dict[str, float] = field(default_factory=dict)

    def chances(self, instructions: str, task: SimulatedTask) -> list[float]:
        """Give the chance of each criterion of a task to be met in an answer that did not fail."""
        known = self._chances.setdefault(instructions, {})
        if task.name not in known:
            known[task.name] = self._work_out(lines_of(instructions), task)
        return known[task.name]

    def true_score(self, instructions: str) -> float:
        """Give the expected score on the unseen tasks: met in truth, whatever a judge says."""
        if instructions not in self._unseen_scores:
            self._unseen_scores[instructions] = self._expect(instructions, self.unseen)
        return self._unseen_scores[instructions]

    def true_score_on(self, instructions: str, tasks: Iterable[SimulatedTask]) -> float:
        """Give the expected score on some tasks."""
        return self._expect(instructions, tasks)

    def _expect(self, instructions: str, tasks: Iterable[SimulatedTask]) -> float:
        score = fmean(fmean(self.chances(instructions, task)) for task in tasks)
        return (1 - self.family.run_fails) * score

    def _work_out(self, lines: Sequence[str], task: SimulatedTask) -> list[float]:
        held = set(lines)
        common = (1 - COST_OF_LENGTH) ** max(0, len(lines) - CAPACITY)
        common *= HARM ** sum(line.startswith(("harm", "trap")) for line in held)
        spoiled = frozenset[str]().union(*(self.conflicts.get(line, ()) for line in held))
        helps = MEMO if f"memo {task.name}" in held else 0.0
        chances = []
        for demand in task.demands:
            is_met = bool(demand.needs) and held.issuperset(demand.needs)
            chance = WITH_RULE if is_met else demand.base + (WITH_RULE - demand.base) * helps
            spoils = CONFLICT if spoiled.intersection(demand.needs) else 1.0
            chances.append(chance * spoils * common)
        return chances


def draw_world(family: Family, number: int) -> World:
    """Draw a world; the same family and number give the same world."""
    random = Random(f"{family.name}/{number}")
    rules = [f"rule {index}" for index in range(family.rules)]
    conflicts: dict[str, frozenset[str]] = {}
    for _ in range(family.conflicts):
        rule, other = random.sample(rules, 2)
        conflicts[rule] = conflicts.get(rule, frozenset()) | {other}
    known = random.sample(rules, KNOWN_RULES)
    return World(
        family,
        number,
        tuple(_draw_task(family, random, f"task {index}", rules) for index in range(family.tasks)),
        tuple(_draw_task(family, random, f"unseen {i}", rules) for i in range(UNSEEN_TASKS)),
        conflicts,
        write_instructions(known),
    )


def lines_of(instructions: str) -> list[str]:
    """Read the lines after the opening."""
    return instructions.split("\n")[1:]


def write_instructions(lines: Iterable[str]) -> str:
    """Write instructions of these lines."""
    return "\n".join((OPENING, *lines))


def _draw_task(family: Family, random: Random, name: str, rules: Sequence[str]) -> SimulatedTask:
    demands = tuple(
        _draw_demand(family, random, rules, f"trap {name} {index}")
        for index in range(family.criteria)
    )
    criteria = tuple(
        Criterion(str(index), f"criterion {index} of {name}") for index in range(len(demands))
    )
    return SimulatedTask(NamedTask(name, (Turn(f"question of {name}", criteria),)), demands)


def _draw_demand(family: Family, random: Random, rules: Sequence[str], trap: str) -> Demand:
    base, kind = random.uniform(*WITHOUT_RULE), random.random()
    if kind < family.coins:
        return Demand((), base)
    if kind < family.coins + family.traps:
        return Demand((trap,), base)
    count = 2 if random.random() < family.pairs else 1
    return Demand(tuple(random.sample(rules, count)), base)
