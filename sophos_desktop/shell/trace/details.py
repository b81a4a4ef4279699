"""The pane below the tree: what is known of the chosen item, as text or as the stored JSON.

Invariant: everything in it is plain text; what is copied is the whole, also where the pane shows a part.
"""

from itertools import pairwise

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.icons import Mark
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.trace.details_parts import (
    ElidedTitle,
    FactGrid,
    FoldedText,
    PlaceLink,
    SegmentButton,
)
from sophos_desktop.shell.trace.telling import Telling
from sophos_desktop.shell.trace.words import json_text
from sophos_desktop.shell.transcript.cards.parts import Words, icon_button

_SHOWN_CHARACTERS = 100_000
_NOTHING = Telling("")
_SIDE = 16


class TraceDetails(QWidget):
    """Lives as long as its dock."""

    place_wanted = Signal(object)  # Place

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Says nothing before `show_telling`."""
        super().__init__(parent)
        self.setObjectName("traceDetails")
        self._theme = theme
        self._telling = _NOTHING
        self._json: str | None = None
        self._title = ElidedTitle(theme, self)
        self._as_text = self._mode_button("traceAsText", "Text")
        self._as_json = self._mode_button("traceAsJson", "JSON")
        self._copy = icon_button("traceCopy", Mark.COPY, "Copy details", theme, self)
        self._page = QWidget()
        self._page.setObjectName("traceDetailsPage")
        self._grid = FactGrid(theme, self._page)
        self._sentence = Words("", TYPE.small, "text_2", theme, self._page, selectable=True)
        self._sentence.setWordWrap(True)
        self._sentence.setMinimumWidth(1)
        self._sentence.setObjectName("traceSentence")
        self._body = FoldedText("traceBody", "Details", theme, self._page)
        self._result = FoldedText("traceResult", "Result", theme, self._page)
        self._link = PlaceLink(theme, self._page)
        self._make_parts()
        self._connect()
        self._write()

    def _mode_button(self, name: str, text: str) -> QToolButton:
        button = SegmentButton(text, self)
        button.setObjectName(name)
        button.setAccessibleName(f"Show details as {text}")
        button.setCheckable(True)
        button.setAccessibleDescription("Left and Right choose")
        button.setProperty("segment", "true")
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    def _make_parts(self) -> None:
        segments = QHBoxLayout()
        segments.setSpacing(0)
        segments.addWidget(self._as_text)
        segments.addWidget(self._as_json)
        top = QHBoxLayout()
        top.setContentsMargins(_SIDE, 6, 8, 6)
        top.setSpacing(4)
        top.addWidget(self._title, 1)
        top.addLayout(segments)
        top.addWidget(self._copy)
        column = QVBoxLayout(self._page)
        column.setContentsMargins(_SIDE, 2, _SIDE, 12)
        column.setSpacing(0)
        column.addWidget(self._grid)
        column.addSpacing(10)
        said = QVBoxLayout()  # takes no room while the sentence is hidden
        said.setContentsMargins(0, 0, 0, 8)
        said.addWidget(self._sentence)
        column.addLayout(said)
        column.addWidget(self._body)
        column.addSpacing(8)
        column.addWidget(self._link)
        column.addSpacing(8)
        column.addWidget(self._result)
        column.addStretch(1)
        scroll = QScrollArea(self)
        scroll.setObjectName("traceDetailsScroll")
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll = scroll
        scroll.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        scroll.setWidget(self._page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(top)
        whole.addWidget(scroll, 1)

    def _connect(self) -> None:
        group = QButtonGroup(self)
        for button in (self._as_text, self._as_json):
            group.addButton(button)
        self._as_text.setChecked(True)
        group.buttonClicked.connect(lambda _button: self._write())
        self._copy.clicked.connect(lambda _checked=False: self._on_copy())
        self._link.clicked.connect(lambda _checked=False: self._on_link())

    def sizeHint(self) -> QSize:
        """A third of the dock."""
        return QSize(300, 238)

    def minimumSizeHint(self) -> QSize:
        """Its title and a line."""
        return QSize(200, 80)

    def show_telling(self, telling: Telling | None) -> None:
        """What is known of an item; None shows that there is none."""
        telling = telling or _NOTHING
        if telling == self._telling:
            return
        self._telling, self._json = telling, None
        self._write()

    def _write(self) -> None:
        telling, shows_json = self._telling, self._as_json.isChecked()
        self._title.show_title(telling.title, is_code=telling.is_code)
        for part in (self._as_text, self._as_json, self._copy):
            part.setEnabled(telling is not _NOTHING)
        self._grid.show_facts(() if shows_json else telling.facts)
        self._sentence.setText("" if shows_json else telling.sentence)
        self._sentence.setVisible(bool(self._sentence.text()))
        if shows_json:
            self._body.show_text(_bounded(self._json_text))
            self._result.show_texts(())
        else:
            self._body.show_texts(tuple(_bounded(text) for text in telling.texts))
            self._result.show_texts((_bounded(telling.result),) if telling.result else ())
        self._link.show_place(None if shows_json else telling.place)
        self._scroll.setAccessibleName(f"Details of {telling.title}" if telling.title else "Details")
        facts = () if shows_json else telling.facts
        self._scroll.setAccessibleDescription("; ".join(f"{fact.label}: {fact.value}" for fact in facts))
        self.order_tabs()

    def order_tabs(self, before: QWidget | None = None) -> None:
        """The Tab key goes through it as it is read, after `before`: Qt has last what came last."""
        parts = (self._as_text, self._as_json, self._copy, self._scroll, self._body.card, self._result.card)
        chain = [part for part in (before, *parts, self._link) if part is not None]
        here = [part for part in chain if part.window() is self.window()]
        for one, following in pairwise(here):
            QWidget.setTabOrder(one, following)

    @property
    def _json_text(self) -> str:
        if self._json is None:
            self._json = json_text(self._telling.events) if self._telling.events else ""
        return self._json

    @property
    def copied_text(self) -> str:
        """What the copy button copies."""
        if self._as_json.isChecked():
            return self._json_text
        telling = self._telling
        facts = "\n".join(f"{fact.label}: {fact.value}" for fact in telling.facts)
        said = (telling.title, facts, telling.sentence, *telling.texts, telling.result)
        return "\n\n".join(part for part in said if part)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.copied_text)

    def _on_link(self) -> None:
        if self._telling.place is not None:
            self.place_wanted.emit(self._telling.place)


def _bounded(text: str) -> str:
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return f"{text[:_SHOWN_CHARACTERS]}\n… {len(text):,} characters in all; Copy takes them all"
