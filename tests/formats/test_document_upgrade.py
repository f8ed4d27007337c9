import json
import re
from pathlib import Path

import pytest

from azd_eval.errors import FilesRefused
from azd_eval.formats.document_upgrade import upgrade_document

LEGACY = '[\r\n{"prompt": "p", "expected_response": "é"}]'


def write(text: str) -> Path:
    path = Path("evals.json")
    path.write_bytes(text.encode())
    return path


def test_the_versioned_form_is_written_back_with_a_backup_beside_it() -> None:
    path = write(LEGACY)

    backup = upgrade_document(path)

    assert backup is not None
    assert re.fullmatch(r"evals\.json\.bak\.[0-9]{14}", backup.name)
    assert LEGACY.encode() == backup.read_bytes()
    assert {
        "schemaVersion": "1.0.0",
        "items": [{"prompt": "p", "expected_response": "é"}],
    } == json.loads(path.read_text(encoding="utf-8"))


def test_the_version_is_the_lowest_that_has_what_is_used() -> None:
    path = write('{"name": "n", "items": [{"turns": [{"prompt": "p"}], "tags": []}]}')

    upgrade_document(path)

    upgraded = json.loads(path.read_text(encoding="utf-8"))
    assert ["schemaVersion", "name", "items"] == list(upgraded)
    assert "1.9.0" == upgraded["schemaVersion"]


def test_two_backups_in_one_second_are_both_kept() -> None:
    path = write(LEGACY)
    first = upgrade_document(path)
    write(LEGACY)
    second = upgrade_document(path)

    assert first != second
    assert {first, second, path} == set(Path().iterdir())


def test_what_states_its_version_is_left_alone() -> None:
    path = write('{"items": [], "schemaVersion": "9"}')
    before = path.read_bytes()

    assert upgrade_document(path) is None
    assert before == path.read_bytes()
    assert [path] == list(Path().iterdir())


@pytest.mark.parametrize("text", ["{", '{"prompt": "p"}', "1"])
def test_what_is_no_document_is_refused_and_left_alone(text: str) -> None:
    path = write(text)

    with pytest.raises(FilesRefused):
        upgrade_document(path)

    assert text == path.read_text(encoding="utf-8")
    assert [path] == list(Path().iterdir())
