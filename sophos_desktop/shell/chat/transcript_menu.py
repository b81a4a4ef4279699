"""What can be done with the conversation at a place, by right click and by the menu key.

Invariant: the commands are the Edit menu's own; only what belongs to the place, a link or a message, is the
menu's. Opening it changes no selection.
"""

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication

from sophos_desktop.shell.chat.transcript import Transcript
from sophos_desktop.shell.edit_actions import EditActions
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.icons import Mark, icon
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind
from sophos_desktop.shell.transcript.view.hit_areas import HitKind
from sophos_desktop.shell.widgets.floating_menu import FloatingMenu

_FROM_CORNER = 24  # pixels: where the menu key opens it if nothing is current in the view


class TranscriptMenu(QObject):
    """Lives as long as its transcript, on the GUI thread."""

    def __init__(
        self,
        transcript: Transcript,
        edit: EditActions,
        theme: Theme,
    ) -> None:
        """`edit` has the commands that do not depend on the place."""
        super().__init__(transcript)
        self._transcript = transcript
        self._edit = edit
        self._message: int | None = None
        self._address = ""
        self.menu = FloatingMenu("", theme, transcript)
        self.menu.setObjectName("transcriptMenu")
        self.copy_link = QAction("Copy &Link Address", self)
        self.copy_link.setObjectName("actionCopyLink")
        self.copy_link.setIcon(icon(Mark.EXTERNAL, theme))
        self.copy_link.triggered.connect(lambda: QGuiApplication.clipboard().setText(self._address))
        self.copy_message = QAction("Copy M&essage", self)
        self.copy_message.setObjectName("actionCopyMessage")
        self.copy_message.setIcon(icon(Mark.COPY, theme))
        self.copy_message.triggered.connect(self._on_copy_message)
        for watched in (transcript, transcript.viewport()):
            watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The viewport hears of the mouse, the view of the key."""
        if isinstance(event, QContextMenuEvent) and event.type() == QEvent.Type.ContextMenu:
            is_key = event.reason() == QContextMenuEvent.Reason.Keyboard
            if is_key or watched is self._transcript.viewport():
                place = self._place_of_key() if is_key else event.pos()
                self._open(place, is_key=is_key)
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def _place_of_key(self) -> QPoint:
        """In the viewport: at the beginning of the current message, as far as that is seen."""
        view = self._transcript
        current = view.selection.current_message
        placed = [part for part in view.transcript_layout.placed if part.message == current]
        y = placed[0].top if placed else 0
        lowest = max(0, view.viewport().height() - _FROM_CORNER)
        left = view.geometry_of_text.column_left
        return QPoint(max(0, left) + _FROM_CORNER, max(_FROM_CORNER, min(y + _FROM_CORNER, lowest)))

    def _open(self, place: QPoint, *, is_key: bool) -> None:
        view = self._transcript
        hit = None if is_key else view.pointer.hit_at(QPointF(place))
        self._address = hit.target if hit is not None and hit.kind is HitKind.LINK else ""
        self._message = view.selection.current_message if is_key else self._message_at(place)
        focused = QApplication.focusWidget()
        if focused is not view and not (focused is not None and view.isAncestorOf(focused)):
            view.setFocus(Qt.FocusReason.OtherFocusReason)  # the commands act on what has the focus
        self._edit.update()
        self.copy_message.setEnabled(self._is_text(self._message))
        self.menu.clear()
        at_place = [self.copy_link] if self._address else []
        edit = self._edit
        copying = (*at_place, edit.copy, edit.copy_markdown, self.copy_message)
        self.menu.add_entries([*copying, None, edit.select_all, edit.find])
        self.menu.popup(view.viewport().mapToGlobal(place))
        first = next((action for action in self.menu.actions() if action.isEnabled()), None)
        if is_key and first is not None:
            self.menu.setActiveAction(first)  # who came by key goes on by key, and hears where it is

    def _message_at(self, place: QPoint) -> int | None:
        placed = self._transcript.geometry_of_text.part_at(place.y())
        return placed.message if placed is not None else None

    def _is_text(self, message: int | None) -> bool:
        model = self._transcript.model
        return (
            message is not None
            and message < len(model)
            and model.message(message).kind is not MessageKind.CARD
        )

    def _on_copy_message(self) -> None:
        if self._message is not None and self._is_text(self._message):
            self._transcript.selection.copy_message(self._message, as_markdown=False)
