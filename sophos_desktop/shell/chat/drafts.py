"""Keeps what the composer holds, per conversation, and knows what another window holds instead.

Invariant: what a person typed is in the store half a second after the last key, and at once when `flush` is
awaited; writes of one draft never overtake each other, and none takes the place of a text that this window
has not shown: the store keeps both then.
"""

import asyncio

from PySide6.QtCore import QObject, QTimer, Signal

from sophos_desktop.core.domain.drafts import Draft, holds
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.async_slots import connect_async
from sophos_desktop.shell.facade import Conversations

PAUSE_MILLISECONDS = 500


class DraftKeeper(QObject):
    """Lives as long as its window. Keys are conversation ids; None is the chat that does not exist yet."""

    told = Signal(object)  # a key: what `other` says of it is something else now

    def __init__(self, owner: TaskOwner, parent: QObject) -> None:
        """Writes nothing before `attach`."""
        super().__init__(parent)
        self._conversations: Conversations | None = None
        self._unsaved: dict[str | None, str] = {}
        self._edited: set[str | None] = set()
        self._seen: dict[str | None, str] = {}  # the shared draft that this window's text was made from
        self._known: dict[str | None, str] = {}  # the shared draft as it was read or written last
        self._others: dict[str | None, str] = {}
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
                seen = self._seen.get(key, "")
                try:
                    self._learn(key, await self._conversations.save_draft(key, text, seen=seen))
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
        draft = await self._conversations.draft_here(key)
        self._learn(key, draft)
        return draft.text

    # What other windows write

    def other(self, key: str | None) -> str:
        """What another window has written there, which this one's text does not hold; mostly nothing."""
        return self._others.get(key, "")

    def take_up(self, key: str | None) -> None:
        """This window shows what another one has written: what is edited next may take its place."""
        self._seen[key] = self._known.get(key, "")
        self._note(key, "")

    async def handed_back(self, key: str, text: str) -> None:
        """The core gave `text` back, before what is shared: this window shows it. Raises SophosError of the
        store."""
        if self._conversations is not None:
            shared = (await self._conversations.draft_here(key)).shared
            if shared.startswith(text):
                self._seen[key] = self._known[key] = shared

    async def look(self, key: str | None, held: str) -> str | None:
        """The file changed while the composer holds `held`. Gives what it is to hold instead, None for the
        same: an empty one follows what is written elsewhere, and so does one whose text is held by that. Any
        other text is kept beside, since nobody else keeps it now. Raises SophosError of the store."""
        async with self._writing:
            if self._conversations is None or key in self._unsaved or key not in self._known:
                return None
            draft = await self._conversations.draft_here(key)
            shared = draft.shared
            if key in self._unsaved or shared == self._known[key]:
                return None
            self._known[key] = shared
            if not shared.strip() or holds(held, shared):
                # Sent, or taken away there: what is here stays on the screen.
                self._note(key, "")
                return None
            if key is not None and holds(shared, held):
                self.take_up(key)
                return shared
            if not held.strip():
                return None  # each window begins a chat of its own
            self._note(key, shared)
            if draft.text == held:
                return None  # it is kept beside already
            self._unsaved[key] = held
        await self.flush()
        return None

    def _learn(self, key: str | None, draft: Draft) -> None:
        self._known[key] = draft.shared
        if draft.text == draft.shared:
            self._seen[key] = draft.shared
        self._note(key, draft.other)

    def _note(self, key: str | None, other: str) -> None:
        if other != self.other(key):
            self._others[key] = other
            self.told.emit(key)


def joined(draft: str, typed: str) -> str:
    """A kept draft and what was typed before it could be shown, nothing of either lost."""
    if not draft or not typed or draft == typed:
        return draft or typed
    return f"{draft}\n{typed}"
