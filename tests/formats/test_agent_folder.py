from pathlib import Path

import pytest

from azd_eval.errors import FilesRefused, InputError
from azd_eval.formats.agent_folder import (
    BASELINE,
    apply_instructions,
    read_agent_metadata,
    write_baseline,
)

CONFIGS = Path(".agent_configs")


def write_metadata(text: str) -> Path:
    path = CONFIGS / "baseline" / "metadata.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("key", ["instruction_file", "instructions_file"])
@pytest.mark.parametrize("tools_key", ["tools_file", "tool_file"])
def test_metadata_is_read_in_the_spellings_of_azd(key: str, tools_key: str) -> None:
    path = write_metadata(
        f"name: x\nmodel: gpt-5.1\ntemperature: 0.2\n{key}: ../prompt.md\n{tools_key}: t.json\n"
        "skill_dir: skills\n"
    )

    metadata = read_agent_metadata(path)

    assert path.parent / "../prompt.md" == metadata.instructions_file
    assert ("gpt-5.1", {"temperature": 0.2}) == (metadata.model, metadata.parameters)
    assert path.parent / "t.json" == metadata.tools_file


@pytest.mark.parametrize("text", ["", "model:\n", "model: ~\ntemperature:\n", "# nothing\n"])
def test_what_metadata_leaves_out_has_azds_defaults(text: str) -> None:
    path = write_metadata(text)

    metadata = read_agent_metadata(path)

    assert path.parent / "instructions.md" == metadata.instructions_file
    assert (None, {}, None) == (metadata.model, metadata.parameters, metadata.tools_file)


def test_metadata_may_be_named_by_its_folder() -> None:
    path = write_metadata("model: 4.1\n")

    assert "4.1" == read_agent_metadata(path.parent).model


@pytest.mark.parametrize(
    ("text", "line"),
    [("- a\n", 1), ("text\n", 1), ("a: 1\na: 2\n", 2), ("x: 1\ntemperature: hot\n", 2)],
)
def test_broken_metadata_is_refused_with_its_line(text: str, line: int) -> None:
    path = write_metadata(text)

    with pytest.raises(FilesRefused) as refused:
        read_agent_metadata(path)

    assert [line] == [problem.line for problem in refused.value.problems]


def test_missing_metadata_is_refused() -> None:
    with pytest.raises(InputError, match="agent metadata not found"):
        read_agent_metadata(CONFIGS / "none.yaml")


def test_a_baseline_is_written_where_it_is_read() -> None:
    path = write_baseline(CONFIGS, "Be kind.\n", model="gpt-4.1-mini")

    metadata = read_agent_metadata(BASELINE / "metadata.yaml")
    assert "Be kind.\n" == metadata.instructions_file.read_text(encoding="utf-8")
    assert path == metadata.instructions_file
    assert "gpt-4.1-mini" == metadata.model


def test_a_baseline_is_never_overwritten() -> None:
    write_baseline(CONFIGS, "Be kind.")

    with pytest.raises(InputError, match="exists"):
        write_baseline(CONFIGS, "Be rude.")

    assert "Be kind." == (BASELINE / "instructions.md").read_text(encoding="utf-8")


def test_metadata_that_exists_is_kept() -> None:
    path = write_metadata("model: mine\n")

    write_baseline(CONFIGS, "Be kind.", model="other")

    assert "model: mine\n" == path.read_text(encoding="utf-8")


def test_applied_instructions_are_written_where_the_agent_reads_and_the_old_ones_kept() -> None:
    path = Path("prompt.md")
    old = b"\xef\xbb\xbfBe kind.\r\nAnd {brief}.\r\n"
    path.write_bytes(old)

    archived = apply_instructions(path, "Be kind.\nBe exact.\n", CONFIGS)

    assert b"Be kind.\r\nBe exact.\r\n" == path.read_bytes()
    assert archived is not None
    assert old == archived.read_bytes()
    assert CONFIGS / "archive" == archived.parent
    assert archived.name.endswith("-prompt.md")


def test_each_application_keeps_its_own_copy() -> None:
    path = Path("prompt.md")
    path.write_text("0", encoding="utf-8")

    archived = [apply_instructions(path, str(number), CONFIGS) for number in range(1, 4)]

    assert ["0", "1", "2"] == [
        copy.read_text(encoding="utf-8") for copy in archived if copy is not None
    ]
    assert "3" == path.read_text(encoding="utf-8")


def test_instructions_are_applied_byte_for_byte() -> None:
    text = 'Reply as {"answer": "…"}\n\n{{name}} ${HOME} <b>&amp;</b>\u2028end'

    assert apply_instructions(Path("new.md"), text, CONFIGS) is None

    assert text.encode() == Path("new.md").read_bytes()


def test_what_cannot_be_archived_is_not_overwritten() -> None:
    path = Path("prompt.md")
    path.write_text("old", encoding="utf-8")
    (CONFIGS / "archive").parent.mkdir()
    (CONFIGS / "archive").write_text("a file in the way", encoding="utf-8")

    with pytest.raises(InputError, match="cannot archive"):
        apply_instructions(path, "new", CONFIGS)

    assert "old" == path.read_text(encoding="utf-8")
