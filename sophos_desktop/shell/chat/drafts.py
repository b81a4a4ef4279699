"""Keeps what the composer holds, per conversation.

Invariant: what a person typed is in the store half a second after the last key, and at once when `flush` is
awaited; writes of one draft never overtake each other.
"""

import asyncio

from PySide6.QtCore import QObject, QTimer

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.async_slots import connect_async
from sophos_desktop.shell.facade import Conversations

PAUSE_MILLISECONDS = 500


class DraftKeeper(QObject):
    """Lives as long as its window. Keys are conversation ids; None is the chat that does not exist yet."""

    def __init__(self, owner: TaskOwner, parent: QObject) -> None:
        """Writes nothing before `attach`."""
        super().__init__(parent)
        self._conversations: Conversations | None = None
        self._unsaved: dict[str | None, str] = {}
        self._edited: set[str | None] = set()
        self._writing = asyncio.Lock()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE_MILLISECONDS)
        connect_async(self._timer.timeout, self.flush, owner, "save drafts")

    def attach(self, conversations: Conversations) -> None:
        """The store is open."""
        self._conversations = conversations
        if self._unsaved:
            self._timer.start()

    def edited(self, key: str | None, text: str) -> None:
        """The composer holds `text` now; it is saved after a pause."""
        self._unsaved[key] = text
        self._edited.add(key)
        if self._conversations is not None:
            self._timer.start()

    @property
    def is_saved(self) -> bool:
        """True if nothing is to be written."""
        return not self._unsaved

    async def settle(self, key: str | None) -> None:
        """Write what is not written, and begin to look for edits. Raises SophosError of the store."""
        await self.flush()
        self._edited.discard(key)

    def was_edited(self, key: str | None) -> bool:
        """True if the draft was edited since it was settled."""
        return key in self._edited

    def forget(self, key: str | None) -> None:
        """What was typed there is not to be saved any more."""
        self._unsaved.pop(key, None)

    async def flush(self) -> None:
        """Write what is not written. Raises SophosError of the store; what failed stays unsaved."""
        self._timer.stop()
        if self._conversations is None:
            return
        async with self._writing:
            while self._unsaved:
                key, text = next(iter(self._unsaved.items()))
                try:
                    await self._conversations.save_draft(key, text)
                except SophosError as error:
                    if error.code is not ErrorCode.NOT_FOUND:
                        raise
                    # Its conversation was deleted, by us or by another process: nothing to keep it with.
                if self._unsaved.get(key) == text:
                    del self._unsaved[key]

    async def draft(self, key: str | None) -> str:
        """The newest text of a draft. Raises SophosError of the store."""
        if key in self._unsaved or self._conversations is None:
            return self._unsaved.get(key, "")
        return await self._conversations.draft(key)


def joined(draft: str, typed: str) -> str:
    """A kept draft and what was typed before it could be shown, nothing of either lost."""
    if not draft or not typed or draft == typed:
        return draft or typed
    return f"{draft}\n{typed}"
