"""What the list of the model picker says, row by row, and what the picker itself says."""

from dataclasses import replace

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.model_choices import EngineModels, ModelOrigin, ModelStanding
from sophos_desktop.core.domain.specs import EngineChoice, EngineKind
from sophos_desktop.shell.chat.composing.model_rows import RowKind, picked, rows_of, size_words
from sophos_desktop.shell.theme.icons import Mark
from tests.support.fake_models import BY_SETTINGS, some_models

OLLAMA, STARTER = EngineKind.OLLAMA, EngineKind.STARTER
DOWN = SophosError(ErrorCode.ENGINE_UNREACHABLE, "Ollama at 127.0.0.1:11434 does not answer", "Start it")


def standing(origin: ModelOrigin, model: str = "qwen3:8b") -> ModelStanding:
    following = BY_SETTINGS if origin is ModelOrigin.SETTINGS else EngineChoice(OLLAMA, model)
    return ModelStanding(origin, following, BY_SETTINGS)


def test_the_settings_come_first_then_every_model_with_all_that_is_known() -> None:
    rows = rows_of(standing(ModelOrigin.SETTINGS), some_models())
    assert [row.title for row in rows] == [
        "As in the settings (qwen3:8b)",
        "qwen3:8b",
        "llama3.2-vision:11b",
        "mistral-nemo:12b",
        "smollm2:135m",
    ]
    assert [row.is_chosen for row in rows] == [True, False, False, False, False]
    assert rows[1].detail == "Ollama · 5.2 GB · context 40,960 tokens"
    assert rows[1].marks == (Mark.TOOL, Mark.THINKING)
    assert rows[1].abilities == "can use tools, can think before it answers"
    assert rows[1].words == f"qwen3:8b, {rows[1].detail}, {rows[1].abilities}, loaded"
    assert rows[2].abilities == "can see images"
    assert rows[4].detail == "Starter · 98 MB · context 8,192 tokens"
    assert all(row.can_be_chosen for row in rows)


def test_the_chosen_model_is_marked_and_a_name_without_tag_means_the_latest() -> None:
    rows = rows_of(standing(ModelOrigin.CHOSEN, "mistral-nemo:12b"), some_models())
    assert [row.title for row in rows if row.is_chosen] == ["mistral-nemo:12b"]
    ollama, _ = some_models()
    named = EngineModels(OLLAMA, (replace(ollama.models[0], name="plain:latest"),))
    rows = rows_of(standing(ModelOrigin.LAST_USED, "plain"), [named])
    assert [row.title for row in rows if row.is_chosen] == ["plain:latest"]


def test_while_nothing_is_known_it_says_that_it_looks() -> None:
    assert [row.kind for row in rows_of(None, None)] == [RowKind.LOOKING]
    rows = rows_of(standing(ModelOrigin.SETTINGS), None)
    assert [row.title for row in rows] == ["As in the settings (qwen3:8b)", "Looking…"]
    rows = rows_of(standing(ModelOrigin.SETTINGS), some_models(), is_looking=True)
    assert rows[-1].kind is RowKind.LOOKING
    assert not rows[-1].can_be_chosen


def test_an_engine_that_is_down_says_so_with_its_remedy_and_hides_no_other() -> None:
    _, starter = some_models()
    rows = rows_of(standing(ModelOrigin.SETTINGS), [EngineModels(OLLAMA, problem=DOWN), starter])
    assert [row.title for row in rows[1:]] == ["smollm2:135m", DOWN.title]
    assert rows[-1].detail == "Start it"
    assert not rows[-1].can_be_chosen


def test_a_chosen_model_that_is_gone_is_said_only_if_its_engine_answered() -> None:
    chosen = standing(ModelOrigin.CHOSEN, "gone:7b")
    rows = rows_of(chosen, some_models())
    assert [(row.kind, row.title) for row in rows if row.is_chosen] == [(RowKind.GONE, "gone:7b")]
    shown = picked(chosen, some_models())
    assert shown.is_gone
    assert "has no model gone:7b any more" in shown.reason
    down = [EngineModels(OLLAMA, problem=DOWN)]
    assert not picked(chosen, down).is_gone
    assert not picked(chosen, None).is_gone
    assert not any(row.kind is RowKind.GONE for row in rows_of(chosen, down))


def test_what_is_typed_filters_by_parts_of_name_and_engine_in_any_case() -> None:
    settings = standing(ModelOrigin.SETTINGS)
    assert [row.title for row in rows_of(settings, some_models(), "VISION")] == ["llama3.2-vision:11b"]
    assert [row.title for row in rows_of(settings, some_models(), "ollama 12b")] == ["mistral-nemo:12b"]
    (nothing,) = rows_of(settings, some_models(), "gpt")
    assert not nothing.can_be_chosen
    assert nothing.title == "No model has that in its name"


def test_the_picker_says_why_a_model_answers_and_what_it_can_do() -> None:
    shown = picked(standing(ModelOrigin.SETTINGS), some_models())
    assert (shown.name, shown.engine) == ("qwen3:8b", OLLAMA)
    assert shown.reason == "As in the settings: It was used last"
    assert shown.marks == (Mark.TOOL, Mark.THINKING)
    assert picked(standing(ModelOrigin.CHOSEN), None).reason == "Chosen for this conversation"
    nobody = ModelStanding(ModelOrigin.SETTINGS, None, None, DOWN)
    assert picked(nobody, None).name == "No model"
    assert DOWN.title in picked(nobody, None).reason


def test_sizes_are_said_as_shops_of_models_say_them() -> None:
    assert [size_words(size) for size in (5, 98_000_000, 999_400_000, 1_000_000_000, 5_249_000_000)] == [
        "1 MB",
        "98 MB",
        "999 MB",
        "1.0 GB",
        "5.2 GB",
    ]
