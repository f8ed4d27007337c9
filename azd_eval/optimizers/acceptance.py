"""Decide whether a candidate replaces the incumbent; nothing else decides it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.comparison import ROUNDING, name_changes
from azd_eval.domain.faults import find_fault
from azd_eval.domain.ledger import mean_cells, mean_scores, subtract
from azd_eval.domain.ports import SearchBench
from azd_eval.domain.score import Trial, mean
from azd_eval.domain.search import Decision
from azd_eval.domain.statistics import difference_interval
from azd_eval.domain.task import Task

_NAMED_CRITERIA = 5


@dataclass(frozen=True, slots=True)
class Challenge:
    """A child against the incumbent, by all that is known of both, paired by task."""

    bench: SearchBench
    incumbent: Candidate
    child: Candidate

    @property
    def gains(self) -> dict[str, float]:
        """How much higher the child's mean is, by task; tasks that errored are not among them."""
        scores = self.bench.ledger.task_scores
        return subtract(scores(self.child), scores(self.incumbent))

    def find_early_rejection(self, *, is_whole: bool) -> Decision | None:
        """Drop a child that is no gain on the tasks tried so far, or on all; None to go on."""
        gains, policy = self.gains, self.bench.policy
        difference = mean(gains.values())
        least = policy.accept_above if is_whole and not policy.accepts_ties else policy.drop_at
        if difference is None or difference > least + ROUNDING:
            return None
        return self._reject(f"no gain on {len(gains)} of {len(self.bench.tasks)} tasks")

    def find_late_rejection(self, look: Iterable[Trial]) -> Decision | None:
        """Drop a child of which a further look, by itself, is lower than the incumbent."""
        gains = subtract(mean_scores(look), self.bench.ledger.task_scores(self.incumbent))
        difference = mean(gains.values())
        if difference is None or difference >= self.bench.policy.later_look_from - ROUNDING:
            return None
        return self._reject(f"a further look was lower ({difference:+.2f})")

    def decide(self) -> Decision:
        """Accept a child whose mean over its looks is higher; ties lose.

        Errors are missing, not 0; with too many of them nothing is decided for the child.
        """
        policy, gains = self.bench.policy, self.gains
        wanted = len(self.bench.ledger.task_scores(self.incumbent))
        if not gains and (fault := find_fault(self.bench.ledger.trials(self.child))):
            return Decision(False, f"could not be measured: {fault}")
        if not gains or len(gains) < policy.least_shared * wanted:
            return self._reject(f"only {len(gains)} of {wanted} tasks were scored")
        if lost := self._find_lost_musts():
            return self._reject(f"a `must` is met less often ({_list_names(lost)})")
        difference = mean(gains.values()) or 0.0
        if difference > policy.accept_above + ROUNDING:
            return replace(self._reject("better"), accepted=True)
        is_shorter = len(self.child.instructions) < len(self.incumbent.instructions)
        if policy.accepts_ties and is_shorter and abs(difference) <= ROUNDING:
            return replace(self._reject("equal and shorter"), accepted=True)
        return self._reject("not better")

    def _reject(self, reason: str) -> Decision:
        gains = [*self.gains.values()]
        difference = mean(gains)
        words = [] if difference is None else [f"{difference:+.2f}"]
        words += self._word_changes()
        interval = difference_interval([gains])
        return Decision(False, f"{reason}: {', '.join(words)}", difference, interval)

    def _word_changes(self) -> list[str]:
        tried = self.gains.keys()
        before, after = (
            [trial for trial in self.bench.ledger.trials(each) if trial.task_key in tried]
            for each in (self.incumbent, self.child)
        )
        changes = zip(name_changes(before, after), ("fixed", "broken"), strict=True)
        parts = [f"{len(names)} {word} ({_list_names(names)})" for names, word in changes if names]
        return parts or ["no verdict changed"]

    def _find_lost_musts(self) -> list[str]:
        """Name the criteria marked `must` that the child met less often, in whole looks."""
        trials = self.bench.ledger.trials(self.child)
        looks = Counter(trial.task_key for trial in trials)
        least = min(self.bench.policy.must_looks, max(looks.values()))
        before = mean_cells(self.bench.ledger.trials(self.incumbent))
        musts = _list_musts(self.bench.tasks)
        lost: dict[str, float] = defaultdict(float)
        for (task, turn, _, name), fall in subtract(before, mean_cells(trials)).items():
            if (task, turn, name) in musts:
                lost[name] += fall * looks[task]
        return [name for name, fall in lost.items() if fall >= least - ROUNDING]


def _list_musts(tasks: Iterable[Task]) -> set[tuple[str, int, str]]:
    return {
        (task.key, index, criterion.name)
        for task in tasks
        for index, turn in enumerate(task.turns)
        for criterion in turn.criteria
        if criterion.must
    }


def _list_names(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = ", ..." if len(distinct) > _NAMED_CRITERIA else ""
    return ", ".join(distinct[:_NAMED_CRITERIA]) + more
