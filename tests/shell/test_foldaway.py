"""Parts that are seldom seen: in the window only while they are shown."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from sophos_desktop.shell.widgets.foldaway import Foldaway


class _Restyled(QObject):
    """Counts how often a widget's style was made anew."""

    def __init__(self, watched: QWidget) -> None:
        super().__init__()
        self.times = 0
        watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.times += event.type() == QEvent.Type.StyleChange
        return super().eventFilter(watched, event)


class _Window(QWidget):
    """A field, a part that is folded away, and a field."""

    def __init__(self) -> None:
        super().__init__()
        self.before = QLineEdit(self)
        self.part = Foldaway(self)
        self.behind = QLineEdit(self)
        self.words = QLabel("words", self.part.inside)
        self.one, self.two = QPushButton("one", self.part.inside), QPushButton("two", self.part.inside)
        row = QHBoxLayout(self.part.inside)
        for inner in (self.words, self.one, self.two):
            row.addWidget(inner)
        column = QVBoxLayout(self)
        for outer in (self.before, self.part, self.behind):
            column.addWidget(outer)

    def tab_order(self) -> list[QWidget]:
        """What the Tab key goes to, from the first field on."""
        order: list[QWidget] = [self.before]
        while (following := order[-1].nextInFocusChain()) is not self.before:
            assert following is not None
            order.append(following)
        wanted = (self.before, self.one, self.two, self.behind)
        return [part for part in order if part in wanted]


@pytest.fixture
def window(qapp: object) -> Iterator[_Window]:
    made = _Window()
    made.show()
    yield made
    made.close()
    made.deleteLater()


def test_what_is_folded_away_is_no_part_of_the_window(window: _Window) -> None:
    assert not window.part.isVisible()
    assert window.words.window() is not window
    window.part.show()
    assert window.words.window() is window
    assert window.words.isVisible() and window.part.height() >= window.one.sizeHint().height()
    window.part.hide()
    assert window.words.window() is not window and not window.words.isVisible()


def test_a_change_of_style_costs_nothing_for_what_is_folded_away(window: _Window) -> None:
    restyled = _Restyled(window.words)
    window.setStyleSheet("QLabel { color: #112233; }")
    assert restyled.times == 0
    window.part.show()
    assert window.words.palette().windowText().color().name() == "#112233"
    window.part.hide()
    seen = restyled.times
    window.setStyleSheet("QLabel { color: #445566; }")
    assert restyled.times == seen
    window.part.show()
    assert window.words.palette().windowText().color().name() == "#445566"


def test_its_buttons_are_reached_by_tab_where_it_stands(window: _Window) -> None:
    assert window.tab_order() == [window.before, window.behind]
    for _ in range(2):
        window.part.show()
        assert window.tab_order() == [window.before, window.one, window.two, window.behind]
        window.part.hide()
        assert window.tab_order() == [window.before, window.behind]


def test_what_a_part_of_it_hides_stays_hidden_when_it_comes_back(window: _Window) -> None:
    window.two.hide()
    window.part.show()
    window.part.hide()
    window.part.show()
    assert window.one.isVisible() and not window.two.isVisible()
