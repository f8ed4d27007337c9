"""Say whether a candidate replaces the incumbent, and why; nothing else decides it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.comparison import ROUNDING, name_changes
from azd_eval.domain.faults import find_fault
from azd_eval.domain.ledger import mean_cells, subtract
from azd_eval.domain.ports import SearchBench
from azd_eval.domain.score import mean
from azd_eval.domain.search import Decision
from azd_eval.domain.statistics import difference_interval
from azd_eval.domain.task import Task

_NAMED_CRITERIA = 5


@dataclass(frozen=True, slots=True)
class Challenge:
    """A child against the incumbent, by what was seen and what is believed of both.

    `believed` is by how much the child is thought to be worth more, `wanted` by how much it must.
    """

    bench: SearchBench
    incumbent: Candidate
    child: Candidate
    believed: float
    wanted: float

    @property
    def gains(self) -> dict[str, float]:
        """How much higher the child's mean is, by task; tasks that errored are not among them."""
        scores = self.bench.ledger.task_scores
        return subtract(scores(self.child), scores(self.incumbent))

    @property
    def is_promising(self) -> bool:
        """Tell whether a further look may pay: nothing was scored yet, or it seems better."""
        return self.believed > self.wanted or not self.gains

    def decide(self) -> Decision:
        """Accept a child that is believed to be better by more than is wanted.

        Errors are missing, not 0; with too many of them nothing is decided for the child.
        """
        gains, tasks = self.gains, len(self.bench.ledger.task_scores(self.incumbent))
        if not gains and (fault := find_fault(self.bench.ledger.trials(self.child))):
            return Decision(False, f"could not be measured: {fault}")
        if not self.is_promising:
            return self._word("not better", is_accepted=False)
        if len(gains) < self.bench.policy.least_shared * tasks:
            reason = f"only {len(gains)} of {tasks} tasks were scored"
            return self._word(reason, is_accepted=False)
        if lost := self._find_lost_musts():
            reason = f"a `must` is met less often ({_list_names(lost)})"
            return self._word(reason, is_accepted=False)
        return self._word("better", is_accepted=True)

    def _word(self, reason: str, *, is_accepted: bool) -> Decision:
        gains = [*self.gains.values()]
        seen = mean(gains) or 0.0
        tasks = f"{len(gains)} of {len(self.bench.tasks)} tasks"
        parts = [f"{seen:+.2f} on {tasks}, {self.believed:+.2f} believed", *self._word_changes()]
        words = f"{reason}: {', '.join(parts)}"
        return Decision(is_accepted, words, seen, difference_interval([gains]))

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
        musts = _list_musts(self.bench.tasks)
        if not musts:
            return []
        trials = self.bench.ledger.trials(self.child)
        looks = Counter(trial.task_key for trial in trials)
        least = min(self.bench.policy.must_looks, max(looks.values()))
        before = mean_cells(self.bench.ledger.trials(self.incumbent))
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
