"""Knows whether the model that a message goes to can see the images that are attached to it.

Invariant: it warns only of what is known: while a model is looked up, or cannot be, nothing is said.
"""

from collections.abc import Awaitable, Callable, Sequence

from PySide6.QtCore import QObject

from sophos_desktop.core.domain.attaching import is_image
from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.specs import Capability
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.chat.composing.attachment_words import blind_words
from sophos_desktop.shell.facade import Core


class ModelEyes(QObject):
    """Lives as long as its window, on the GUI thread."""

    def __init__(
        self,
        owner: TaskOwner,
        core: Callable[[], Awaitable[Core]],
        changed: Callable[[], object],
        parent: QObject,
    ) -> None:
        """`changed` is called when something else is known."""
        super().__init__(parent)
        self._owner = owner
        self._core = core
        self._changed = changed
        self._blind_model = ""
        self._looks = 0

    def look(self, conversation_id: str | None, held: Sequence[AttachmentRef]) -> None:
        """Look the model up, if there are images for it."""
        self._looks += 1
        if any(is_image(one) for one in held):
            self._owner.spawn(self._look(conversation_id, self._looks), "can the model see")
        else:
            self._blind_model = ""

    def warning_of(self, attachment: AttachmentRef) -> str:
        """Why this one does not reach the model, or nothing."""
        return blind_words(self._blind_model, [attachment.name]) if self._is_unseen(attachment) else ""

    def warning(self, held: Sequence[AttachmentRef]) -> str:
        """Why some of these do not reach the model, or nothing."""
        unseen = [one.name for one in held if self._is_unseen(one)]
        return blind_words(self._blind_model, unseen) if unseen else ""

    def _is_unseen(self, attachment: AttachmentRef) -> bool:
        return bool(self._blind_model) and is_image(attachment)

    async def _look(self, conversation_id: str | None, look: int) -> None:
        try:
            blind = await _blind_model(await self._core(), conversation_id)
        except SophosError:
            blind = ""  # what is wrong with the engine is said where it matters
        if look == self._looks and blind != self._blind_model:
            self._blind_model = blind
            self._changed()


async def _blind_model(core: Core, conversation_id: str | None) -> str:
    """The name of the model that a message would go to, if it is known to see nothing."""
    chosen = await core.models.chosen(conversation_id)
    for model in await core.models.all():
        if (model.engine, model.name) == (chosen.engine, chosen.model):
            return "" if Capability.VISION in model.capabilities else model.name
    return ""
