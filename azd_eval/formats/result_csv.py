"""A result as CSV, for spreadsheets: one record a turn."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from azd_eval.formats.document_rows import part_ours

# Without it, Excel takes UTF-8 for the encoding of the country.
_BOM = "\ufeff"
_FIRST = ("item", "testId", "category", "name", "turn", "prompt", "expected_response", "response")
_LAST = ("status", "error")
_MEASURES = ("score", "count", "match")
# Spreadsheets run what begins so, and agents write what is in these cells.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_result_csv(result: Mapping[str, Any]) -> str:
    """Write a result document, each evaluator with columns for its score, result and reason.

    A cell that a spreadsheet would take for a formula begins with `'`.
    """
    rows = [row for number, item in enumerate(result["items"], 1) for row in _rows(number, item)]
    columns = dict.fromkeys(key for row in rows for key in row)
    scores = [key for key in columns if key not in (*_FIRST, *_LAST)]
    text = io.StringIO(_BOM, newline="")
    text.seek(0, io.SEEK_END)
    writer = csv.DictWriter(text, [*_FIRST, *_LAST, *scores], restval="")
    writer.writeheader()
    writer.writerows({key: _guard(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def _rows(number: int, item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    fields, _ = part_ours(item)
    told = {**fields.get("extensions", {}), **fields}
    for place, turn in enumerate(item.get("turns", [item]), 1):
        row = {key: told.get(key, "") for key in ("testId", "category", "name")}
        row |= {key: turn.get(key, "") for key in ("prompt", "expected_response", "response")}
        row |= {"item": number, "turn": place, "status": turn.get("status", "")}
        if error := turn.get("error"):
            row["error"] = f"{error['code']}: {error['message']}"
        for key, entry in turn.get("scores", {}).items():
            row[f"{key}_score"] = next((entry[name] for name in _MEASURES if name in entry), "")
            row[f"{key}_result"] = entry["result"]
            row[f"{key}_reason"] = entry.get("reason") or entry.get("error") or ""
        yield row


def _guard(value: Any) -> Any:
    is_formula = isinstance(value, str) and value.startswith(_FORMULA)
    return f"'{value}" if is_formula else value
