"""Reads what only the store knows of what is in the view: figures of runs, whole results, their images.

Invariant: only what is looked at is read, one thing at a time and once; what was read for a conversation that
is no longer open changes nothing. Nothing of this is needed to read the conversation: a failure is no error.
"""

import asyncio
import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject, QTimer

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.item_kinds import AnswerItem, ResultImage, ToolItem
from sophos_desktop.shell.chat.items import TranscriptItems
from sophos_desktop.shell.facade import Core

LOOK_MILLISECONDS = 120
_READ_UNASKED_BYTES = 4_000_000  # a larger result is read when it is opened
_LARGEST_IMAGE = 32 * 1024 * 1024  # characters of base64


class ShownFacts(QObject):
    """Lives as long as its window, on the GUI thread."""

    def __init__(
        self,
        view: ChatView,
        owner: TaskOwner,
        items: TranscriptItems,
        core: Callable[[], Core | None],
        open_conversation: Callable[[], str | None],
        parent: QObject,
    ) -> None:
        """`core` gives the open core; `open_conversation` the id of the one on the screen, which `items`
        are of."""
        super().__init__(parent)
        self._transcript = view.transcript
        self._owner = owner
        self._items = items
        self._core = core
        self._open_conversation = open_conversation
        self._conversation_id: str | None = None
        self._tried: set[str] = set()  # runs and calls
        self._opened: set[str] = set()
        self._images: dict[str, bytes] = {}
        self._is_reading = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(LOOK_MILLISECONDS)
        self._timer.timeout.connect(self._look)
        self._transcript.set_image_provider(lambda key: self._images.get(key))
        self._transcript.layoutChanged.connect(self._look_soon)
        self._transcript.opened.connect(self._on_opened)

    def _look_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _on_opened(self, key: str) -> None:
        self._opened.add(key)
        self._look_soon()

    def _look(self) -> None:
        conversation_id, core = self._open_conversation(), self._core()
        if conversation_id != self._conversation_id:
            self._conversation_id = conversation_id
            for known in (self._tried, self._opened, self._images):
                known.clear()
        if core is not None and conversation_id is not None and not self._is_reading and self._wanted():
            self._is_reading = True
            self._owner.spawn(self._read(core, conversation_id), "read what is shown")

    def _wanted(self) -> tuple[str, ToolItem | None] | None:
        """The next thing to read: a run's id, or a call's with its item."""
        for item in self._transcript.visible_items:
            if not isinstance(item, AnswerItem | ToolItem):
                continue
            run_id = item.run_id
            if run_id and run_id not in self._tried and not self._items.facts.is_known(run_id):
                return run_id, None
            if isinstance(item, ToolItem) and item.key not in self._tried and self._is_wanted(item):
                return item.key, item
        return None

    def _is_wanted(self, item: ToolItem) -> bool:
        if item.whole_bytes is None:
            return False
        return item.whole_bytes <= _READ_UNASKED_BYTES or item.key in self._opened or item.status == "error"

    async def _read(self, core: Core, conversation_id: str) -> None:
        try:
            while conversation_id == self._open_conversation() and self._core() is core:
                wanted = self._wanted()
                if wanted is None:
                    break
                key, call = wanted
                self._tried.add(key)
                try:
                    if call is None:
                        await self._read_run(core, conversation_id, key)
                    else:
                        await self._read_result(core, conversation_id, key)
                except SophosError:
                    continue  # deleted meanwhile, or the store is busy: the rest is shown all the same
        finally:
            self._is_reading = False

    async def _read_run(self, core: Core, conversation_id: str, run_id: str) -> None:
        events = await core.conversations.trace(run_id)
        # While another conversation is being opened, the view still shows the one before.
        if conversation_id == self._open_conversation() and self._items.has_run(run_id):
            self._items.facts.read(run_id, events)
            self._items.show_facts()
            self._transcript.show_items(self._items.items)

    async def _read_result(self, core: Core, conversation_id: str, call_id: str) -> None:
        result = await core.conversations.tool_result(conversation_id, call_id)
        images = await asyncio.to_thread(images_of, result, call_id)
        if conversation_id == self._open_conversation():
            self._images.update({image.key: content for image, content in images})
            self._items.show_whole(call_id, result.text, tuple(image for image, _ in images))
            self._transcript.show_items(self._items.items)


def images_of(result: ToolResult, call_id: str) -> list[tuple[ResultImage, bytes]]:
    """The images among the parts of a result, with their bytes; what is not base64 is left out."""
    found = []
    for number, part in enumerate(result.content):
        content = _image_bytes(part)
        if content is not None:
            name = str(part.get("mimeType") or "image")
            found.append((ResultImage(f"{call_id}/{number}", name), content))
    return found


def _image_bytes(part: Mapping[str, Any]) -> bytes | None:
    data = part.get("data")
    if part.get("type") != "image" or not isinstance(data, str) or len(data) > _LARGEST_IMAGE:
        return None
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
