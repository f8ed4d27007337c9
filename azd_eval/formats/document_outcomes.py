"""Read from a result document how its items ended; the vendor's tool writes the same."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from azd_eval.domain.criterion import HIGHEST_GRADE, LOWEST_GRADE
from azd_eval.domain.item_comparison import ItemOutcome
from azd_eval.domain.item_status import ITEM_STATUSES, ItemStatus, judge_thread
from azd_eval.domain.score import mean
from azd_eval.errors import InputError
from azd_eval.formats.document_rows import part_ours
from azd_eval.formats.json_files import read_json

_GRADED = ("relevance", "coherence", "groundedness", "similarity")
_SHARES = ("partialMatch", "retrievalQuery", "retrievalResult")
_LONGEST_NAME = 60

Fields = Mapping[str, Any]


def read_outcomes(path: Path) -> tuple[ItemOutcome, ...]:
    """Read how the items of a result ended; raises `InputError` where none was evaluated."""
    outcomes = list_outcomes(_map(read_json(path, "result").tree))
    if all(outcome.status is None for outcome in outcomes):
        raise InputError(
            f"{str(path)!r} is no result: no item has a status",
            hint="results are what `runevals` writes, under .evals/results/ and with `--output`",
        )
    return outcomes


def list_outcomes(result: Fields) -> tuple[ItemOutcome, ...]:
    """Say how each item of a result ended."""
    return tuple(map(_read_outcome, _maps(result.get("items"))))


def _read_outcome(item: Fields) -> ItemOutcome:
    turns = _maps(item.get("turns", [item]))
    asked = [[turn.get("prompt"), turn.get("expected_response")] for turn in turns]
    fields, _ = part_ours(item)
    told = {**_map(fields.get("extensions")), **fields}
    test_id, name, category = (_text(told.get(key)) for key in ("testId", "name", "category"))
    first = " ".join((_text(turns[0].get("prompt")) or "").split()) if turns else ""
    return ItemOutcome(
        name=test_id or name or first[:_LONGEST_NAME],
        content=hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16],
        status=_read_status(turns),
        score=_read_score(turns),
        test_id=test_id,
        category=category,
    )


def _read_status(turns: list[Fields]) -> ItemStatus | None:
    statuses = [
        status for status in ITEM_STATUSES for turn in turns if turn.get("status") == status
    ]
    return judge_thread(statuses) if turns and len(statuses) == len(turns) else None


def _read_score(turns: list[Fields]) -> float | None:
    """Average as a run does: per evaluator over the turns, then over the evaluators."""
    shares: dict[str, list[float]] = defaultdict(list)
    for turn in turns:
        for key, entry in _map(turn.get("scores")).items():
            if (share := _read_share(key, _map(entry))) is not None:
                shares[key].append(share)
    means = map(mean, shares.values())
    return mean(each for each in means if each is not None)


def _read_share(key: str, entry: Fields) -> float | None:
    """Give an entry of `scores` as a number in 0..1; None for one that failed to run."""
    result, number = entry.get("result"), _number(entry.get("score"))
    if result not in ("pass", "fail"):
        return None
    count, threshold = _number(entry.get("count")), _number(entry.get("threshold"))
    if key in _GRADED and number is not None:
        return _bound((number - LOWEST_GRADE) / (HIGHEST_GRADE - LOWEST_GRADE))
    if key in _SHARES and number is not None:
        return _bound(number)
    if key == "citations" and count is not None and threshold:
        return _bound(count / threshold)
    return float(result == "pass")


def _bound(share: float) -> float:
    return min(1.0, max(0.0, share))


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _map(value: object) -> Fields:
    return value if isinstance(value, dict) else {}


def _maps(value: object) -> list[Fields]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
