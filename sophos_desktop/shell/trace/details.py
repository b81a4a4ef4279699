"""The pane below the tree: what is known of the chosen item, as text or as the stored JSON.

Invariant: everything in it is plain text; what is copied is the whole, also where the pane shows a part.
"""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import (
    QButtonGroup,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sophos_desktop.core.domain.projection import JsonObject
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import code_font, text_font
from sophos_desktop.shell.theme.tokens import CODE_SIZE, SMALL_SIZE
from sophos_desktop.shell.trace import words
from sophos_desktop.shell.trace.nodes import Node, name_of
from sophos_desktop.shell.widgets.shapes import Shape, shape_pixmap
from sophos_desktop.shell.widgets.words import breakable

_SHOWN_CHARACTERS = 100_000


class TraceDetails(QWidget):
    """Lives as long as its dock."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Says nothing before `show_node`."""
        super().__init__(parent)
        self.setObjectName("traceDetails")
        self._theme = theme
        self._text = ""
        self._json = ""
        self._facts: words.Facts = []
        self._title = QLabel(self)
        self._title.setObjectName("traceDetailsTitle")
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self._title.setFont(text_font(SMALL_SIZE))
        self._title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._as_text = self._mode_button("traceAsText", "Text")
        self._as_json = self._mode_button("traceAsJson", "JSON")
        self._copy = QToolButton(self)
        self._form_holder = QWidget(self)
        self._body = QPlainTextEdit(self)
        self._make_parts()
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.show_node(None, None)

    def _mode_button(self, name: str, text: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setText(text)
        button.setAccessibleName(f"Show details as {text}")
        button.setCheckable(True)
        button.setProperty("segment", "true")
        return button

    def _make_parts(self) -> None:
        group = QButtonGroup(self)
        for button in (self._as_text, self._as_json):
            group.addButton(button)
        self._as_text.setChecked(True)
        group.buttonClicked.connect(self._write)
        self._copy.setObjectName("traceCopy")
        self._copy.setAccessibleName("Copy details")
        self._copy.setToolTip("Copy")
        self._copy.setProperty("quiet", "true")
        self._copy.setFixedSize(28, 28)
        self._copy.clicked.connect(self._on_copy)
        self._body.setObjectName("traceBody")
        self._body.setAccessibleName("Details")
        self._body.setReadOnly(True)
        self._body.setTabChangesFocus(True)
        self._body.setFrameShape(QFrame.Shape.NoFrame)
        self._body.setFont(code_font(CODE_SIZE))
        self._form = QFormLayout(self._form_holder)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setHorizontalSpacing(12)
        self._form.setVerticalSpacing(2)
        top = QHBoxLayout()
        top.setSpacing(4)
        top.addWidget(self._title, 1)
        segments = QHBoxLayout()
        segments.setSpacing(0)
        segments.addWidget(self._as_text)
        segments.addWidget(self._as_json)
        top.addLayout(segments)
        top.addWidget(self._copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 4, 12, 12)
        column.setSpacing(6)
        column.addLayout(top)
        column.addWidget(self._form_holder)
        column.addWidget(self._body, 10)
        column.addStretch(1)

    def sizeHint(self) -> QSize:
        """A third of the dock."""
        return QSize(300, 220)

    def show_node(self, node: Node | None, took_ms: float | None) -> None:
        """What is known of an item; None shows that nothing is chosen."""
        self._facts, self._text = [], ""
        events: list[JsonObject] = []
        title = "Nothing chosen"
        if node is not None:
            title = name_of(node)
            if node.row is not None:
                self._facts, self._text = words.row_facts(node.row), words.row_text(node.row)
                events = list(node.row.events)
            elif node.step is not None:
                self._facts = words.step_facts(node.step)
                events = [*node.step.markers, *node.step.events]
            else:
                self._facts = words.run_facts(node.run.record, took_ms)
                self._text = words.run_text(node.run.record)
                events = [event for event in node.run.events if event["type"] in ("run_started", "end")]
        self._title.setText(title)
        self._json = words.json_text(events) if events else ""
        for part in (self._as_text, self._as_json, self._copy):
            part.setEnabled(node is not None)
        self._write()

    def _write(self) -> None:
        shows_json = self._as_json.isChecked()
        while self._form.rowCount():
            self._form.removeRow(0)
        if not shows_json:
            for label, value in self._facts:
                self._form.addRow(self._label(label, "label"), self._label(breakable(value), "value"))
        self._form_holder.setVisible(not shows_json and bool(self._facts))
        shown = self._json if shows_json else self._text
        if len(shown) > _SHOWN_CHARACTERS:
            shown = f"{shown[:_SHOWN_CHARACTERS]}\n… {len(shown):,} characters in all; Copy takes them all"
        if shown != self._body.toPlainText():
            self._body.setPlainText(shown)
        self._body.setVisible(bool(shown))

    def _label(self, text: str, part: str) -> QLabel:
        label = QLabel(text, self._form_holder)
        label.setProperty("part", part)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(part == "value")
        label.setFont(text_font(SMALL_SIZE))
        if part == "value":
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    @property
    def copied_text(self) -> str:
        """What the copy button copies."""
        if self._as_json.isChecked():
            return self._json
        facts = "\n".join(f"{label}: {value}" for label, value in self._facts)
        return "\n\n".join(part for part in (facts, self._text) if part)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.copied_text)

    def _on_theme_changed(self) -> None:
        icon = shape_pixmap(Shape.COPY, 14, self._theme.tokens.text_2, self.devicePixelRatioF())
        self._copy.setIcon(QIcon(icon))
        self._copy.setIconSize(QSize(14, 14))
