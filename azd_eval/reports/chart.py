"""Where the points of a score chart stand: geometry only, the template draws."""

from dataclasses import dataclass

from azd_eval.domain.optimization_summary import CandidateResult, OptimizationSummary
from azd_eval.reports.wording import is_finite, write_score

_WIDTH = 760.0
_HEIGHT = 230.0
_LEFT = 36.0
_TOP = 14.0
_BOTTOM = 30.0
_MOST_TICKS = 20


@dataclass(frozen=True, slots=True)
class GridLine:
    """One horizontal line and what it stands for."""

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Point:
    """One candidate. Without a score it stands on the base line; `low` and `high` are y values."""

    x: float
    y: float
    has_score: bool
    accepted: bool
    is_best: bool
    label: str
    tick: str
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart in its own units; `course` is the way of the incumbent's score, as SVG points."""

    width: float
    height: float
    left: float
    grid: tuple[GridLine, ...]
    points: tuple[Point, ...]
    course: str


def draw_scores(summary: OptimizationSummary) -> Chart:
    """Lay out the scores of all candidates in their order, on a scale from 0 to 1."""
    count = len(summary.candidates)
    points = tuple(
        _place(candidate, number, count, summary.best_id)
        for number, candidate in enumerate(summary.candidates)
    )
    grid = tuple(GridLine(_y(value), f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1))
    return Chart(_WIDTH, _HEIGHT, _LEFT, grid, points, _course(points))


def _place(candidate: CandidateResult, number: int, count: int, best_id: str) -> Point:
    score, interval = candidate.score, candidate.interval
    word = "accepted" if candidate.accepted else "rejected"
    step = (count - 1) // _MOST_TICKS + 1
    return Point(
        x=round(_LEFT + (number + 0.5) * (_WIDTH - _LEFT) / count, 1),
        y=_y(score if is_finite(score) else 0.0),
        has_score=is_finite(score),
        accepted=candidate.accepted,
        is_best=candidate.id == best_id,
        label=f"{candidate.id}: {write_score(score)}, {word}",
        tick=("baseline" if number == 0 else str(number)) if number % step == 0 else "",
        low=_y(interval[0]) if interval else None,
        high=_y(interval[1]) if interval else None,
    )


def _course(points: tuple[Point, ...]) -> str:
    """Step from one incumbent to the next, and on to the last candidate."""
    steps: list[tuple[float, float]] = []
    for point in points:
        level = point.y if point.accepted and point.has_score else (steps[-1][1] if steps else None)
        if level is None:
            continue
        if steps and steps[-1][1] != level:
            steps.append((point.x, steps[-1][1]))
        steps.append((point.x, level))
    return " ".join(f"{x:g},{y:g}" for x, y in steps)


def _y(score: float) -> float:
    height = _HEIGHT - _TOP - _BOTTOM
    return round(_TOP + (1 - min(1.0, max(0.0, score))) * height, 1)
