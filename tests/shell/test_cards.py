"""The cards by themselves: what they read, what they say, and which keys and clicks decide."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTextEdit, QWidget

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.policy import Permission, Policy
from sophos_desktop.shell.chat.cards.arguments import (
    Address,
    ArgumentsUnreadable,
    address_of,
    pretty_arguments,
    read_arguments,
)
from sophos_desktop.shell.chat.cards.card import Answer, Card
from sophos_desktop.shell.chat.cards.card_words import always_text, known_of, short_problem
from sophos_desktop.shell.chat.chat_style import chat_style
from sophos_desktop.shell.chat.item_kinds import ToolItem
from sophos_desktop.shell.chat.transcript import Transcript
from sophos_desktop.shell.chat.waiting_notice import WaitingNotice, waiting_sentence
from sophos_desktop.shell.diagnostics.default_words import default_words
from sophos_desktop.shell.diagnostics.permissions_dialog import permission_words
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.tokens import LIGHT
from tests.shell.transcript.viewing import settle
from tests.support.card_window import cards, part, press
from tests.support.fake_core import FakeCore
from tests.support.fake_core_questions import FakeQuestion
from tests.support.window import WindowRig, open_window, turns, until

URL = "https://data.example.org/exports?region=eu"


def question(name: str = "m1:0", **more: Any) -> FakeQuestion:
    given: dict[str, Any] = {"server": "files", "tool": "append", "args": {"path": "notes.txt"}, **more}
    return FakeQuestion("c", "r", name, why=given.pop("why", "approval"), **given)


# What a person edits is read in one way only


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Line 1, column 1: expected value"),
        ('{"a": 1,}', "Line 1, column"),
        ('{\n  "a": tru\n}', "Line 2, column 8: expected value"),
        ("[1]", "The arguments are an object"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "“c” stands there twice"),
        ('{"a": NaN}', "NaN is not a value of JSON"),
        ("[" * 200_000, "The arguments are nested too deeply"),
    ],
)
def test_arguments_that_cannot_be_read_say_where_and_why(text: str, said: str) -> None:
    with pytest.raises(ArgumentsUnreadable) as caught:
        read_arguments(text)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("args", [{}, {"text": "ä\u2028\n", "n": [1, 2.5, None, True], "deep": {"x": {}}}])
def test_arguments_are_read_as_they_are_shown(args: Mapping[str, Any]) -> None:
    assert read_arguments(pretty_arguments(args)) == args


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        (URL, ("https://", "data.example.org", "/exports?region=eu")),
        ("https://good.org@evil.org/good.org", ("https://good.org@", "evil.org", "/good.org")),
        ("https://good.org:80@EVIL.org:8080?x=@y", ("https://good.org:80@", "EVIL.org", ":8080?x=@y")),
        ("https://[::1]/x", ("https://[", "::1", "]/x")),
        ("data.example.org", ("data.example.org", "", "")),
        ("https://a\u202e.org/\n", ("https://", "a\\u202e.org", "/\\n")),
        ("https://[bad/", ("https://[bad/", "", "")),
    ],
)
def test_an_address_is_shown_whole_with_the_host_where_it_goes(url: str, parts: tuple[str, str, str]) -> None:
    assert address_of({"url": url}) == Address(*parts)


def test_words_say_what_is_known() -> None:
    now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    assert known_of(datetime(2026, 11, 30, 10, 41, 52, tzinfo=UTC), now).startswith(
        "The call was sent at 10:41:52 and no"
    )
    assert "on 2026-11-29 at 10:41:52" in known_of(datetime(2026, 11, 29, 10, 41, 52, tzinfo=UTC), now)
    assert known_of(None, now).startswith("The call was sent and no result")
    assert short_problem("Heading:\n- a must be text\n- and 2 more") == "a must be text\nand 2 more"
    assert short_problem("No heading") == "No heading"
    assert always_text("a.org") == "Al&ways allow a.org"


def test_permissions_and_defaults_are_said_in_words() -> None:
    made = Permission("fetch", "fetch", "a.org", "f", Policy.ALLOW, "2026-11-30T10:41:00.000Z")
    words = permission_words(made, datetime(2026, 11, 30, tzinfo=UTC))
    assert words == "fetch · fetch: always allowed for a.org\nDecided on 2026-11-30 at 10:41"
    every = permission_words(Permission("x", "", "", "", Policy.DENY), datetime(2026, 11, 30, tzinfo=UTC))
    assert every == "x · all tools: forbidden"
    said = [
        default_words("x", "deny", "allow", is_built_in=False, is_trusted=True),
        default_words("x", None, "allow", is_built_in=False, is_trusted=False),
        default_words("memory", None, "auto", is_built_in=True, is_trusted=True),
        default_words("fetch", None, "auto", is_built_in=True, is_trusted=True),
        default_words("x", None, "auto", is_built_in=False, is_trusted=True),
        default_words("memory", None, "auto", is_built_in=False, is_trusted=False),
    ]
    assert len(set(said)) == len(said)
    assert said[-1] == "asks about each call"


# Keys and clicks


class Moment:
    """A clock that stands still until it is told."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


