"""What a run that was interrupted already has: finished trials, and parts of unfinished ones."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from azd_eval.domain.criterion import Criterion
from azd_eval.domain.ports import JudgeRequest
from azd_eval.domain.score import Trial, TrialSpec, Verdict
from azd_eval.domain.task import Reply
from azd_eval.storage.jsonl_log import read_json_lines
from azd_eval.storage.run_folder import read_trials

# A task by its content, and which repeat of it.
TrialKey = tuple[str, int]


@dataclass(slots=True)
class RunMemory:
    """Recalls by content, so that the order of the dataset may have changed.

    Verdicts count only when they come from the same `judging`: judge, evaluators, criteria.
    """

    finished: frozenset[TrialKey] = frozenset()
    _replies: dict[tuple[TrialKey, int], Reply] = field(default_factory=dict)
    _verdicts: dict[tuple[TrialKey, int, str, str], Verdict] = field(default_factory=dict)

    def recall_reply(self, spec: TrialSpec, turn_index: int) -> Reply | None:
        """Give the agent's reply of an earlier session, if there is one."""
        return self._replies.get((_key_of(spec), turn_index))

    def recall_verdict(self, request: JudgeRequest, criterion: Criterion) -> Verdict | None:
        """Give a usable verdict of an earlier session, if there is one."""
        item = request.item
        key = (_key_of(item.spec), item.turn_index, request.evaluator, criterion.name)
        verdict = self._verdicts.get(key)
        return verdict and replace(verdict, weight=criterion.weight)

    def learn(self, event: Mapping[str, Any], *, same_judging: bool) -> None:
        """Take in one event of the journal; what belongs to a finished trial is let go."""
        key = (event["task_key"], event["repeat"])
        if key in self.finished:
            return
        if event["event"] == "reply":
            self._replies[key, event["turn"]] = Reply(
                text=event["reply"],
                finish_reason=event["finish_reason"],
                latency_ms=event["latency_ms"],
                input_tokens=event["input_tokens"],
                output_tokens=event["output_tokens"],
            )
        elif same_judging and event["verdict"] != "unusable":
            place = (key, event["turn"], event["evaluator"], event["criterion"])
            self._verdicts[place] = Verdict(
                event["criterion"],
                event["verdict"],
                event["reason"],
                grade=event["grade"],
            )


def read_memory(run: Path, judging: str) -> RunMemory:
    """Read what a run has, for a session that judges by `judging`."""
    memory = RunMemory(
        frozenset(
            (trial.task_key, trial.repeat)
            for trial in latest_trials(run, judging)
            if trial.status != "errored"
        )
    )
    same_judging = False
    for event in read_json_lines(run / "journal.jsonl"):
        if event.get("event") == "session":
            same_judging = event.get("judging") == judging
            continue
        try:
            memory.learn(event, same_judging=same_judging)
        except (KeyError, TypeError):
            continue
    return memory


def latest_trials(run: Path, judging: str) -> Iterator[Trial]:
    """Yield the last trial of each task and repeat that was judged by `judging`."""
    last = {
        (trial.task_key, trial.repeat): number
        for number, trial in enumerate(read_trials(run, judging))
    }
    wanted = set(last.values())
    for number, trial in enumerate(read_trials(run, judging)):
        if number in wanted:
            yield trial


def _key_of(spec: TrialSpec) -> TrialKey:
    return spec.task.key, spec.repeat
