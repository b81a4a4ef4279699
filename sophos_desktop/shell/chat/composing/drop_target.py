"""Takes what is dragged over a part of the window, and shows where it goes.

Invariant: it lies over the composer only while something that can be attached is over that part; dragged
text is none of its business.
"""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from sophos_desktop.shell.chat.cards.card import MarkView
from sophos_desktop.shell.chat.composing.incoming import count_of, incoming_from
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.icons import Mark
from sophos_desktop.shell.theme.tokens import Tokens
from sophos_desktop.shell.widgets.foldaway import Foldaway

_ICON = 18


class DropTarget(Foldaway):
    """Lives as long as the composer that it covers; hidden but for a drag."""

    dropped = Signal(object)  # Sequence[Incoming]

    def __init__(self, theme: Theme, covered: QWidget) -> None:
        """Covers `covered`, a widget with a frame of its own, from edge to edge."""
        super().__init__(covered)
        self.setObjectName("dropTarget")
        self._covered = covered
        self._words = QLabel(self.inside)
        self._words.setObjectName("dropWords")
        row = QHBoxLayout(self.inside)
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(MarkView(Mark.ATTACH, "accent", _ICON, theme, self.inside))
        row.addWidget(self._words)
        row.addStretch(1)

    def watch(self, area: QWidget) -> None:
        """Take what is dropped on `area`, or on a part of it that takes no such thing itself."""
        area.setAcceptDrops(True)
        area.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Only drags; everything else goes on."""
        if isinstance(event, QDragEnterEvent):
            return self._on_entered(event)
        if event.type() == QEvent.Type.DragLeave:
            self.hide()
        elif isinstance(event, QDragMoveEvent):
            return self._offer(event)
        elif isinstance(event, QDropEvent):
            return self._on_dropped(event)
        return super().eventFilter(watched, event)

    def _on_entered(self, event: QDragEnterEvent) -> bool:
        count = count_of(event.mimeData())
        if not count or not self.isEnabled():
            return False
        self._words.setText("Drop to attach 1 file" if count == 1 else f"Drop to attach {count} files")
        self.setGeometry(self._covered.rect())
        self.raise_()
        self.show()
        return self._offer(event)

    def _offer(self, event: QDropEvent) -> bool:
        """Always a copy: a file manager would take a move for leave to delete the file."""
        if self.isHidden():
            return False
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        return True

    def _on_dropped(self, event: QDropEvent) -> bool:
        if self.isHidden():
            return False
        self.hide()
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.dropped.emit(incoming_from(event.mimeData()))
        return True


def drop_style(t: Tokens) -> str:
    """The style sheet's rules for it."""
    return f"""
#dropTarget {{ background: {t.accent_soft}; border: 1px dashed {t.accent};
  border-radius: {t.measures.composer_radius}px; }}
#dropTarget QLabel {{ background: transparent; border: none; color: {t.accent};
  font-weight: {t.type.name.weight}; }}
"""