class Shown:
    """Questions in a transcript in a window of its own."""

    def __init__(self) -> None:
        self.window = QWidget()
        self.moment = Moment()
        self.theme = Theme(self.window, (chat_style,))
        self.before = QPushButton("before", self.window)
        self.transcript = Transcript(self.theme, self.window, self.moment)
        self.transcript.setGeometry(0, 40, 640, 860)
        self.questions = self.transcript.questions
        self.questions.set_tab_after(self.before)
        self.answers: list[tuple[str, Answer]] = []
        self.questions.answered.connect(
            lambda asked, answer: self.answers.append((asked.tool_call_id, answer))
        )
        self.window.resize(640, 900)
        self.window.show()

    @property
    def cards(self) -> list[Card]:
        return self.questions.cards

    def show(self, *questions: FakeQuestion) -> None:
        self.questions.show_questions(questions)
        items = [
            ToolItem(
                one.tool_call_id,
                one.server,
                one.tool,
                "{}",
                "uncertain" if one.why == "uncertain" else "asked",
            )
            for one in questions
        ]
        self.transcript.show_items(items)
        settle()

    def key(self, name: str, key: Qt.Key, reason: Qt.FocusReason = Qt.FocusReason.TabFocusReason) -> None:
        button = part(self.cards[0], QPushButton, name)
        self.before.setFocus()
        button.setFocus(reason)
        QTest.keyClick(button, key)


@pytest.fixture(name="shown")
def _shown() -> Iterator[Shown]:
    made = Shown()
    yield made
    made.window.close()
    made.window.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_a_key_decides_only_a_moment_after_the_card_appeared(shown: Shown) -> None:
    shown.show(question())
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
        shown.key("allowOnceButton", key)
    shown.moment.seconds += 0.29
    shown.key("allowOnceButton", Qt.Key.Key_Space)
    assert shown.answers == []
    shown.moment.seconds += 0.02
    shown.key("allowOnceButton", Qt.Key.Key_Return)
    assert [(name, answer.kind) for name, answer in shown.answers] == [("m1:0", "allow")]


def test_a_key_decides_only_where_the_person_went(shown: Shown) -> None:
    shown.show(question())
    shown.moment.seconds += 10
    shown.key("allowOnceButton", Qt.Key.Key_Space, Qt.FocusReason.OtherFocusReason)
    shown.key("allowOnceButton", Qt.Key.Key_Return, Qt.FocusReason.OtherFocusReason)
    assert shown.answers == []
    shown.key("allowOnceButton", Qt.Key.Key_Space)
    assert len(shown.answers) == 1


