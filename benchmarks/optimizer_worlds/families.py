"""The kinds of world that strategies are compared in, those that favour rivals included."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Family:
    """How worlds of one kind are drawn. Shares and chances are 0..1.

    `pairs` of the criteria need two rules at once; `traps` of them are met by a line that harms all
    others; `coins` of them by nothing but luck. `run_fails` spoils a whole answer, `flips` is how
    often the judge says the contrary (`lenient`: only ever in favour), `unusable` how often it says
    nothing. `names_rule` is how often the proposer knows the rule behind a failure, `forgets` how
    often it loses a line.
    """

    name: str
    about: str
    tasks: int = 10
    criteria: int = 4
    rules: int = 16
    pairs: float = 0.0
    traps: float = 0.0
    coins: float = 0.0
    conflicts: int = 4
    run_fails: float = 0.05
    flips: float = 0.05
    lenient: bool = False
    unusable: float = 0.0
    names_rule: float = 0.6
    forgets: float = 0.15


_NOISY: dict[str, Any] = {"flips": 0.15, "run_fails": 0.1}
_WEAK: dict[str, Any] = {"names_rule": 0.3, "forgets": 0.3}
_NO_NOISE: dict[str, Any] = {"flips": 0.0, "run_fails": 0.0}

FAMILIES = (
    Family("A medium", "10 tasks, medium noise"),
    Family("B weak", "as A, the proposer is weak", **_WEAK),
    Family("C noisy", "10 tasks, heavy noise", **_NOISY),
    Family("D noisy, weak", "as C, the proposer is weak", **_NOISY, **_WEAK),
    Family("E 5 tasks", "5 tasks, medium noise", tasks=5),
    Family("F 20 tasks", "20 tasks, medium noise", tasks=20),
    Family("G no noise", "10 tasks; agent and judge err never", **_NO_NOISE),
    Family("H pairs", "criteria that need two rules, medium noise", pairs=0.7),
    Family("I pairs, no noise", "as H; agent and judge err never", pairs=0.7, **_NO_NOISE),
    Family("J pairs, 20 tasks", "as H, with 20 tasks", pairs=0.7, tasks=20),
    Family("K misleading", "criteria that ask for harm, or for luck", traps=0.15, coins=0.15),
    Family("L bad judge", "lenient, and often silent", flips=0.15, lenient=True, unusable=0.05),
)
