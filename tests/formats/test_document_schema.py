import json
from pathlib import Path
from typing import Any

import pytest

from azd_eval.formats.document_schema import find_schema_faults
from azd_eval.formats.faults import name_field

SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "m365"
NEWEST = "1.11r"

needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="the vendor's documents are not beside the repository"
)


def read_list(name: str) -> list[Any]:
    path = SAMPLES / name
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []


def fields(document: object) -> list[str | None]:
    return [name_field(fault.loc) for fault in find_schema_faults(document)]


@needs_samples
@pytest.mark.parametrize("verdict", read_list("verdicts.json"), ids=lambda each: each["file"])
def test_the_vendors_documents_get_the_verdict_of_the_official_schema(verdict: Any) -> None:
    document = json.loads((SAMPLES / verdict["file"]).read_text(encoding="utf-8"))

    assert (verdict[NEWEST] == "ok") == (not find_schema_faults(document))


@needs_samples
@pytest.mark.parametrize("probe", read_list("probes.json"), ids=lambda each: each["name"])
def test_single_facts_get_the_verdict_of_the_official_schema(probe: Any) -> None:
    assert probe["valid"][NEWEST] == (not find_schema_faults(probe["document"]))


def test_every_fault_is_told_with_its_field() -> None:
    document = {
        "schemaVersion": "2.0.0",
        "default_evaluators": {"1st": {}, "Relevance": {"threshold": 0}},
        "items": [
            {"prompt": "", "testId": "T-1", "scores": {"citations": {"result": "pass"}}},
            {"prompt": "p", "turns": [{"prompt": "p", "expeceted_response": "e"}]},
            {"turns": []},
            "p",
        ],
    }

    assert [
        "schemaVersion",
        'default_evaluators["1st"]',
        "default_evaluators.Relevance.threshold",
        "items[0].prompt",
        "items[0].testId",
        "items[0].scores.citations.count",
        "items[0].scores.citations.threshold",
        "items[1].prompt",
        "items[1].turns[0].expeceted_response",
        "items[2].turns",
        "items[3]",
    ] == fields(document)


@pytest.mark.parametrize("field", ["testId", "category", "notes", "name", "description"])
def test_documented_fields_that_the_schema_lacks_are_sent_to_extensions(field: str) -> None:
    (fault,) = find_schema_faults(
        {"schemaVersion": "1.0.0", "items": [{"prompt": "p", field: "x"}]}
    )

    assert fault.hint == "the official schema has no such field here; it has `extensions` for it"
