"""What is not seen, or turns the direction of what stands beside it, is shown where it may hide what runs."""

import json
from typing import Any

import pytest
from PySide6.QtCore import QMimeData
from PySide6.QtWidgets import QLabel, QTextEdit

from sophos_desktop.shell.chat.cards.arguments import pretty_arguments, read_arguments, short_arguments
from sophos_desktop.shell.chat.cards.card import Answer
from sophos_desktop.shell.chat.item_kinds import UserItem
from sophos_desktop.shell.transcript.cards.facts import short_argument
from sophos_desktop.shell.transcript.cards.json_text import lay_out
from sophos_desktop.shell.transcript.drawing.plain_text import plain_text
from sophos_desktop.shell.transcript.text.drawable_text import drawable, drawable_code, escaped
from tests.shell.question_rig import asked, call, opened
from tests.shell.transcript.answers import Answer as BuiltAnswer
from tests.shell.transcript.viewing import answer, shown, user
from tests.support.card_window import part, press

HIDDEN = (
    *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f\ufeff\x7f\x85\xad\u061c\u2028",
    *"\u2029\u2060\U000e0041\U000e0101\ud800\ufdd0\ufdd2\ufffc\u3164\xa0",
)
EVIL = "https://example.com/\u202egnp.htm"
WRITTEN = "می\u200cخواهم 👨\u200d👩\u200d👧 ❤\ufe0f क्\u200dष é"


@pytest.mark.parametrize("sign", HIDDEN, ids=lambda sign: f"{ord(sign):x}")
def test_a_hidden_sign_is_an_escape_wherever_arguments_are_shown_and_is_read_back(sign: str) -> None:
    args = {"key" + sign: ["a" + sign + "b", {"deep": sign}]}
    for text in (pretty_arguments(args), short_arguments(args), lay_out(args, 80).text):
        assert sign not in text
        assert json.loads(text) == args
    assert lay_out(args, 20, frozenset()).text.count("\\u") >= 3
    assert read_arguments(pretty_arguments(args)) == args
    assert sign not in short_argument(json.dumps({"a": f"x{sign}y"}))


def test_signs_that_a_script_or_an_emoji_is_written_with_stay() -> None:
    assert escaped(WRITTEN) == drawable_code(WRITTEN) == WRITTEN
    assert escaped("a\u200cb\u200d\ufe0f") == "a\\u200cb\\u200d\\ufe0f"


def test_what_is_allowed_is_what_is_shown() -> None:
    question = asked("m:0", url=EVIL, note="a\xa0b \U000e0041")
    with opened() as rig:
        rig.open([UserItem("u", "Go"), call(question)], question)
        answers: list[Answer] = []
        rig.questions.answered.connect(lambda _question, given: answers.append(given))
        field = part(rig.card(), QTextEdit, "approvalArguments")
        assert "example.com/\\u202egnp.htm" in field.toPlainText()
        assert not set(field.toPlainText()) & set(HIDDEN)
        rig.seconds += 10
        press(rig.card(), "allowOnceButton")
    assert [given.args for given in answers] == [None]  # as the model made them: nothing was changed


def test_pasted_arguments_show_what_is_hidden_in_them() -> None:
    question = asked("m:0")
    with opened() as rig:
        rig.open([UserItem("u", "Go"), call(question)], question)
        field = part(rig.card(), QTextEdit, "approvalArguments")
        pasted = QMimeData()
        pasted.setText(f'{{"url": "{EVIL}"}}')
        field.selectAll()
        field.insertFromMimeData(pasted)
        assert field.toPlainText() == '{"url": "https://example.com/\\u202egnp.htm"}'


def test_words_of_a_server_on_a_card_hide_nothing() -> None:
    question = asked("m:0", url=EVIL)
    with opened() as rig:
        rig.open([UserItem("u", "Go"), call(question)], question)
        rig.questions.show_verdict(question, question.args, "- not \u202eallowed", is_known=True)
        said = "".join(label.text() for label in rig.card().findChildren(QLabel))
        assert "not \\u202eallowed" in said
        assert not set(said) & set(HIDDEN)


def test_an_override_turns_nothing_in_an_answer_and_is_copied_as_it_came() -> None:
    text = "before \u202eafter\u202c \u202dagain, \u2067עברית\u2069\u200f"
    built = BuiltAnswer(text)
    drawn = "".join(block.text() for block in built.blocks())
    assert not {"\u202d", "\u202e"} & set(drawn)
    assert {"\u2067", "\u2069", "\u200f"} <= set(drawn)  # scripts need these
    assert built.text == text
    assert len(drawable(text)) == len(text)
    with shown([user("u", text), answer("a", text)]) as view:
        for message in range(2):
            document = view.transcript_layout.documents.get(view.model, message, 0).document
            assert not {"\u202d", "\u202e"} & set(document.toPlainText())
            assert plain_text(document) == text


def test_an_isolate_that_is_never_closed_ends_with_its_paragraph_and_its_cell() -> None:
    text = "one \u2067two\n\nthree four\n\n| a \u2067b | c d |\n|---|---|\n| e \u202bf | g h |"
    built = BuiltAnswer(text)
    for document in built.documents:
        document.documentLayout().documentSize()  # lays it out
    for words in ("three four", "c d", "g h"):
        block = built.block_of(words)
        layout = block.layout()
        assert layout.lineCount() == 1
        line = layout.lineAt(0)
        places: list[Any] = [line.cursorToX(at) for at in range(len(block.text()) + 1)]
        rising = [float(place[0] if isinstance(place, tuple) else place) for place in places]
        assert rising == sorted(rising)
