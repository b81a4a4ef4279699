"""Says that another window has a different draft of the open conversation, and follows what it writes.

Invariant: what stands in the composer is never replaced by less; taking the other text in is an edit that
can be undone, and keeping one's own takes nothing away from the other window.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextCursor

from sophos_desktop.core.domain.drafts import holds
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.drafts import DraftKeeper
from sophos_desktop.shell.widgets.banner import Banner
from sophos_desktop.shell.widgets.shapes import Shape

TITLE = "Another window has a different draft"
_LONGEST = 40


class OtherDraft(QObject):
    """Lives as long as its window, on the GUI thread."""

    changed = Signal()  # the composer holds what another window has written

    def __init__(
        self,
        view: ChatView,
        drafts: DraftKeeper,
        open_conversation: Callable[[], str | None],
        parent: QObject,
    ) -> None:
        """Says nothing yet."""
        super().__init__(parent)
        self._composer = view.composer
        self._drafts = drafts
        self._open_conversation = open_conversation
        self._kept: set[str | None] = set()  # where the person said to keep what is here
        self._banner = Banner("otherDraft", "notice", Shape.NOTICE, view.theme, view, closable=False)
        show = self._banner.add_button("showOtherDraftButton", "Show &it")
        keep = self._banner.add_button("keepDraftButton", "&Keep mine")
        show.setAccessibleName("Show it")
        show.setAccessibleDescription("Its text is put above yours")
        keep.setAccessibleName("Keep mine")
        keep.setAccessibleDescription("Each window keeps its own text")
        view.add_banner(self._banner)
        show.clicked.connect(lambda: self._show_it())
        keep.clicked.connect(lambda: self._keep_mine())
        drafts.told.connect(self._on_told)

    def opened(self) -> None:
        """Another conversation is open, with its draft."""
        self._kept.discard(self._open_conversation())
        self._say()

    async def follow(self) -> None:
        """The file changed: see whether another window has written in the open conversation's draft."""
        key, held = self._open_conversation(), self._composer.text
        try:
            wanted = await self._drafts.look(key, held)
        except SophosError:
            return  # what cannot be read or written now is at the next key, and said then
        if wanted is not None and (key, held) == (self._open_conversation(), self._composer.text):
            self._composer.set_text(wanted)
            self.changed.emit()

    def _on_told(self, key: str | None) -> None:
        if key == self._open_conversation():
            self._say()

    def _say(self) -> None:
        key = self._open_conversation()
        other = " ".join(self._drafts.other(key).split())
        if not other or key in self._kept:
            self._banner.hide()
            return
        words = other if len(other) <= _LONGEST else f"{other[:_LONGEST].rstrip()}…"
        self._banner.show_message(TITLE, f"“{words}”")

    def _show_it(self) -> None:
        key = self._open_conversation()
        other, own = self._drafts.other(key), self._composer.text
        self._drafts.take_up(key)
        cursor = QTextCursor(self._composer.document())
        if holds(other, own):
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.insertText(other)
        else:
            cursor.insertText(f"{other}\n")
        self._composer.setFocus()

    def _keep_mine(self) -> None:
        self._kept.add(self._open_conversation())
        self._say()
        self._composer.setFocus()
