"""Keeps what of the conversation's column outlives the window: drafts, and which conversation is open.

Invariant: which one is open is written when it changes, not only at the end, so that a kill leaves it too.
"""

import logging
from collections.abc import Callable

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.chat.composing.attach_flow import AttachFlow
from sophos_desktop.shell.chat.drafts import DraftKeeper
from sophos_desktop.shell.facade import Conversations

LAST_CONVERSATION = "last_conversation"
_LOG = logging.getLogger(__name__)


class KeptState:
    """Lives as long as its window; writes nothing before `attach`."""

    def __init__(self, owner: TaskOwner, drafts: DraftKeeper, attached: AttachFlow) -> None:
        """`drafts` and `attached` are what the composer holds."""
        self._owner = owner
        self._drafts = drafts
        self._attached = attached
        self._conversations: Conversations | None = None
        self._refusal: SophosError | None = None
        self._holds_text: Callable[[], bool] = lambda: False
        self._open = self._written = ""
        self._is_writing = False

    def attach(self, conversations: Conversations) -> None:
        """The store is open."""
        self._conversations = conversations
        self._drafts.attach(conversations)

    async def last_open(self) -> str | None:
        """The conversation that was open last. Raises SophosError of the store."""
        if self._conversations is not None:
            self._written = await self._conversations.app_state(LAST_CONVERSATION) or ""
        return self._written or None

    def opened(self, conversation_id: str | None) -> None:
        """This one is open from now on."""
        self._open = conversation_id or ""
        if self._conversations is not None and not self._is_writing:
            self._is_writing = True
            self._owner.spawn(self._write_open(self._conversations), "remember what is open")

    async def _write_open(self, conversations: Conversations) -> None:
        """Until what is written is what is open: one write at a time, so that none overtakes another."""
        try:
            while self._written != (now := self._open):
                await conversations.save_app_state(LAST_CONVERSATION, now)
                self._written = now
        except SophosError as error:
            _LOG.info("which conversation is open was not written: %s", error.code)  # tried again at the end
        finally:
            self._is_writing = False

    def refuse(self, error: SophosError, holds_text: Callable[[], bool]) -> None:
        """The store could not be opened; `holds_text`: the composer holds what can be written nowhere."""
        self._refusal = error
        self._holds_text = holds_text

    @property
    def is_typed_saved(self) -> bool:
        """True if all that was typed is written; so is what can still be once the store is open."""
        if self._refusal is not None:
            return not self._holds_text()
        return self._conversations is None or self._drafts.is_saved

    async def save_typed(self) -> None:
        """Write the drafts, once the store is open. Raises SophosError of the store."""
        if self._refusal is not None:
            raise self._refusal
        await self._attached.settle()
        await self._drafts.flush()

    async def save(self) -> None:
        """Write all of it. Raises SophosError of the store."""
        await self.save_typed()
        if self._conversations is not None:
            await self._conversations.save_app_state(LAST_CONVERSATION, self._open)
