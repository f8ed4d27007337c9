"""Read what came beside a reply. It is an agent's own report: nothing in it can be relied on."""

from collections.abc import Iterator, Mapping
from typing import Any

from azd_eval.domain.task import Reply
from azd_eval.evaluators.findings import Finding


def find_diagnostics(reply: Reply, key: str) -> object:
    """Give one entry of `diagnostics`, or None where the reply does not carry it."""
    return find(reply.evidence.get("diagnostics"), key)


def miss_evidence(key: str) -> Finding:
    """Say that nothing can be decided, as the evidence is not there."""
    reason = f"the reply carries no usable `diagnostics.{key}`"
    return Finding("unusable", reason, error_code="missing_evidence")


def find(record: object, key: str) -> object:
    """Give a field of what should be an object; None where it is not there."""
    return record.get(key) if isinstance(record, Mapping) else None


def find_text(record: object, key: str) -> str:
    """Give a text of what should be an object; empty where it is not there."""
    value = find(record, key)
    return value if isinstance(value, str) else ""


def find_records(record: object, key: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list in what should be an object."""
    listed = find(record, key)
    for entry in listed if isinstance(listed, list | tuple) else ():
        if isinstance(entry, Mapping):
            yield entry
