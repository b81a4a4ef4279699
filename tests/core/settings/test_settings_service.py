"""Settings come in layers, say where they come from, and a bad file spoils only what is bad in it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sophos_desktop.core.domain.errors import ErrorCode, NoticeCode, SophosError
from sophos_desktop.core.settings.models import ADAPTERS, Settings
from sophos_desktop.core.settings.service import SettingsService
from sophos_desktop.foundation.paths import AppPaths, resolve_paths

Make = Callable[..., SettingsService]


@pytest.fixture
def paths(data_dir: Path) -> AppPaths:
    """Folders with an awkward name; the config folder is there."""
    resolved = resolve_paths(data_dir, {})
    resolved.config_dir.mkdir(parents=True)
    return resolved


@pytest.fixture
def make(paths: AppPaths) -> Make:
    """Settings from a user's file with this text and these variables."""

    def made(text: str | None = None, **environ: str) -> SettingsService:
        if text is not None:
            paths.settings_file.write_text(text, encoding="utf-8")
        return SettingsService(paths, environ)

    return made


def the_notice(service: SettingsService, code: NoticeCode = NoticeCode.CONFIG_INVALID) -> str:
    """The text of the only notice."""
    (notice,) = service.notices
    assert notice.code == code
    return notice.text


def test_the_shipped_defaults_are_the_programs_defaults_and_silent(make: Make) -> None:
    service = make()
    assert service.current == Settings()
    assert service.notices == ()
    assert {item.source for item in service.items()} == {"default"}
    assert [item.key for item in service.items()] == list(ADAPTERS)


def test_the_users_file_is_above_the_defaults_and_the_environment_above_both(
    make: Make, paths: AppPaths
) -> None:
    service = make(
        '[engine]\nkind = "ollama"\nmodel = "a"\n[answer]\nnum_ctx = 4096\n',
        SOPHOS_ENGINE__MODEL="b",
        SOPHOS_ANSWER__TEMPERATURE="0.5",
        SOPHOS_ANSWER__THINKING="false",
        SOPHOS_DATA_DIR="/elsewhere",
    )
    assert service.current.engine.kind == "ollama"
    assert service.current.engine.model == "b"
    assert service.current.answer.num_ctx == 4096
    assert service.current.answer.temperature == 0.5
    assert service.current.answer.thinking is False
    assert service.source_of("engine.kind") == str(paths.settings_file)
    assert service.source_of("engine.model") == "SOPHOS_ENGINE__MODEL"
    assert service.source_of("ui.theme") == "default"
    assert service.notices == ()


def test_ollama_host_counts_where_no_host_is_set(make: Make) -> None:
    service = make(OLLAMA_HOST="box:1234")
    assert service.current.engine.host == "box:1234"
    assert service.source_of("engine.host") == "OLLAMA_HOST"
    chosen = make('[engine]\nhost = "mine"\n', OLLAMA_HOST="box:1234")
    assert chosen.current.engine.host == "mine"


@pytest.mark.parametrize("text", [None, "", "\n# nothing\n", "\ufeff[ui]\n"])
def test_a_missing_or_empty_file_is_no_problem(make: Make, text: str | None) -> None:
    service = make(text)
    assert service.current == Settings()
    assert service.notices == ()


def test_a_file_that_is_not_toml_is_left_out_with_path_and_line(make: Make, paths: AppPaths) -> None:
    service = make("[engine]\nkind = \n")
    assert service.current == Settings()
    assert the_notice(service).startswith(f"{paths.settings_file}, line 2: it is not TOML")


def test_a_key_twice_is_told(make: Make) -> None:
    assert "not TOML" in the_notice(make('[ui]\ntheme = "dark"\ntheme = "light"\n'))


def test_a_file_that_is_not_utf8_is_left_out(make: Make, paths: AppPaths) -> None:
    paths.settings_file.write_bytes(b"[ui]\ntheme = '\xff'\n")
    assert "not UTF-8" in the_notice(make())


def test_a_folder_in_the_place_of_the_file_is_left_out(make: Make, paths: AppPaths) -> None:
    paths.settings_file.mkdir()
    service = make()
    assert "cannot be read" in the_notice(service)
    with pytest.raises(SophosError) as caught:
        service.set("ui.theme", "dark")
    assert caught.value.code is ErrorCode.BAD_REQUEST


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('kind = "gpt"', 'line 3: engine.kind cannot be "gpt"; it must be "auto", "ollama" or "starter"'),
        ("model = 5", "line 3: engine.model cannot be 5; it must be a text in quotes"),
        ("speed = 1", "line 3: there is no setting engine.speed; [engine] holds kind, host, model and keep"),
    ],
)
def test_a_bad_key_is_left_out_with_its_line_and_the_rest_is_used(make: Make, line: str, words: str) -> None:
    service = make(f'[engine]\nhost = "mine"\n{line}\n[ui]\ntheme = "dark"\n')
    assert words in the_notice(service)
    assert service.current.engine.kind == "auto"
    assert service.current.engine.host == "mine"
    assert service.current.ui.theme == "dark"


