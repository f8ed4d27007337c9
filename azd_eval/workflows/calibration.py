"""How much the same instructions differ from themselves, and what can be seen through that."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from azd_eval.domain.ledger import mean_cells, mean_scores, subtract
from azd_eval.domain.score import Trial
from azd_eval.domain.statistics import difference_reach


@dataclass(frozen=True, slots=True)
class Calibration:
    """Two looks at the baseline: verdicts seen twice, those that changed, the mean of each look.

    `smallest_gain` is what the last comparison can just see, on as many tasks and looks as it has.
    """

    verdicts: int
    changed: int
    scores: tuple[float, float]
    smallest_gain: float
    tasks: int

    @property
    def words(self) -> str:
        """Say it to the user."""
        share = self.changed / self.verdicts if self.verdicts else 0.0
        noise = (
            f"{self.changed} of {self.verdicts} verdicts ({share:.0%}) changed between two looks "
            f"at the same instructions"
            if self.changed
            else f"no verdict of {self.verdicts} changed between two looks at the same instructions"
        )
        tasks = f"{self.tasks} task" if self.tasks == 1 else f"{self.tasks} tasks"
        return f"{noise}; with {tasks} a gain under {self.smallest_gain:.2f} cannot be seen"


def calibrate(
    first: Sequence[Trial], second: Sequence[Trial], *, tasks: int, looks: int
) -> Calibration | None:
    """Compare two looks; `tasks` and `looks` are those of the last comparison.

    None where no task was scored twice.
    """
    differences = [*subtract(mean_scores(second), mean_scores(first)).values()]
    if not differences:
        return None
    changes = subtract(mean_cells(second), mean_cells(first))
    variance = fmean(difference**2 for difference in differences)
    degrees = max(1, tasks * (looks - 1))
    return Calibration(
        verdicts=len(changes),
        changed=sum(change != 0 for change in changes.values()),
        scores=(fmean(mean_scores(first).values()), fmean(mean_scores(second).values())),
        smallest_gain=difference_reach(variance * degrees, degrees, tasks * looks),
        tasks=tasks,
    )
