"""Only regular files of a sensible size are read."""

import os
from pathlib import Path

import pytest

from sophos_desktop.foundation.small_file import LARGEST_BYTES, read_small_text


def test_a_text_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfone \xc3\xa9")
    assert read_small_text(file) == "one é"


def test_what_is_not_there_is_said_as_such(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_small_text(tmp_path / "a.txt")


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        read_small_text(tmp_path / "pipe")


def test_a_device_and_a_huge_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "zero").symlink_to("/dev/zero")
    with pytest.raises(OSError, match="no regular file"):
        read_small_text(tmp_path / "zero")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(LARGEST_BYTES + 1)
    with pytest.raises(OSError, match="larger"):
        read_small_text(tmp_path / "huge")