def test_a_key_that_is_held_down_decides_nothing(shown: Shown) -> None:
    shown.show(question())
    shown.moment.seconds += 10
    button = part(shown.cards[0], QPushButton, "allowOnceButton")
    button.setFocus(Qt.FocusReason.TabFocusReason)
    none = Qt.KeyboardModifier.NoModifier
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Space):
        QApplication.sendEvent(button, QKeyEvent(QEvent.Type.KeyPress, key, none, "", True))
    assert shown.answers == []


def test_a_mnemonic_decides_only_a_moment_after_the_card_appeared(shown: Shown) -> None:
    shown.show(question(why="uncertain"))
    button = part(shown.cards[0], QPushButton, "skipButton")
    assert button.shortcut() == QKeySequence("Alt+S")
    shown.window.activateWindow()
    QTest.keyClick(shown.before, Qt.Key.Key_S, Qt.KeyboardModifier.AltModifier)
    assert shown.answers == []
    assert not button.isDown()


def test_a_card_that_comes_under_the_pointer_is_not_decided_by_a_double_click(shown: Shown) -> None:
    shown.show(question("m1:0"))
    press(shown.cards[0], "allowOnceButton")
    shown.show()
    shown.show(question("m2:0"))
    press(shown.cards[0], "allowOnceButton")
    assert [name for name, _ in shown.answers] == ["m1:0"]
    shown.moment.seconds += 5
    press(shown.cards[0], "allowOnceButton")
    assert [name for name, _ in shown.answers] == ["m1:0", "m2:0"]


def test_two_cards_that_are_there_are_decided_as_fast_as_one_can_click(shown: Shown) -> None:
    shown.show(question("m1:0"), question("m1:1"))
    shown.moment.seconds += 1
    for card in reversed(shown.cards):
        press(card, "allowOnceButton")
        press(card, "allowOnceButton")
    assert [name for name, _ in shown.answers] == ["m1:1", "m1:0"]


def test_a_card_takes_no_focus_when_it_appears_and_everything_on_it_has_a_name(shown: Shown) -> None:
    shown.window.activateWindow()
    shown.before.setFocus()
    shown.show(question("m1:0"), question("m1:1", why="uncertain"))
    assert QApplication.focusWidget() in (shown.before, None)  # None: no window is active here
    for card in shown.cards:
        assert card.accessibleName()
        for widget in card.tab_order:
            assert widget.accessibleName(), widget.objectName()
        for button in card.findChildren(QPushButton):
            assert button.accessibleDescription(), button.objectName()


def test_a_key_meant_for_a_button_that_is_out_of_the_view_shows_it_and_decides_nothing(shown: Shown) -> None:
    shown.show(question("m1:0", why="uncertain"), *(question(f"m1:{number}") for number in range(1, 6)))
    shown.moment.seconds += 10
    button = part(shown.cards[0], QPushButton, "skipButton")
    button.setFocus(Qt.FocusReason.TabFocusReason)
    shown.transcript.jump_to_latest()
    settle()
    assert button.visibleRegion().isEmpty()
    QTest.keyClick(button, Qt.Key.Key_Space)
    settle()
    assert shown.answers == []
    assert not button.visibleRegion().isEmpty()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert shown.answers == [], "a moment has to pass"
    shown.moment.seconds += 1
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert [name for name, _ in shown.answers] == ["m1:0"]


# Fetch


def test_always_follows_the_host_that_stands_in_the_field(shown: Shown) -> None:
    shown.show(question(server="fetch", tool="fetch", scope="data.example.org", args={"url": URL}))
    card = shown.cards[0]
    always, field = (
        part(card, QPushButton, "alwaysAllowButton"),
        part(card, QTextEdit, "approvalArguments"),
    )
    address = part(card, QLabel, "approvalAddress")
    assert always.accessibleName() == "Always allow data.example.org"
    assert f"<span style='font-weight: 600; color: {LIGHT.text}'>data.example.org</span>" in address.text()
    field.setPlainText('{"url": "https://other.example.com/"}')
    assert always.accessibleName() == "Always allow other.example.com"
    assert address.accessibleName() == "https://other.example.com/"
    field.setPlainText('{"url": "no address"}')
    assert not always.isEnabled(), "it would hold for every host"
    field.setPlainText('{"url": "https://other.example.com/<b>"}')
    assert "&lt;b&gt;" in address.text()
    press(card, "alwaysAllowButton")
    ((_, answer),) = shown.answers
    assert (answer.always, answer.args) == (True, {"url": "https://other.example.com/<b>"})


