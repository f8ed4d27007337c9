"""What a run that was interrupted already has: finished trials, and parts of unfinished ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from azd_eval.domain.ports import JudgeRequest
from azd_eval.domain.score import TrialSpec, Verdict
from azd_eval.domain.task import Reply
from azd_eval.storage.jsonl_log import locate_json_lines, read_lines_at
from azd_eval.storage.run_folder import JOURNAL, read_latest_trials

# A task by its content, and which repeat of it.
TrialKey = tuple[str, int]


@dataclass(slots=True)
class _Turn:
    reply: Reply
    verdicts: dict[str, dict[str, Verdict]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunMemory:
    """Recalls by content, so that the order of the dataset may have changed.

    `finished` are the trials that need not be run. Of the others, only the places of their events
    in the journal are in memory.
    """

    journal: Path | None = None
    finished: frozenset[TrialKey] = frozenset()
    places: Mapping[TrialKey, list[int]] = field(default_factory=dict)

    def recall_reply(self, spec: TrialSpec, turn_index: int) -> Reply | None:
        """Give the agent's reply of an earlier session, if there is one."""
        turn = self._recall_turn(spec, turn_index)
        return turn.reply if turn else None

    def recall_verdicts(self, request: JudgeRequest) -> Mapping[str, Verdict]:
        """Give the usable verdicts of earlier sessions on the same reply, by criterion."""
        turn = self._recall_turn(request.item.spec, request.item.turn_index)
        return turn.verdicts.get(request.evaluator, {}) if turn else {}

    def _recall_turn(self, spec: TrialSpec, turn_index: int) -> _Turn | None:
        places = self.places.get((spec.task.key, spec.repeat))
        if self.journal is None or places is None:
            return None
        turns: list[_Turn] = []
        for event in read_lines_at(self.journal, places):
            index = event["turn"]
            if event["event"] == "reply" and index <= len(turns):
                # What was said and judged after an earlier reply to this turn is void.
                turns[index:] = [_Turn(_read_reply(event))]
            elif event["event"] == "verdict" and index < len(turns):
                known = turns[index].verdicts.setdefault(event["evaluator"], {})
                known[event["criterion"]] = _read_verdict(event)
        return turns[turn_index] if turn_index < len(turns) else None


def _read_reply(event: Mapping[str, Any]) -> Reply:
    return Reply(
        text=event["reply"],
        finish_reason=event["finish_reason"],
        latency_ms=event["latency_ms"],
        input_tokens=event["input_tokens"],
        output_tokens=event["output_tokens"],
        evidence=event.get("evidence", {}),
    )


def _read_verdict(event: Mapping[str, Any]) -> Verdict:
    return Verdict(event["criterion"], event["verdict"], event["reason"], grade=event["grade"])


def read_memory(run: Path, judging: str) -> RunMemory:
    """Read what a run has, for a session that judges by `judging`.

    Verdicts count only when they come from the same judge, evaluators and criteria.
    """
    finished = frozenset(
        (trial.task_key, trial.repeat)
        for trial in read_latest_trials(run, judging)
        if trial.status != "errored"
    )
    places: dict[TrialKey, list[int]] = {}
    is_same_judging = False
    for place, event in locate_json_lines(run / JOURNAL):
        if event.get("event") == "session":
            is_same_judging = event.get("judging") == judging
        elif is_same_judging or event.get("event") == "reply":
            key = _find_key(event)
            if key is not None and key not in finished:
                places.setdefault(key, []).append(place)
    return RunMemory(run / JOURNAL, finished, places)


def _find_key(event: Mapping[str, Any]) -> TrialKey | None:
    """Tell which trial can use an event: a reply, or a verdict that decides; else None."""
    match event:
        case {
            "event": "reply",
            "reply": str(),
            "finish_reason": str(),
            "latency_ms": float() | int(),
            "input_tokens": int(),
            "output_tokens": int(),
        }:
            pass
        case {
            "event": "verdict",
            "evaluator": str(),
            "criterion": str(),
            "verdict": "met" | "unmet" | "not_applicable",
            "reason": str(),
            "grade": int() | None,
        }:
            pass
        case _:
            return None
    match event:
        case {"task_key": str(task_key), "repeat": int(repeat), "turn": int(turn)} if turn >= 0:
            return task_key, repeat
    return None
