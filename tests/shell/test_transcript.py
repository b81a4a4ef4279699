"""The transcript writes only what changed, and opens nothing by itself."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider, QWidget

from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.shell.chat.items import AnswerItem, Item, ToolItem, UserItem
from sophos_desktop.shell.chat.transcript import Transcript
from sophos_desktop.shell.theme.follower import Theme

HOSTILE = """
![one](file:///etc/passwd) ![two](http://127.0.0.1:9/x.png) ![three](//host/share/x.png) ![](/etc/passwd)

<img src="file:///etc/passwd"> <style>@import url(http://127.0.0.1:9/x.css)</style>

[local](file:///etc/passwd) [script](javascript:alert(1)) [good](https://example.org/page)
[mail](mailto:a@example.org) [bare](/etc/passwd)
"""


@pytest.fixture
def transcript() -> Iterator[Transcript]:
    host = QWidget()
    host.resize(700, 500)
    made = Transcript(Theme(host), host)
    made.resize(700, 500)
    yield made
    host.deleteLater()


def text_of(transcript: Transcript) -> str:
    """The text, without the empty blocks beside the frames."""
    return "\n".join(line for line in transcript.toPlainText().splitlines() if line.strip())


def written(transcript: Transcript, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys of the items that are written from now on."""
    keys: list[str] = []
    real = transcript._fill

    def fill(frame: Any, item: Item) -> None:
        keys.append(item.key)
        real(frame, item)

    monkeypatch.setattr(transcript, "_fill", fill)
    return keys


def test_only_the_item_that_changed_is_written_again(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = UserItem("u", "question"), AnswerItem("a", "first", live=True)
    transcript.open_items([first, second])
    keys = written(transcript, monkeypatch)
    grown = AnswerItem("a", "first **second**", live=True)
    transcript.show_items([first, grown])
    transcript.show_items([first, grown])
    assert keys == ["a"]
    assert text_of(transcript) == "question\nfirst second"


def test_items_after_a_changed_key_are_replaced(transcript: Transcript) -> None:
    transcript.open_items([UserItem("pending", "hello"), AnswerItem("a", "one")])
    transcript.show_items([UserItem("u1", "hello"), AnswerItem("b", "two"), AnswerItem("c", "three")])
    assert text_of(transcript) == "hello\ntwo\nthree"
    transcript.show_items([UserItem("u1", "hello")])
    assert text_of(transcript) == "hello"


def test_rewriting_any_kind_of_markdown_leaves_no_trace_of_what_was_there(transcript: Transcript) -> None:
    pieces = (
        "# Head\n\n- a\n  1. b\n\n```py\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\n---\nend"
    )
    for length in range(1, len(pieces) + 1):
        transcript.show_items([AnswerItem("a", pieces[:length], live=True)])
    streamed = transcript.document().toHtml()
    transcript.open_items([AnswerItem("a", pieces, live=True)])
    assert streamed == transcript.document().toHtml()
    transcript.show_items([AnswerItem("a", "plain")])
    assert text_of(transcript) == "plain"


def test_a_user_message_is_plain_text(transcript: Transcript) -> None:
    transcript.open_items([UserItem("u", "**not bold** <b>x</b>\n# no head")])
    assert text_of(transcript) == "**not bold** <b>x</b>\n# no head"


def test_marks_say_what_is_missing(transcript: Transcript) -> None:
    transcript.open_items(
        [
            AnswerItem("a", "half", state=MessageState.INCOMPLETE),
            AnswerItem("b", "cut", state=MessageState.STOPPED),
            ToolItem("t", "files", "append", '{"a": 1}', "interrupted", ""),
        ]
    )
    text = text_of(transcript)
    assert "Incomplete" in text
    assert "Stopped by you" in text
    assert "Outcome unknown" in text


def test_thinking_folds_away_behind_its_line_and_opens_by_its_link(transcript: Transcript) -> None:
    transcript.open_items([AnswerItem("a", "", thinking="deep thought", live=True)])
    assert "deep thought" in text_of(transcript)
    transcript.show_items([AnswerItem("a", "answer", thinking="deep thought")])
    assert "deep thought" not in text_of(transcript)
    transcript.anchorClicked.emit(QUrl("sophos-fold:a"))
    assert "deep thought" in text_of(transcript)


def test_nothing_in_an_answer_makes_qt_load_anything(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        Transcript, "loadResource", lambda _self, _kind, name: asked.append(QUrl(name).toString())
    )
    transcript.open_items(
        [AnswerItem("a", HOSTILE), UserItem("u", HOSTILE), ToolItem("t", "s", "x", HOSTILE)]
    )
    transcript.grab()
    assert asked == []
    assert "[image: two] http://127.0.0.1:9/x.png" in transcript.toPlainText()


def test_a_resource_that_is_asked_for_all_the_same_is_empty(transcript: Transcript, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    kind = QTextDocument.ResourceType.HtmlResource.value
    assert transcript.loadResource(kind, QUrl.fromLocalFile(str(secret))) is None


def test_only_web_and_mail_links_are_links_and_a_click_only_tells(transcript: Transcript) -> None:
    transcript.open_items([AnswerItem("a", HOSTILE)])
    anchors: set[str] = set()
    block = transcript.document().begin()
    while block.isValid():
        for part in block.textFormats():
            if part.format.isAnchor():
                anchors.add(part.format.anchorHref())
        block = block.next()
    assert anchors == {"https://example.org/page", "mailto:a@example.org"}
    chosen: list[str] = []
    transcript.link_chosen.connect(chosen.append)
    for address in ("file:///etc/passwd", "javascript:alert(1)", "https://example.org/page"):
        transcript.anchorClicked.emit(QUrl(address))
    assert chosen == ["https://example.org/page"]


def test_a_long_conversation_shows_its_end_first_and_the_rest_on_demand(transcript: Transcript) -> None:
    items: list[Item] = [UserItem(str(number), f"message {number}") for number in range(300)]
    transcript.open_items(items)
    assert len(transcript.shown_items) == 120
    assert "Show earlier messages (180)" in transcript.toPlainText()
    items.append(UserItem("new", "newest"))
    transcript.show_items(items)
    assert len(transcript.shown_items) == 121
    transcript.anchorClicked.emit(QUrl("sophos-earlier:"))
    transcript.anchorClicked.emit(QUrl("sophos-earlier:"))
    assert len(transcript.shown_items) == 301


def test_who_reads_further_up_is_not_moved_by_what_arrives(transcript: Transcript) -> None:
    transcript.window().show()
    items: list[Item] = [UserItem(str(number), "line\n" * 5) for number in range(20)]
    transcript.open_items(items)
    bar = transcript.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    bar.triggerAction(QAbstractSlider.SliderAction.SliderPageStepSub)
    read = bar.value()
    assert read < bar.maximum()
    transcript.show_items([*items, AnswerItem("a", "more\n\n" * 30, live=True)])
    assert bar.value() == read
    bar.triggerAction(QAbstractSlider.SliderAction.SliderToMaximum)
    transcript.show_items([*items, AnswerItem("a", "more\n\n" * 40, live=True)])
    assert bar.value() == bar.maximum()
    transcript.window().hide()


def test_the_end_stays_in_view_while_the_window_changes_its_size(transcript: Transcript) -> None:
    transcript.window().show()
    items: list[Item] = [AnswerItem(str(number), "many words " * 120) for number in range(12)]
    transcript.open_items(items)
    bar = transcript.verticalScrollBar()
    for width, height in ((420, 500), (900, 300), (500, 700)):
        transcript.resize(width, height)
        assert bar.value() == bar.maximum() > 0
    transcript.window().hide()


CALL = ToolItem("m:0", "memory", "search_nodes", '{"query": "orders"}', "ok", "one\ntwo")


def follow(transcript: Transcript, address: str) -> None:
    transcript.anchorClicked.emit(QUrl(address))


def test_a_done_call_is_one_line_until_its_link_opens_it(transcript: Transcript) -> None:
    transcript.open_items([CALL])
    assert text_of(transcript) == '▸  memory  search_nodes  {"query": "orders"}\t✓ Done'
    follow(transcript, "sophos-fold:m:0")
    assert text_of(transcript) == (
        '▾  memory  search_nodes\t✓ Done\nArguments\t{"query": "orders"}\nResult\tone\ntwo'
    )
    follow(transcript, "sophos-fold:m:0")
    assert "Result" not in text_of(transcript)


def test_a_failed_call_is_open_and_stays_as_the_reader_left_it(transcript: Transcript) -> None:
    failed = replace(CALL, status="error", result="no such node")
    transcript.open_items([failed])
    assert "Error\tno such node" in text_of(transcript)
    follow(transcript, "sophos-fold:m:0")
    assert "no such node" not in text_of(transcript)
    transcript.show_items([replace(failed, result="no such node at all")])
    assert "no such node" not in text_of(transcript)


def test_a_call_that_runs_shows_no_result(transcript: Transcript) -> None:
    transcript.open_items([replace(CALL, status="running", result="")])
    follow(transcript, "sophos-fold:m:0")
    assert "Running…" in text_of(transcript)
    assert "Result" not in text_of(transcript)


def test_a_big_result_shows_its_first_lines_and_all_on_demand(transcript: Transcript) -> None:
    lines = [f"line {number}" for number in range(1, 61)]
    transcript.open_items([replace(CALL, result="\n".join(lines))])
    follow(transcript, "sophos-fold:m:0")
    text = text_of(transcript)
    assert "line 12\n12 of 60 lines, 470 bytes  Show all" in text
    assert "line 13" not in text
    follow(transcript, "sophos-all:m:0/result")
    assert "line 60" in text_of(transcript)
    assert "Show all" not in text_of(transcript)


def test_one_endless_line_is_cut_too(transcript: Transcript) -> None:
    transcript.open_items([replace(CALL, result="x" * 50_000)])
    follow(transcript, "sophos-fold:m:0")
    assert text_of(transcript).count("x") == 1_200
    follow(transcript, "sophos-all:m:0/result")
    assert text_of(transcript).count("x") == 50_000


def test_blocks_open_by_keyboard_and_the_keyboard_stays_on_its_link(transcript: Transcript) -> None:
    transcript.open_items([AnswerItem("a", "Look."), CALL])
    QTest.keyClick(transcript, Qt.Key.Key_Tab)
    QTest.keyClick(transcript, Qt.Key.Key_Return)
    assert "Result\tone" in text_of(transcript)
    QTest.keyClick(transcript, Qt.Key.Key_Return)
    assert "Result\tone" not in text_of(transcript)


def test_a_link_of_an_answer_cannot_open_a_block(transcript: Transcript) -> None:
    transcript.open_items([AnswerItem("a", "[open](sophos-fold:m:0) [all](sophos-all:m:0/result)"), CALL])
    links = re.findall(r'href="([^"]*)"', transcript.toHtml())
    assert set(links) == {"sophos-fold:m:0"}
    assert text_of(transcript).startswith("open all\n▸")
