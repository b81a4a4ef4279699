"""One labelled part of an open call: arguments, result or error, as text that can be folded and bounded.

Invariant: closed, a part shows at most twelve rows; the whole is shown here up to a bound and in a window of
its own beyond it. JSON is laid out and coloured; everything else stands as it came.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import interface_scale, role_line
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.cards.card_states import CardStates
from sophos_desktop.shell.transcript.cards.facts import size_words
from sophos_desktop.shell.transcript.cards.json_text import Fold, colours_of, first_folds, lay_out, read_json
from sophos_desktop.shell.transcript.cards.parts import SIDE, LinkButton, Words, on_click
from sophos_desktop.shell.transcript.cards.text_lines import TextLines, gutter
from sophos_desktop.shell.transcript.cards.text_rows import UNBOUNDED
from sophos_desktop.shell.transcript.cards.tool_head import mark_left
from sophos_desktop.shell.widgets.wrapping_row import WrappingRow

SHOWN_ROWS: Final = 12
LARGEST_HERE: Final = 8 * 1024 * 1024  # characters that a card shows in full
_MOST_LINES_HERE: Final = 100_000
_LABEL, _LABEL_GAP = 80, 8
_TOP = 7
OpenWindow = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class PartText:
    """`key` names the part among all; `title` is that of its window; `colour` is the name of a token."""

    key: str
    label: str
    text: str
    title: str
    colour: str = "code_text"


class CallPart(QWidget):
    """Belongs to its card; made when the call is opened."""

    height_changed = Signal()

    def __init__(self, states: CardStates, open_window: OpenWindow, theme: Theme, parent: QWidget) -> None:
        """`open_window` gets title and text."""
        super().__init__(parent)
        self.setObjectName("callPart")
        self._states = states
        self._open_window = open_window
        self._part = PartText("", "", "", "")
        self._value: Any = None
        self._line_count = 0
        self._size = ""
        self._width = 600
        self._label = Words("", TYPE.small, "text_2", theme, self)
        self._lines = TextLines("callText", theme, self)
        self._lines.fold_clicked.connect(self._on_fold_clicked)
        self._note = Words("", TYPE.small, "text_2", theme, self)
        self._note.setObjectName("callNote")
        self._all = LinkButton("showAll", "Show all", theme, self)
        self._window = LinkButton("openInWindow", "Open in a window", theme, self)
        on_click(self._all, self._on_all)
        on_click(self._window, self._on_window)
        self._notes = QWidget(self)
        notes = WrappingRow(self._notes, gap=SIDE, line_gap=0)
        for widget in (self._note, self._all, self._window):
            notes.addWidget(widget)
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(self._lines)
        column.addWidget(self._notes)
        self._row = QHBoxLayout(self)
        self._row.setSpacing(0)
        self._row.addWidget(self._label, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addLayout(column, 1)
        self._fit()
        theme.changed.connect(self._on_theme_changed)

    def _fit(self) -> None:
        self._row.setContentsMargins(mark_left(), _TOP, SIDE, _TOP)
        self._label.setFixedHeight(role_line(TYPE.code))  # in the middle of the first row

    def _on_theme_changed(self) -> None:
        self._fit()
        if self._part.key:
            self._write(is_told=False)

    @property
    def lines(self) -> TextLines:
        """The text."""
        return self._lines

    @property
    def key(self) -> str:
        """Which part it is."""
        return self._part.key

    @property
    def note(self) -> str:
        """How much of the whole is shown; empty if all is."""
        return self._note.text() if not self._notes.isHidden() else ""

    def show_part(self, part: PartText) -> None:
        """Show a text. Cheap if it is the same as before."""
        if part == self._part:
            return
        if part.text != self._part.text or part.key != self._part.key:
            self._value = read_json(part.text)
            self._line_count = part.text.count("\n") + (0 if part.text.endswith("\n") else 1)
            self._size = size_words(_utf8_length(part.text))
        self._part = part
        self._label.setText(part.label)
        self._lines.setAccessibleName(part.label)
        self._write()

    def open_whole(self) -> bool:
        """Show everything, for what was found in it; False if it is too long to be shown here."""
        if self._fits_here:
            self._states.show_all(self._part.key)
            if self._value is not None:
                self._states.set_folds(self._part.key, frozenset())
            self._write()
        return self._fits_here

    @property
    def _fits_here(self) -> bool:
        return len(self._part.text) <= LARGEST_HERE and self._line_count <= _MOST_LINES_HERE

    def _write(self, *, is_told: bool = True) -> None:
        is_whole = self._states.shows_all(self._part.key) and self._fits_here
        folds: tuple[Fold, ...] = ()
        text, colours = self._part.text, None
        if self._value is not None:
            laid = lay_out(self._value, self._columns, self._states.folds(self._part.key))
            text, folds, colours = laid.text, laid.folds, colours_of
        fold_room = gutter() if folds else 0
        self._label.setFixedWidth(_label_width() - fold_room)
        self._notes.setContentsMargins(fold_room, 0, 0, 0)
        self._lines.show_text(
            text or "(empty)",
            colour=self._part.colour if text else "text_3",
            colours=colours,
            folds=folds,
            most_rows=UNBOUNDED if is_whole else SHOWN_ROWS,
        )
        self._lines.set_width(self._width - mark_left() - SIDE - self._label.width())
        self._write_note(is_whole=is_whole)
        self.updateGeometry()
        if is_told:
            self.height_changed.emit()

    def _write_note(self, *, is_whole: bool) -> None:
        rows = self._lines.rows
        is_cut = not rows.is_done
        if self._value is not None:
            words = self._size if is_cut else ""
        else:
            whole = f"{self._line_count:,} {'line' if self._line_count == 1 else 'lines'}, {self._size}"
            words = f"{rows.line_count:,} of {whole}" if is_cut else whole
        self._note.setText(words)
        self._note.setVisible(bool(words))
        self._all.setText("Show less" if is_whole else "Show all")
        self._all.setAccessibleName(f"{self._all.text()} of {self._part.title}")
        self._window.setAccessibleName(f"Open {self._part.title} in a window")
        self._all.setVisible(self._fits_here)
        self._all.updateGeometry()
        self._notes.setVisible(is_cut or is_whole)

    @property
    def _columns(self) -> int:
        room = self._width - mark_left() - SIDE - _label_width()
        return max(24, int(room / self._lines.column_width))

    def lay_out_for(self, width: int) -> None:
        """JSON is laid out for the width, and whether rows are left out may change with it."""
        if width != self._width:
            self._width = width
            if self._part.key:
                self._write(is_told=False)

    def hasHeightForWidth(self) -> bool:
        """Rows are broken at the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Reckoned here: layouts remember heights until events are handled."""
        self.lay_out_for(width)
        room = width - mark_left() - SIDE - self._label.width()
        rows = self._lines.heightForWidth(room)
        return 2 * _TOP + rows + (0 if self._notes.isHidden() else self._notes.heightForWidth(room))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Usually it is known before."""
        super().resizeEvent(event)
        self.lay_out_for(event.size().width())

    def _on_fold_clicked(self, fold: Fold) -> None:
        folds = self._states.folds(self._part.key)
        folded = set(first_folds(self._value) if folds is None else folds)
        if fold.is_folded:
            folded.discard(fold.path)
        else:
            folded.add(fold.path)
        self._states.set_folds(self._part.key, frozenset(folded))
        self._write()

    def _on_all(self) -> None:
        self._states.show_all(self._part.key, is_whole=not self._states.shows_all(self._part.key))
        self._write()

    def _on_window(self) -> None:
        self._open_window(self._part.title, self._part.text)


def _label_width() -> int:
    """The column of the labels, with the gap behind it."""
    return round(_LABEL * interface_scale()) + _LABEL_GAP


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
