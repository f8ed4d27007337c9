"""The result of a run: the document that was run, with what the run found in it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from azd_eval.domain.score import Trial
from azd_eval.domain.task import Task
from azd_eval.formats.document_items import build_item
from azd_eval.formats.document_rows import EVIDENCE
from azd_eval.formats.document_scores import write_thread_summary, write_turn_result
from azd_eval.formats.document_versions import NEWEST_MINOR
from azd_eval.formats.documents import Document, build_root

_OF_REPLIES = ("conversation_id", *EVIDENCE)


@dataclass(frozen=True, slots=True)
class ResultFacts:
    """What a result says of its run. `is_replay`: stored responses were scored, nobody was asked.

    Then the agent is the one that gave the responses, whatever it is called here.
    """

    evaluated_at: str
    agent: str
    version: str
    is_replay: bool = False


def build_result(
    document: Document, trials: Mapping[str, Trial], facts: ResultFacts
) -> dict[str, Any]:
    """Give the document with results, valid against the official schema; `trials` are by task key.

    What that schema lacks, such as `testId` and `category`, stands in `extensions`. An item that
    was not reached is as it was, without the results of any earlier run.
    """
    items = [_build_item(task, trials.get(task.key), facts) for task in document.tasks]
    header = replace(
        document.header,
        schema_version=_raise_version(document.header.schema_version),
        carried=_tell_run(document.header.carried, facts),
    )
    return build_root(header, items)


def _build_item(task: Task, trial: Trial | None, facts: ResultFacts) -> dict[str, Any]:
    if not facts.is_replay:
        task = _forget_replies(task)
    item = build_item(task, official=True)
    if trial is None:
        return item
    results = [write_turn_result(turn) for turn in trial.turns]
    if "turns" not in item:
        return _add(item, results[0])
    item["turns"] = [_add(*pair) for pair in zip(item["turns"], results, strict=True)]
    return _add(item, {"summary": write_thread_summary(trial)})


def _forget_replies(task: Task) -> Task:
    """Leave out what an earlier run said: responses, their evidence, and its conversation."""

    def keep(carried: Mapping[str, Any]) -> dict[str, Any]:
        return {key: carried[key] for key in carried if key not in _OF_REPLIES}

    turns = (replace(turn, recorded=None, carried=keep(turn.carried)) for turn in task.turns)
    return replace(task, turns=tuple(turns), carried=keep(task.carried))


def _add(row: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Put results before `extensions`, in place of what stood there."""
    others = {key: row[key] for key in row if key not in found and key != "extensions"}
    return {**others, **found, **{key: row[key] for key in row if key == "extensions"}}


def _tell_run(carried: Mapping[str, Any], facts: ResultFacts) -> dict[str, Any]:
    told = dict(carried.get("metadata") or {})
    if not (facts.is_replay and told.get("agentName")):
        told["agentName"] = facts.agent
    told |= {"evaluatedAt": facts.evaluated_at, "cliVersion": facts.version}
    return {**carried, "metadata": told}


def _raise_version(version: str) -> str:
    """Give the version that has all that results use, unless the document's is newer."""
    minor = int(version.split(".")[1])
    return version if minor >= NEWEST_MINOR else f"1.{NEWEST_MINOR}.0"
