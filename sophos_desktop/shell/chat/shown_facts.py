"""Reads what only the store knows of what is in the view: figures of runs, whole results, attachments.

Invariant: only what is looked at is read, once: the runs in one read, the rest one by one. What was read for
a conversation that is no longer open changes nothing. None of it is needed to read the conversation, so a
failure is no error.
"""

import asyncio
import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QTimer

from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.item_kinds import AnswerItem, ResultImage, ToolItem, UserItem
from sophos_desktop.shell.chat.items import TranscriptItems
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.transcript.view.attached_files import is_picture
from sophos_desktop.shell.transcript.view.bounded_images import MOST_BYTES

LOOK_MILLISECONDS = 120
_READ_UNASKED_BYTES = 4_000_000  # a larger result is read when it is opened
_LARGEST_IMAGE = 32 * 1024 * 1024  # characters of base64
_KEPT_BYTES = 96 * 1024 * 1024  # of images
_MOST_RUNS = 50


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One thing to read."""

    run_ids: tuple[str, ...] = ()
    call_id: str = ""
    image: AttachmentRef | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """What is noted as tried."""
        return (*self.run_ids, self.call_id, self.image.sha256 if self.image else "")


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
        self._tried: set[str] = set()  # runs, calls, images
        self._opened: set[str] = set()
        self._images: dict[str, bytes] = {}
        self._let_go: set[str] = set()  # images, or the calls that returned them, that went out of memory
        self._is_reading = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(LOOK_MILLISECONDS)
        self._timer.timeout.connect(self._look)
        self._transcript.set_image_provider(lambda key: self._images.get(key))
        self._transcript.layoutChanged.connect(self._look_soon)
        self._transcript.opened.connect(self._on_opened)
        self._transcript.imageActivated.connect(self._on_image_activated)
        self._transcript.attachment_wanted.connect(self._open)

    def _look_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _on_opened(self, key: str) -> None:
        self._look_at(self._open_conversation())
        self._opened.add(key)
        self._look_soon()

    def _look(self) -> None:
        conversation_id, core = self._open_conversation(), self._core()
        self._look_at(conversation_id)
        self._try_again()
        if core is not None and conversation_id is not None and not self._is_reading and self._wanted():
            self._is_reading = True
            self._owner.spawn(self._read(core, conversation_id), "read what is shown")

    def _look_at(self, conversation_id: str | None) -> None:
        if conversation_id != self._conversation_id:
            self._conversation_id = conversation_id
            for known in (self._tried, self._opened, self._images, self._let_go):
                known.clear()

    def _try_again(self) -> None:
        """What was let go of and is out of the view may be read again, once it is seen again."""
        if self._let_go:
            seen = {item.key for item in self._transcript.visible_items}
            for item in self._transcript.visible_items:
                if isinstance(item, UserItem):
                    seen |= {attachment.sha256 for attachment in item.attachments}
            self._tried -= self._let_go - seen
            self._let_go &= seen

    def _wanted(self) -> "_Wanted | None":
        """The next thing to read: all runs that are seen at once, then results and images one by one."""
        runs: list[str] = []
        others: list[_Wanted] = []
        for item in self._transcript.visible_items:
            if isinstance(item, UserItem):
                others += [
                    _Wanted(image=attachment)
                    for attachment in item.attachments
                    if is_picture(attachment) and attachment.sha256 not in self._tried
                ]
            elif isinstance(item, AnswerItem | ToolItem):
                run_id = item.run_id
                is_new = run_id and run_id not in self._tried and not self._items.facts.is_known(run_id)
                if is_new and run_id not in runs:
                    runs.append(str(run_id))
                if isinstance(item, ToolItem) and item.key not in self._tried and self._is_wanted(item):
                    others.append(_Wanted(call_id=item.key))
        if runs:
            return _Wanted(run_ids=tuple(runs[:_MOST_RUNS]))
        return others[0] if others else None

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
                self._tried.update(wanted.keys)
                try:
                    if wanted.image is not None:
                        await self._read_image(core, conversation_id, wanted.image)
                    elif wanted.call_id:
                        await self._read_result(core, conversation_id, wanted.call_id)
                    else:
                        await self._read_runs(core, conversation_id, wanted.run_ids)
                except SophosError:
                    continue  # deleted meanwhile, or the store is busy: the rest is shown all the same
        finally:
            self._is_reading = False

    async def _read_runs(self, core: Core, conversation_id: str, run_ids: Sequence[str]) -> None:
        told = await core.conversations.traces_of(run_ids)
        # While another conversation is being opened, the view still shows the one before.
        if conversation_id != self._open_conversation():
            return
        for run_id, events in told.items():
            if self._items.has_run(run_id):
                self._items.facts.read(run_id, events)
        self._items.show_facts()
        self._transcript.show_items(self._items.items)

    async def _read_image(self, core: Core, conversation_id: str, image: AttachmentRef) -> None:
        content = b""  # one that cannot be had
        try:
            if image.size_bytes <= MOST_BYTES:
                content = await core.attachments.content(image.sha256)
        finally:
            if conversation_id == self._open_conversation():
                self._keep_images({image.sha256: content})
                self._transcript.images.look_again()
                self._transcript.refresh()  # takes the bytes, before the next may push them out

    def _keep_images(self, images: Mapping[str, bytes]) -> None:
        """Those read last; one that is let go of is read again when it comes back into the view."""
        self._images.update(images)
        while len(self._images) > 1 and sum(map(len, self._images.values())) > _KEPT_BYTES:
            key = next(iter(self._images))
            del self._images[key]
            self._let_go.add(key.rpartition("/")[0] or key)

    # A window for an attachment.

    def _on_image_activated(self, key: str) -> None:
        for item in self._transcript.visible_items:
            if isinstance(item, UserItem):
                for attachment in item.attachments:
                    if attachment.sha256 == key:
                        self._open(attachment)
                        return
            elif isinstance(item, ToolItem) and key in self._images:
                name = next((image.name for image in item.images if image.key == key), "")
                if name:
                    self._transcript.open_image(name, self._images[key])
                    return

    def _open(self, attachment: AttachmentRef) -> None:
        core = self._core()
        if core is not None:
            self._owner.spawn(self._show(core, attachment), "open an attachment")

    async def _show(self, core: Core, attachment: AttachmentRef) -> None:
        """What cannot be read is told by whoever the task's owner tells of errors."""
        content = await core.attachments.content(attachment.sha256)
        if is_picture(attachment):
            self._transcript.open_image(attachment.name, content)
        else:
            text = await asyncio.to_thread(content.decode, "utf-8", "replace")
            self._transcript.open_text(attachment.name, text)

    async def _read_result(self, core: Core, conversation_id: str, call_id: str) -> None:
        result = await core.conversations.tool_result(conversation_id, call_id)
        images = await asyncio.to_thread(images_of, result, call_id)
        if conversation_id == self._open_conversation():
            self._keep_images({image.key: content for image, content in images})
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
