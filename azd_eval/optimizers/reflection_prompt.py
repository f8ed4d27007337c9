"""Word the evidence for the reflector: what fails and why, within a bounded size.

The expected answers of tasks are never looked at: what the reflector does not see it cannot copy.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from azd_eval.domain.difference import describe_difference
from azd_eval.domain.optimization import Evidence, FailedVerdict, MetCriterion
from azd_eval.prompts import fill, template

_REASONS_ROOM = 24_000
_ANSWERS_ROOM = 24_000
_MET_ROOM = 4_000
_LONGEST_REASON = 600
_LONGEST_INSTRUCTION = 1_000
_LONGEST_MET = 200
_LONGEST_ANSWER_PART = 1_500
_LONGEST_CHANGE = 1_500
_SHOWN_REJECTED = 5
_SHOWN_NEW_FAILURES = 5
# The keys, quotes and commas around one entry.
_FRAME = 40


def word_evidence(evidence: Evidence) -> str:
    """Give the user message of a reflection call."""
    chosen = list(_choose_reasons(evidence.failures))
    answers = _choose_answers(chosen)
    candidate = evidence.parent
    text = fill(
        "reflect_evidence.md",
        {
            # A digest of the text itself cannot stand inside it: nothing in it can end the quote.
            "mark": candidate.digest,
            "instructions": candidate.instructions,
            "failures": _word_rows(_failure_rows(evidence.failures, chosen, answers)),
            "answers": _word_rows(_answer_rows(answers)),
            "met": _word_rows(list(_met_rows(evidence.met))),
            "rejected": _word_rows(_rejected_rows(evidence)),
            # The same evidence, shown at once, must not give the same text.
            "alternative": template("reflect_alternative.md") if evidence.number else "",
        },
    )
    # A model's JSON can hold half a surrogate pair, which no request can carry.
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _criterion_key(failure: FailedVerdict) -> tuple[str, str]:
    return failure.criterion.name, failure.criterion.instruction


def _answer_key(failure: FailedVerdict) -> tuple[str, str]:
    return failure.prompt, failure.reply


def _choose_reasons(failures: Sequence[FailedVerdict]) -> Iterator[FailedVerdict]:
    """Take a failure of each criterion, the most frequent first, then a second, while they fit.

    What was missed at every look comes before what was not.
    """
    groups: dict[tuple[str, str], list[FailedVerdict]] = {}
    for failure in sorted(failures, key=lambda each: each.is_unstable):
        groups.setdefault(_criterion_key(failure), []).append(failure)
    by_frequency = sorted(groups.values(), key=_count_stable_first, reverse=True)
    room = _REASONS_ROOM
    for number, round_of_failures in enumerate(zip_longest(*by_frequency)):
        for failure in filter(None, round_of_failures):
            room -= len(_shorten(failure.reason, _LONGEST_REASON)) + _FRAME
            if number == 0:
                room -= len(_shorten(failure.criterion.instruction, _LONGEST_INSTRUCTION)) + _FRAME
            if room < 0:
                return
            yield failure


def _count_stable_first(failures: Sequence[FailedVerdict]) -> tuple[int, int]:
    return sum(not failure.is_unstable for failure in failures), len(failures)


def _choose_answers(chosen: Iterable[FailedVerdict]) -> dict[tuple[str, str], int]:
    """Give a number to each answer to be shown: those that miss most first, while they fit."""
    room = _ANSWERS_ROOM
    numbers: dict[tuple[str, str], int] = {}
    for key, _ in Counter(map(_answer_key, chosen)).most_common():
        size = sum(len(_shorten(part, _LONGEST_ANSWER_PART)) for part in key) + _FRAME
        if size <= room:
            room -= size
            numbers[key] = len(numbers) + 1
    return numbers


def _failure_rows(
    failures: Iterable[FailedVerdict],
    chosen: Iterable[FailedVerdict],
    answers: dict[tuple[str, str], int],
) -> list[dict[str, Any]]:
    missed = Counter(map(_criterion_key, failures))
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for failure in chosen:
        key = _criterion_key(failure)
        row = rows.setdefault(
            key,
            {
                "criterion": failure.criterion.name,
                "instruction": _shorten(failure.criterion.instruction, _LONGEST_INSTRUCTION),
                "missed": missed[key],
                "reasons": [],
            },
        )
        row["reasons"].append(
            {
                "answer": answers.get(_answer_key(failure)),
                "reason": _shorten(failure.reason, _LONGEST_REASON),
            }
            | ({"unstable": True} if failure.is_unstable else {})
        )
    return list(rows.values())


def _answer_rows(answers: dict[tuple[str, str], int]) -> list[dict[str, Any]]:
    return [
        {
            "answer": number,
            "prompt": _shorten(prompt, _LONGEST_ANSWER_PART),
            "reply": _shorten(reply, _LONGEST_ANSWER_PART),
        }
        for (prompt, reply), number in answers.items()
    ]


def _met_rows(met: Iterable[MetCriterion]) -> Iterator[dict[str, Any]]:
    room = _MET_ROOM
    for each in met:
        instruction = _shorten(each.criterion.instruction, _LONGEST_MET)
        room -= len(each.criterion.name) + len(instruction) + _FRAME
        if room < 0:
            return
        yield {
            "criterion": each.criterion.name,
            "instruction": instruction,
            "tasks": each.tasks,
        }


def _rejected_rows(evidence: Evidence) -> list[dict[str, Any]]:
    current = evidence.parent.instructions
    known = {(*_criterion_key(failure), failure.reason) for failure in evidence.failures}
    return [
        {
            "reason": _shorten(item.reason, _LONGEST_REASON),
            "missed_otherwise": [
                {
                    "criterion": failure.criterion.name,
                    "reason": _shorten(failure.reason, _LONGEST_REASON),
                }
                for failure in _choose_reasons(item.failures)
                if (*_criterion_key(failure), failure.reason) not in known
            ][:_SHOWN_NEW_FAILURES],
            "change": _shorten(
                describe_difference(current, item.instructions, context=0), _LONGEST_CHANGE
            )
            if item.instructions
            else None,
        }
        for item in evidence.rejected[-_SHOWN_REJECTED:]
    ]


def _word_rows(rows: list[dict[str, Any]]) -> str:
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]" if rows else "[]"


def _shorten(text: str, limit: int) -> str:
    """Cut a text in the middle, where the least is lost, and say how much is missing."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    return f"{text[:head]} [... {len(text) - limit} characters left out ...] {text[-tail:]}"
