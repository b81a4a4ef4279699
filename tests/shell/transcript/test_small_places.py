"""What has to fit where there is little room: titles of errors, addresses of images, names in heads."""

import pytest
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QLabel

from sophos_desktop.shell.transcript.cards.error_card import ErrorCard, ErrorFacts
from sophos_desktop.shell.transcript.cards.facts import CallFacts, CallState
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from sophos_desktop.shell.transcript.finding.find_bar import FindBar
from tests.shell.transcript.answers import LIGHT, Answer
from tests.shell.transcript.card_rig import calls, card_of, cards_shown, wait_for
from tests.shell.transcript.viewing import PROSE, answer, conversation, settle, shown, until_idle, user

TITLE = "The model `smol:latest` could not be loaded because the machine has not enough memory for it"


def test_the_title_of_an_error_takes_the_room_that_there_is_and_shows_no_backticks() -> None:
    facts = ErrorFacts(TITLE, "Pull it with `ollama pull smol`.", "ENGINE_FAILED", "Try again", "again")
    with cards_shown([card_of("e", facts)], width=720) as rig:
        card = rig.view.card(0)
        assert isinstance(card, ErrorCard)
        title, code, remedy = (label for label in card.findChildren(QLabel) if label.text())
        assert title.text().replace("\u200b", "").startswith("The model “smol:latest” could")
        assert remedy.text().replace("\u200b", "") == "Pull it with “ollama pull smol”."
        assert "`" not in card.accessibleName()
        assert title.width() > code.width()
        lines = title.height() / QFontMetricsF(title.font()).lineSpacing()
        assert lines < 3.5
        assert code.geometry().right() <= card.action_button.geometry().left()


@pytest.mark.parametrize("width", [360, 520, 720, 1000])
@pytest.mark.parametrize(
    "words",
    ["Busy", "The step limit was reached", "The model “gpt-oss:20b” answers 500 again and again", TITLE],
)
def test_the_code_of_an_error_stands_right_behind_its_title_or_below_it(words: str, width: int) -> None:
    with cards_shown(
        [card_of("e", ErrorFacts(words, "Wait.", "ENGINE_FAILED", "Again", "a"))], width=width
    ) as rig:
        card = rig.view.card(0)
        assert isinstance(card, ErrorCard)
        title, code, remedy = (label.geometry() for label in card.findChildren(QLabel) if label.text())
        one_line = QFontMetricsF(card.findChildren(QLabel)[0].font()).horizontalAdvance(words)
        room = remedy.width()
        if one_line + 9 + code.width() <= room:
            assert (code.top(), title.height()) == (title.top(), 20)
            assert 8 <= code.left() - title.left() - one_line <= 10
        else:
            assert (code.left(), code.top()) == (title.left(), title.bottom() + 1)
        assert remedy.top() >= max(title.bottom(), code.bottom())
        assert code.right() < card.action_button.geometry().left()


def test_the_address_of_an_image_ends_before_the_button() -> None:
    address = "data:image/png;base64," + "iVBORw0KGgo" * 100
    for width in (320, 420, 600):
        built = Answer(f"![chart]({address})", width=width)
        words, text = built.block_of("Not loaded").text().split("\u2028")
        assert words == "Image: chart"
        head = len("Not loaded: ")
        taken = QFontMetricsF(LIGHT.font(LIGHT.small_size)).horizontalAdvance(text[:head])
        taken += QFontMetricsF(LIGHT.code_font(LIGHT.code_size)).horizontalAdvance(text[head:])
        assert taken <= width - LIGHT.image_left - LIGHT.image_right + 1
        assert "…" in text[head + 2 : -2]
        assert built.built[0].blocked_images[0].address == address


def test_the_name_of_a_tool_is_found_in_the_head_of_its_card() -> None:
    done = CallFacts("m:0", "files", "append_line", '{"file": "x"}', CallState.DONE, result="fine")
    with cards_shown([user("u", "Go"), calls(done), answer("a", PROSE)]) as rig:
        bar = FindBar(rig.view, rig.theme)
        bar.open_bar()
        bar.field.setText("append_line")
        bar.next()
        wait_for(lambda: bar.finder.is_done and bar.finder.count == 1)
        bar.next()
        settle()
        card = rig.view.card(1)
        assert isinstance(card, ToolCard)
        assert bar.current is not None
        assert card.parts("m:0") == []  # it is seen without opening the call
        picture = card.heads[0].grab().toImage()
        pixels = {
            picture.pixelColor(x, y).name().upper()
            for x in range(picture.width())
            for y in range(picture.height())
        }
        assert rig.theme.tokens.match.upper() in pixels
        bar.close_bar()
        assert card.heads[0].grab().toImage() != picture


def test_nothing_is_new_while_nothing_came() -> None:
    with shown(conversation(40)) as view:
        counted: list[int] = []
        view.newBelow.connect(counted.append)
        view.scroll_by(-300)
        until_idle(view)
        last = len(view.model) - 1
        view.model.replace(last, answer("a39", "Longer than before.\n\n" + PROSE * 30))
        until_idle(view)
        view.model.insert(1, [answer("notice", PROSE * 20)])
        until_idle(view)
        assert not any(counted)
        view.model.insert(len(view.model), [answer("new", PROSE * 10)])
        until_idle(view)
        assert counted[-1] > 0
