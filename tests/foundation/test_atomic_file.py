"""A file is the old one or the new one."""

import os
import sys
from pathlib import Path

import pytest

from sophos_desktop.foundation.atomic_file import atomic_writer, write_atomically


def test_the_new_bytes_take_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "100% #1 🦉.toml"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_the_file_is_for_this_user_alone_unless_asked_otherwise(tmp_path: Path) -> None:
    write_atomically(tmp_path / "private", b"")
    write_atomically(tmp_path / "public", b"", mode=0o644)
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "public").stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target = tmp_path / "dotfiles" / "settings.toml"
    target.write_bytes(b"old")
    link = tmp_path / "settings.toml"
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_no_other(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    write_atomically(path, b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nowhere" / "file", b"")


def test_what_was_written_piece_by_piece_is_there_at_the_end_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "document.md"
    with atomic_writer(path) as file:
        file.write(b"one ")
        file.write(b"two")
        assert not path.exists()
    assert path.read_bytes() == b"one two"
    for error in (OSError("full"), KeyboardInterrupt()):
        with pytest.raises(type(error)), atomic_writer(path) as file:
            file.write(b"half")
            raise error
    assert path.read_bytes() == b"one two"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files there")
def test_a_pipe_or_a_device_is_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for path in (pipe, tmp_path / "link", Path(os.devnull)):
        with pytest.raises(OSError, match="no file"):
            write_atomically(path, b"text")
    assert pipe.is_fifo()
    assert Path(os.devnull).is_char_device()
    assert sorted(found.name for found in tmp_path.iterdir()) == ["link", "pipe"]
