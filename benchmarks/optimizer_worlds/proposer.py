"""The reflector of the simulation, the same for every strategy: it sees failed verdicts alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from azd_eval.domain.optimization import FailedVerdict
from optimizer_worlds.world import HARMFUL_LINES, World, lines_of, write_instructions

MOST_EDITS = 3


@dataclass(slots=True)
class SimulatedReflector:
    """Edits instructions for some of the failures it is handed; knows the right rule at times.

    Else it writes a memo for that task, something harmful or something of no use. Luck is drawn in
    the order of calls. `seed` tells repetitions of a search apart.
    """

    world: World
    seed: int = 0
    proposals: int = 0
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = Random(f"{self.world.family.name}/{self.world.number}/{self.seed}")

    def revise(self, instructions: str, failures: Sequence[FailedVerdict]) -> str:
        """Give revised instructions."""
        random, family = self._random, self.world.family
        self.proposals += 1
        lines = lines_of(instructions)
        if lines and random.random() < family.forgets:
            lines.remove(random.choice(lines))
        for _ in range(random.randint(1, MOST_EDITS)):
            line = self._find_line(self._choose(failures), lines) if failures else self._stray()
            if line not in lines:
                lines.append(line)
        return write_instructions(lines)

    def _choose(self, failures: Sequence[FailedVerdict]) -> FailedVerdict:
        """Take what failed at every look rather than what fails at times."""
        weights = [failure.missed / failure.looks for failure in failures]
        return self._random.choices(failures, weights)[0]

    def _find_line(self, failure: FailedVerdict, lines: Sequence[str]) -> str:
        random = self._random
        task = next(task for task in self.world.tasks if task.name == failure.task)
        needs = task.demands[int(failure.criterion.name)].needs
        missing = [line for line in needs if line not in lines]
        if missing and random.random() < self.world.family.names_rule:
            return random.choice(missing)
        return random.choice((f"memo {failure.task}", self._harm(), self._stray()))

    def _harm(self) -> str:
        return f"harm {self._random.randrange(HARMFUL_LINES)}"

    def _stray(self) -> str:
        return f"stray {self._random.randrange(1000)}"