# In the window


async def waiting(rig: WindowRig, core: FakeCore) -> None:
    rig.type("Append")
    rig.enter()
    await until(lambda: rig.window.presenter.is_running)
    core.ask(core.runs.handles[-1], "m1:0")
    await until(lambda: len(cards(rig)) == 1 and not rig.window.presenter.is_running)


async def test_a_question_that_is_no_longer_open_says_so_and_goes() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        await waiting(rig, core)
        core.decisions.open.clear()
        press(cards(rig)[0], "skipButton")
        await until(lambda: rig.shows("errorBanner"))
        assert rig.banner("errorBanner").code == "DECISION_STALE"
        assert not cards(rig)


async def test_a_decision_that_cannot_be_stored_can_be_made_again() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        await waiting(rig, core)
        core.decisions.error = SophosError(ErrorCode.STORE_BUSY, "Another process writes", "Try again")
        press(cards(rig)[0], "skipButton")
        await until(lambda: rig.shows("errorBanner"))
        core.decisions.error = None
        await until(lambda: cards(rig)[0].is_open)
        press(cards(rig)[0], "skipButton")
        await until(lambda: len(core.runs.handles) == 2 and rig.window.presenter.is_running)
        assert core.decisions.answers == [("m1:0", "skip")]
        core.runs.handles[1].end()
        await until(lambda: rig.shows("sendButton"))


async def test_cards_belong_to_their_conversation() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        await waiting(rig, core)
        conversation_id = rig.window.presenter.conversation_id
        rig.action("actionNewChat").trigger()
        await rig.opened(None)
        assert not cards(rig)
        assert not rig.action("actionStop").isEnabled()
        rig.choose("Append")
        await rig.opened(conversation_id)
        await until(lambda: len(cards(rig)) == 1)
        rig.action("actionStop").trigger()
        await until(lambda: not cards(rig))


async def test_both_themes_show_a_card_in_their_own_colours() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        await waiting(rig, core)
        for choice in ("light", "dark"):
            rig.window.theme.choose(choice)
            image = cards(rig)[0].grab().toImage()
            ground = rig.window.theme.tokens.warning_soft
            assert image.pixelColor(image.width() // 2, 4).name() == ground.lower()
        rig.action("actionStop").trigger()
        await until(lambda: not cards(rig))
        await turns()
        rig.window.theme.choose("light")  # a card that is gone hears of nothing


async def test_the_desktop_is_told_once_when_a_run_waits_and_hears_nothing_but_the_title() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        told: list[tuple[str, str]] = []
        notice = rig.window.findChild(WaitingNotice)
        assert notice is not None
        notice.notify = lambda title, text: told.append((title, text))  # type: ignore[method-assign]
        looked_at = False
        rig.window.isActiveWindow = lambda: looked_at  # type: ignore[method-assign]
        await waiting(rig, core)
        await until(lambda: told)
        assert told == [("Sophos Desktop", "“Append” waits for your decision")]
        looked_at = True
        press(cards(rig)[0], "skipButton")
        await until(lambda: rig.window.presenter.is_running)
        core.ask(core.runs.handles[-1], "m1:1")
        await until(lambda: len(cards(rig)) == 1)
        core.runs.end_waiting(cards(rig)[0].question.conversation_id)
        await until(lambda: not cards(rig))
        assert len(told) == 1


def test_a_long_title_is_cut_and_a_missing_one_is_not_quoted() -> None:
    assert len(waiting_sentence("word " * 100)) < 120
    assert waiting_sentence(" ") == "A conversation waits for your decision"
