"""Files written whole or not at all, and never over somebody's work."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.errors import AzdEvalError, InputError
from azd_eval.files import read_text, write_atomically, write_new


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")))
def test_what_is_read_is_what_was_written(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("files") / "new" / "file.md"

    write_atomically(path, text)

    assert text.removeprefix("\ufeff") == read_text(path, "instructions")
    assert text.encode() == path.read_bytes()


def test_half_a_character_does_not_lose_the_rest(tmp_path):
    write_atomically(tmp_path / "report.html", "smile \ud83d, 返金")

    assert "smile \\ud83d, 返金" == (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_reader_sees_the_old_text_or_the_new(tmp_path):
    path, texts, stop = tmp_path / "file", {"a" * 1_000_000, "b" * 1_000_000}, threading.Event()
    write_atomically(path, "a" * 1_000_000)

    def rewrite():
        while not stop.is_set():
            for text in texts:
                write_atomically(path, text)

    writer = threading.Thread(target=rewrite)
    writer.start()
    seen = {path.read_text(encoding="utf-8") for _ in range(50)}
    stop.set()
    writer.join()

    assert seen <= texts
    assert ["file"] == _names(tmp_path)


def test_a_failed_write_leaves_the_old_text_and_no_rest(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, "old")

    with pytest.raises(TypeError):
        write_atomically(path, 3)

    assert ("old", ["file"]) == (path.read_text(encoding="utf-8"), _names(tmp_path))


@pytest.mark.parametrize("write", [write_atomically, write_new])
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_a_new_file_has_the_permissions_that_the_user_wants_for_new_files(
    tmp_path, write, mask, mode
):
    before = os.umask(mask)
    try:
        write(tmp_path / "file", "text")
    finally:
        os.umask(before)

    assert mode == stat.S_IMODE((tmp_path / "file").stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_an_old_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "file"
    path.touch()
    path.chmod(mode)

    write_atomically(path, "text")

    assert (mode, "text") == (stat.S_IMODE(path.stat().st_mode), path.read_text())


@pytest.mark.parametrize("exists", [True, False])
def test_what_a_link_leads_to_is_written_and_the_link_stays(tmp_path, exists):
    (tmp_path / "shared").mkdir()
    (tmp_path / "first").symlink_to(Path("shared") / "file")
    (tmp_path / "second").symlink_to("first")
    if exists:
        (tmp_path / "shared" / "file").write_text("old")

    write_atomically(tmp_path / "second", "new")

    assert "new" == (tmp_path / "shared" / "file").read_text()
    assert (tmp_path / "second").is_symlink()
    assert (tmp_path / "first").is_symlink()
    assert ["file"] == _names(tmp_path / "shared")


@pytest.mark.parametrize("write", [write_atomically, write_new])
@pytest.mark.parametrize("place", ["file/below", "/dev/null/below", "x" * 300, "folder"])
def test_a_place_that_cannot_be_written_is_an_error_of_the_user(tmp_path, write, place):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()

    with pytest.raises(InputError, match=r"cannot write|exists") as refusal:
        write(tmp_path / place, "text")

    assert refusal.value.hint
    assert ["file", "folder"] == _names(tmp_path)


@pytest.mark.parametrize(
    ("number", "cure", "exit_code"),
    [
        (errno.ENOSPC, "make room on the disk", 3),
        (errno.EDQUOT, "make room on the disk", 3),
        (errno.EROFS, "choose a folder that can be written", 2),
    ],
)
def test_a_full_disk_wants_room_and_not_another_folder(
    tmp_path, monkeypatch, number, cure, exit_code
):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "replace", fail)

    with pytest.raises(AzdEvalError) as caught:
        write_atomically(tmp_path / "summary.json", "{}")

    assert exit_code == caught.value.exit_code
    assert cure in caught.value.hint
    assert [] == _names(tmp_path)


def test_a_new_file_is_written_in_a_new_folder(tmp_path):
    write_new(tmp_path / "new" / "folder" / "file", "one\r\n返金\n")

    assert "one\r\n返金\n".encode() == (tmp_path / "new" / "folder" / "file").read_bytes()


def test_a_new_file_that_cannot_be_written_does_not_stay_empty(tmp_path):
    with pytest.raises(TypeError):
        write_new(tmp_path / "file", 3)

    assert [] == _names(tmp_path)


def _file(path):
    path.write_text("mine")


def _dangling_link(path):
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [_file, _dangling_link, os.mkdir])
def test_nothing_that_exists_is_written_over(tmp_path, make):
    path = tmp_path / "eval.yaml"
    make(path)
    before = os.lstat(path)

    with pytest.raises(InputError, match=r"exists and is not overwritten"):
        write_new(path, "text")

    assert before == os.lstat(path)


def test_of_two_that_write_a_new_file_at_once_one_is_refused(tmp_path):
    script = (
        "import sys; from pathlib import Path\n"
        "from azd_eval.errors import InputError; from azd_eval.files import write_new\n"
        "won = 0\n"
        "for number in range(300):\n"
        "    try: write_new(Path(sys.argv[1]) / str(number), sys.argv[2]); won += 1\n"
        "    except InputError: pass\n"
        "print(won)"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path), name], stdout=subprocess.PIPE, text=True
        )
        for name in "ab"
    ]

    won = [int(writer.communicate()[0]) for writer in writers]

    assert 300 == sum(won)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\xef\xbb\xbftext", "text"),
        ("é\u2028".encode(), "é\u2028"),
        (b"", ""),
        (b"one\r\ntwo\n", "one\ntwo\n"),
    ],
)
def test_text_is_read_as_utf_8_with_or_without_a_mark(tmp_path, content, text):
    (tmp_path / "file").write_bytes(content)

    assert text == read_text(tmp_path / "file", "dataset_file")


@pytest.mark.parametrize("content", [b"caf\xe9", "text".encode("utf-16"), b"\xef\xbb\xbfok \xff"])
def test_text_of_another_encoding_is_refused(tmp_path, content):
    (tmp_path / "file").write_bytes(content)

    with pytest.raises(InputError, match=r"dataset_file is not UTF-8: /.*file, byte") as refusal:
        read_text(tmp_path / "file", "dataset_file")

    assert "save the file as UTF-8" == refusal.value.hint


def test_a_missing_file_is_named_with_the_absolute_path_tried(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InputError) as refusal:
        read_text(Path("data/tasks.jsonl"), "dataset_file")

    assert f"dataset_file not found: {tmp_path}/data/tasks.jsonl" == refusal.value.message


@pytest.mark.parametrize("place", [".", "file/below", "x" * 300, "zero\0byte"])
def test_what_cannot_be_read_is_an_error_of_the_user(tmp_path, place):
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(InputError, match=r"cannot read dataset_file|dataset_file not found"):
        read_text(tmp_path / place, "dataset_file")
