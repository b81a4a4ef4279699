"""Where everything lies."""

import sys
from pathlib import Path

import pytest

from sophos_desktop.foundation.display import has_display
from sophos_desktop.foundation.paths import prepare, resolve_paths
from sophos_desktop.foundation.resources import resource, root, shipped_config, starter_model


def test_one_folder_holds_everything_when_it_is_given(tmp_path: Path) -> None:
    paths = resolve_paths(tmp_path, {"SOPHOS_DATA_DIR": "/elsewhere"})
    assert paths.database == tmp_path / "sophos.db"
    assert paths.settings_file == tmp_path / "config" / "settings.toml"
    assert paths.mcp_file == tmp_path / "config" / "mcp.json"
    assert paths.system_file == tmp_path / "config" / "system.md"
    assert paths.memory_file == tmp_path / "memory.jsonl"
    assert paths.log_dir == tmp_path / "logs"
    assert paths.owners_dir == tmp_path / "owners"
    assert paths.backups_dir == tmp_path / "backups"


def test_the_variable_names_the_folder_and_an_empty_one_does_not(tmp_path: Path) -> None:
    assert resolve_paths(None, {"SOPHOS_DATA_DIR": str(tmp_path)}).data_dir == tmp_path
    assert resolve_paths(None, {"SOPHOS_DATA_DIR": ""}) == resolve_paths(None, {})


def test_without_either_the_folders_are_the_systems_own_and_carry_the_apps_name() -> None:
    paths = resolve_paths(None, {})
    for folder in (paths.data_dir, paths.config_dir, paths.log_dir):
        assert folder.is_absolute()
        assert "sophos-desktop" in folder.parts


def test_paths_are_absolute_and_a_tilde_is_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve_paths(Path("here"), {}).data_dir == tmp_path / "here"
    assert resolve_paths(None, {"SOPHOS_DATA_DIR": "~/there"}).data_dir == tmp_path / "there"
    assert resolve_paths(Path("~nobody-of-that-name/x"), {}).data_dir.is_absolute()


@pytest.mark.parametrize("name", ["with space", "a#b", "100%", "🦉", "ümläut", "?query=1"])
def test_a_folder_may_have_any_name(name: str, tmp_path: Path) -> None:
    paths = resolve_paths(tmp_path / name / "deeper", {})
    prepare(paths)
    paths.database.write_bytes(b"")
    assert paths.database.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_folders_are_made_for_this_user_alone_and_an_existing_one_keeps_its_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    shared.chmod(0o755)
    paths = resolve_paths(tmp_path / "new", {})
    prepare(paths)
    prepare(paths)
    prepare(resolve_paths(shared, {}))
    for folder in (paths.data_dir, paths.owners_dir, paths.backups_dir, paths.config_dir):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert shared.stat().st_mode & 0o777 == 0o755


def test_a_file_where_the_folder_should_be_is_an_error_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        prepare(resolve_paths(tmp_path / "file", {}))


def test_shipped_files_are_found_in_a_checkout() -> None:
    assert shipped_config("mcp.json") == root() / "config" / "mcp.json"
    assert resource("icons/app.svg") == root() / "resources" / "icons" / "app.svg"
    assert (root() / "pyproject.toml").is_file()


def test_shipped_files_and_the_model_are_found_in_the_frozen_app(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert shipped_config("mcp.json") == tmp_path / "config" / "mcp.json"
    assert starter_model() is None
    model = tmp_path / "resources" / "models" / "model.gguf"
    model.parent.mkdir(parents=True)
    model.write_bytes(b"GGUF")
    assert starter_model() == model


def test_a_display_is_one_that_qt_can_use() -> None:
    assert has_display({"DISPLAY": ":0"}, "linux")
    assert has_display({"WAYLAND_DISPLAY": "wayland-0"}, "linux")
    assert has_display({"QT_QPA_PLATFORM": "offscreen"}, "linux")
    assert not has_display({"DISPLAY": ""}, "linux")
    assert has_display({}, "win32")
    assert has_display({}, "darwin")
