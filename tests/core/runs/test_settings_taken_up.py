"""Settings that another process, or an editor, writes hold here within a moment, and are told of."""

import asyncio
import os
from pathlib import Path

from sophos_desktop.core.settings.service import SettingsService
from tests.support.core_fixture import OLLAMA, PATIENCE_SECONDS, open_test_core, paths_of
from tests.support.ollama_server import OllamaServer


async def test_what_another_process_sets_is_told_and_in_force(data_dir: Path, server: OllamaServer) -> None:
    async with open_test_core(data_dir, server) as core:
        told = asyncio.Event()
        leave = core.neighbours.subscribe(told.set)
        SettingsService(paths_of(data_dir), {}).set("answer.num_ctx", "2048")
        async with asyncio.timeout(PATIENCE_SECONDS):
            while core.settings.current.answer.num_ctx != 2048:
                told.clear()
                await told.wait()
        leave()


def test_nothing_is_read_while_nothing_changes_and_only_other_values_count(data_dir: Path) -> None:
    paths = paths_of(data_dir)
    ours, theirs = SettingsService(paths, {}), SettingsService(paths, {})
    assert not ours.take_up()
    theirs.set("ui.theme", "dark")
    assert ours.take_up()
    assert ours.value_of("ui.theme") == "dark"
    assert not ours.take_up()
    paths.settings_file.write_text(paths.settings_file.read_text() + "# a comment\n")
    assert not ours.take_up()
    ours.set("ui.theme", "light")
    assert not ours.take_up(), "what is set here is in force already"
    paths.settings_file.unlink()
    assert ours.take_up()
    assert ours.value_of("ui.theme") == "system"


def test_a_file_that_goes_bad_leaves_what_was_good(data_dir: Path) -> None:
    paths = paths_of(data_dir)
    paths.config_dir.mkdir(parents=True)
    paths.settings_file.write_text(OLLAMA)
    ours = SettingsService(paths, {})
    paths.settings_file.write_text("[engine\n")
    assert not ours.take_up()
    assert ours.current.engine.model == "smol:latest"
    assert len(ours.notices) == 1
    os.truncate(paths.settings_file, 0)
    assert ours.take_up()
    assert ours.notices == ()
