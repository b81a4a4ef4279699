"""The system prompt is read at each call; a file that cannot be read never fails an answer."""

import hashlib
from pathlib import Path

import pytest

from sophos_desktop.core.settings.system_prompt import SystemPrompt
from sophos_desktop.foundation import resources
from sophos_desktop.foundation.paths import AppPaths, resolve_paths


@pytest.fixture
def paths(data_dir: Path) -> AppPaths:
    """Folders with an awkward name; the config folder is there."""
    resolved = resolve_paths(data_dir, {})
    resolved.config_dir.mkdir(parents=True)
    return resolved


def test_without_a_file_of_the_user_the_shipped_one_counts(paths: AppPaths) -> None:
    text, digest = SystemPrompt(paths).read()
    assert text == resources.shipped_config("system.md").read_text(encoding="utf-8").strip()
    assert digest == hashlib.sha256(text.encode()).hexdigest()


def test_an_edit_counts_at_the_next_call(paths: AppPaths) -> None:
    prompt = SystemPrompt(paths)
    paths.system_file.write_text("Be brief. 🦉\n", encoding="utf-8")
    assert prompt.read()[0] == "Be brief. 🦉"
    paths.system_file.write_text("Be long.", encoding="utf-8")
    assert prompt.read()[0] == "Be long."
    paths.system_file.unlink()
    assert prompt.read()[0].startswith("You are")
    assert prompt.notice is None


def test_an_empty_file_means_no_system_prompt(paths: AppPaths) -> None:
    paths.system_file.write_text(" \n", encoding="utf-8")
    assert SystemPrompt(paths).read() == ("", None)


def test_a_file_that_cannot_be_read_counts_as_it_was(paths: AppPaths) -> None:
    prompt = SystemPrompt(paths)
    paths.system_file.write_text("Be brief.", encoding="utf-8")
    prompt.read()
    paths.system_file.write_bytes(b"one\n\xff\n")
    assert prompt.read()[0] == "Be brief."
    assert prompt.notice is not None
    assert "line 2: it is not UTF-8" in prompt.notice.text


def test_a_folder_in_its_place_gives_the_shipped_one_and_a_notice(paths: AppPaths) -> None:
    paths.system_file.mkdir()
    prompt = SystemPrompt(paths)
    assert prompt.read()[0].startswith("You are")
    assert prompt.notice is not None
    assert str(paths.system_file) in prompt.notice.text