@pytest.mark.parametrize("text", ["engine = 5\n", "engine = [1]\n", "[[engine]]\nkind = 'auto'\n"])
def test_a_section_of_the_wrong_shape_is_told(make: Make, text: str) -> None:
    service = make(text + "[ui]\ntheme = 'dark'\n" if "[[" not in text else text)
    assert "engine must be a section" in the_notice(service)
    assert service.current.engine.kind == "auto"


def test_an_unknown_section_is_told_and_kept_on_write(make: Make, paths: AppPaths) -> None:
    service = make("# mine\n[future]\nx = 1 # keep\n")
    assert "line 2: there is no section [future]" in the_notice(service)
    service.set("ui.theme", "dark")
    text = paths.settings_file.read_text(encoding="utf-8")
    assert "# mine" in text
    assert "x = 1 # keep" in text
    assert service.current.ui.theme == "dark"


@pytest.mark.parametrize("limit", [0, -3])
def test_a_step_limit_that_lets_nothing_run_is_25(make: Make, limit: int) -> None:
    service = make(f"[answer]\nstep_limit = {limit}\n")
    assert service.current.answer.step_limit == 25
    told = the_notice(service, NoticeCode.STEP_LIMIT_INVALID)
    assert f"line 2: answer.step_limit cannot be {limit}, since no run could begin" in told


def test_a_bad_variable_is_told_by_its_name(make: Make) -> None:
    service = make(SOPHOS_ANSWER__STEP_LIMIT="many", SOPHOS_ENGINE__KIND=" ")
    told = 'SOPHOS_ANSWER__STEP_LIMIT: answer.step_limit cannot be "many"; it must be a whole number'
    assert the_notice(service) == told
    told = "SOPHOS_NO__SUCH: there is no setting no.such; the sections are engine, answer, tools and ui"
    assert the_notice(make(SOPHOS_NO__SUCH="1")) == told


def test_a_file_that_goes_bad_counts_as_it_was(make: Make, paths: AppPaths) -> None:
    service = make('[ui]\ntheme = "dark"\n')
    paths.settings_file.write_text("[ui\n", encoding="utf-8")
    assert service.reload().ui.theme == "dark"
    assert "not TOML" in the_notice(service)
    paths.settings_file.write_text("", encoding="utf-8")
    assert service.reload().ui.theme == "system"
    assert service.notices == ()


def test_setting_a_value_writes_the_file_with_its_comments(make: Make, paths: AppPaths) -> None:
    service = make('# top\n[engine]\nkind = "auto" # why\n')
    service.set("engine.kind", "starter")
    service.set("answer.num_ctx", "2048")
    service.set("answer.thinking", "false")
    text = paths.settings_file.read_text(encoding="utf-8")
    assert "# top" in text
    assert 'kind = "starter" # why' in text
    again = SettingsService(paths, {})
    assert again.current.engine.kind == "starter"
    assert again.current.answer.num_ctx == 2048
    assert again.current.answer.thinking is False


def test_the_first_setting_makes_file_and_folder(data_dir: Path) -> None:
    paths = resolve_paths(data_dir, {})
    service = SettingsService(paths, {})
    service.set("ui.theme", "light")
    assert paths.settings_file.read_text(encoding="utf-8") == '[ui]\ntheme = "light"\n'


def test_an_empty_text_takes_a_setting_out_again(make: Make) -> None:
    service = make("[answer]\nnum_ctx = 4096\n")
    service.set("answer.num_ctx", "")
    service.set("engine.model", "")
    assert service.current.answer.num_ctx is None
    assert service.source_of("answer.num_ctx") == "default"


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("engine.kind", "gpt"),
        ("answer.num_ctx", "12"),
        ("answer.step_limit", "0"),
        ("answer.temperature", "hot"),
        ("no.such", "1"),
        ("engine", "1"),
    ],
)
def test_a_bad_value_or_key_is_refused_and_nothing_is_written(
    make: Make, paths: AppPaths, key: str, text: str
) -> None:
    service = make()
    with pytest.raises(SophosError) as caught:
        service.set(key, text)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert key in caught.value.title
    assert not paths.settings_file.exists()


@pytest.mark.parametrize("text", ["[ui\n", "ui = 5\n"])
def test_a_file_that_cannot_be_understood_is_not_overwritten(make: Make, paths: AppPaths, text: str) -> None:
    service = make(text)
    with pytest.raises(SophosError):
        service.set("ui.theme", "dark")
    assert paths.settings_file.read_text(encoding="utf-8") == text


def test_a_pipe_in_the_place_of_the_file_is_a_notice_and_not_a_hang(paths: AppPaths, make: Make) -> None:
    os.mkfifo(paths.settings_file)
    service = make()
    assert [notice.code for notice in service.notices] == [NoticeCode.CONFIG_INVALID]
    assert service.current == Settings()
