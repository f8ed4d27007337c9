"""What changed between two results of one evaluation document."""

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any, Literal

from azd_eval.domain.item_status import ItemStatus
from azd_eval.domain.score import mean
from azd_eval.domain.statistics import difference_interval, sign_flip_p
from azd_eval.domain.summary import Interval

Change = Literal["worse", "better", "same", "not measured", "new", "gone"]

CHANGES: tuple[Change, ...] = ("worse", "better", "same", "not measured", "new", "gone")

_SAME_SCORE = 1e-9


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """How one item ended. `score` is 0..1, None without any.

    In another result it is found by its `test_id`, else by `content`, which stands for what is
    asked and expected.
    """

    name: str
    content: str
    status: ItemStatus | None
    score: float | None = None
    test_id: str | None = None
    category: str | None = None

    @property
    def is_measured(self) -> bool:
        return self.status in ("pass", "fail")


@dataclass(frozen=True, slots=True)
class ItemChange:
    """One item, before and after; one of them is None where it is new or gone."""

    name: str
    change: Change
    before: ItemOutcome | None
    after: ItemOutcome | None


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean of later - earlier, its 95 % interval (None below two), and the sign-flip p."""

    mean: float
    interval: Interval | None
    p: float


@dataclass(frozen=True, slots=True)
class ItemComparison:
    """Every item of either result.

    `fixed` and `broken` count the items that pass now and did not, and the other way round. The
    differences of pass rate and score are over the `paired` items, which were measured in both.
    """

    items: tuple[ItemChange, ...]
    paired: int
    fixed: int
    broken: int
    pass_rate: PairedDifference | None
    score: PairedDifference | None

    def count(self) -> dict[Change, int]:
        """Count the items by what became of them."""
        counts = Counter(item.change for item in self.items)
        return {change: counts[change] for change in CHANGES}

    def as_dict(self) -> dict[str, Any]:
        """Give the plain, JSON-ready form."""
        return {"counts": self.count(), **asdict(self)}


def compare_outcomes(before: Sequence[ItemOutcome], after: Sequence[ItemOutcome]) -> ItemComparison:
    """Pair the items of two results, in the order of the later one; what is gone comes last."""
    partners = _pair(before, after)
    found = {id(partner) for partner in partners}
    items = (
        *(_compare(old, new) for old, new in zip(partners, after, strict=True)),
        *(_compare(old, None) for old in before if id(old) not in found),
    )
    pairs = [
        (item.before, item.after)
        for item in items
        if item.before and item.after and item.change != "not measured"
    ]
    gains = [_gain(*pair) for pair in pairs]
    scores = [
        new.score - old.score
        for old, new in pairs
        if old.score is not None and new.score is not None
    ]
    return ItemComparison(
        items, len(pairs), gains.count(1), gains.count(-1), _measure(gains), _measure(scores)
    )


def _gain(before: ItemOutcome, after: ItemOutcome) -> int:
    return (after.status == "pass") - (before.status == "pass")


def _measure(differences: Sequence[float]) -> PairedDifference | None:
    average = mean(differences)
    if average is None:
        return None
    return PairedDifference(average, difference_interval([differences]), sign_flip_p(differences))


def _pair(before: Sequence[ItemOutcome], after: Sequence[ItemOutcome]) -> list[ItemOutcome | None]:
    """Find the partner of each later item; among equals, the first belongs to the first."""
    partners: list[ItemOutcome | None] = [None] * len(after)
    left = list(before)
    for key in (attrgetter("test_id"), attrgetter("content")):
        waiting: dict[str | None, deque[ItemOutcome]] = defaultdict(deque)
        for outcome in left:
            waiting[key(outcome)].append(outcome)
        for place, outcome in enumerate(after):
            if partners[place] is None and key(outcome) and waiting[key(outcome)]:
                partners[place] = waiting[key(outcome)].popleft()
        found = {id(partner) for partner in partners}
        left = [outcome for outcome in left if id(outcome) not in found]
    return partners


def _compare(before: ItemOutcome | None, after: ItemOutcome | None) -> ItemChange:
    known = after or before
    name = known.name if known else ""
    return ItemChange(name, _name_change(before, after), before, after)


def _name_change(before: ItemOutcome | None, after: ItemOutcome | None) -> Change:
    """Name a change: passing comes first, then the score."""
    if before is None:
        return "new"
    if after is None:
        return "gone"
    if not (before.is_measured and after.is_measured):
        return "not measured"
    difference = _gain(before, after) or (after.score or 0.0) - (before.score or 0.0)
    if abs(difference) < _SAME_SCORE:
        return "same"
    return "better" if difference > 0 else "worse"
