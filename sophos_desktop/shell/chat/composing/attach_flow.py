"""What is attached to the message that is written: reads it, has it kept, shows it, takes it away.

Invariant: what a chip shows is in the store, with the draft of its conversation; the store is the truth, and
this only its picture. Files are read one after the other, off the GUI thread, and nothing is kept with a
draft while a message of it is on its way.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from sophos_desktop.core.domain.attaching import MOST_ATTACHMENTS, safe_name, too_many
from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.async_slots import connect_async
from sophos_desktop.shell.chat.composing.chip_area import ShownAttachment
from sophos_desktop.shell.chat.composing.composer_frame import ComposerFrame
from sophos_desktop.shell.chat.composing.file_picker import FilePicker
from sophos_desktop.shell.chat.composing.incoming import Incoming
from sophos_desktop.shell.chat.composing.model_eyes import ModelEyes
from sophos_desktop.shell.chat.composing.picked_files import Picked, encode_picture, read_file
from sophos_desktop.shell.facade import Attachments, Core

_SETTLE_SECONDS = 2.0


@dataclass(slots=True, eq=False)
class _Coming:
    """Something that is read. Its conversation may get its id meanwhile."""

    conversation_id: str | None
    name: str


class ErrorPlace(Protocol):
    """Where errors are shown, one at a time."""

    def show_error(self, error: SophosError) -> None:
        """Say what went wrong."""

    def withdraw_error(self, error: SophosError) -> None:
        """It is settled."""


class AttachFlow(QObject):
    """Lives as long as its window, on the GUI thread. None is the chat that does not exist yet."""

    changed = Signal()  # what is attached, or what is still read
    refused = Signal()  # something was not attached; what was wrong is said

    def __init__(
        self,
        frame: ComposerFrame,
        owner: TaskOwner,
        core: Callable[[], Awaitable[Core]],
        errors: ErrorPlace,
        parent: QObject,
    ) -> None:
        """`core` gives the open core once it is there, or raises; `errors` shows what went wrong."""
        super().__init__(parent)
        self._frame = frame
        self._owner = owner
        self._core = core
        self._say = errors.show_error
        self._take_back = errors.withdraw_error
        self._said: SophosError | None = None  # why something was not attached
        self._conversation_id: str | None = None
        self._held: tuple[AttachmentRef, ...] = ()
        self._coming: list[_Coming] = []
        self._changes = 0
        self._one_by_one = asyncio.Lock()
        self._sending: set[str | None] = set()
        self._news = asyncio.Event()
        self._eyes = ModelEyes(owner, core, self._show, self)
        frame.incoming.connect(self._take)
        frame.model_changed.connect(self.look_at_model)
        self._picker = FilePicker()
        frame.attach_requested.connect(lambda: self._picker.ask(frame.window(), frame.incoming.emit))
        connect_async(frame.remove_wanted, self._remove, owner, "take an attachment away")

    @property
    def held(self) -> tuple[AttachmentRef, ...]:
        """What goes with the next message of the open conversation."""
        return self._held

    def is_reading(self, conversation_id: str | None) -> bool:
        """True while something is read that will be attached there."""
        return any(one.conversation_id == conversation_id for one in self._coming)

    # What is open, and what is on its way

    def clear(self, conversation_id: str | None) -> None:
        """Another conversation is opened; `reload` shows what is attached there."""
        self._conversation_id = conversation_id
        self._set(())

    async def reload(self, conversation_id: str | None) -> None:
        """Show what the store holds; asked again where something was changed meanwhile."""
        changes = -1
        while conversation_id == self._conversation_id and changes != self._changes:
            changes = self._changes
            try:
                held = tuple(await (await self._attachments()).of_draft(conversation_id))
            except SophosError as error:
                self._say(error)
                return
            if conversation_id == self._conversation_id and changes == self._changes:
                self._set(held)
                return

    async def settle(self) -> None:
        """Wait until nothing is read any more, for some seconds: a disk that hangs holds nobody up."""
        try:
            async with asyncio.timeout(_SETTLE_SECONDS):
                while self._coming:
                    await self._news.wait()
        except TimeoutError:
            return

    def look_at_model(self) -> None:
        """Another model may be chosen."""
        self._eyes.look(self._conversation_id, self._held)

    def hold_back(self, conversation_id: str | None) -> None:
        """A message of that conversation is on its way: until `let_go`, its draft is left alone."""
        self._sending.add(conversation_id)

    def let_go(self, conversation_id: str | None) -> None:
        """It was sent, or it failed."""
        self._sending.discard(conversation_id)
        self._tell()

    def sent(self, conversation_id: str | None, to: str, given: Sequence[AttachmentRef]) -> None:
        """These went with a message; what is still read goes to the next one, `to` its conversation."""
        for one in self._coming:
            if one.conversation_id == conversation_id:
                one.conversation_id = to
        if self._conversation_id == conversation_id:
            self._conversation_id = to
            self._set(tuple(one for one in self._held if one not in given))

    # Adding and removing

    def _take(self, arrived: Sequence[Incoming]) -> None:
        """What arrived counts as attached from now on: a message that is sent waits for it."""
        target = self._conversation_id
        room = MOST_ATTACHMENTS - len(self._held) - sum(one.conversation_id == target for one in self._coming)
        taken = [(item, _Coming(target, item.name)) for item in arrived[: max(0, room)]]
        errors = [too_many()] if len(arrived) > len(taken) else []
        self._coming += [coming for _, coming in taken]
        self._set(self._held)
        if errors:
            self.refused.emit()
        self._owner.spawn(self._add_all(taken, errors), "attach")

    async def _add_all(self, taken: Sequence[tuple[Incoming, _Coming]], errors: list[SophosError]) -> None:
        for item, coming in taken:
            kept: tuple[AttachmentRef, ...] = ()
            try:
                kept = (await self._add(item, coming),)
            except SophosError as error:
                errors.append(error)
                self.refused.emit()
            finally:
                self._coming.remove(coming)
                is_open = coming.conversation_id == self._conversation_id
                self._set((*self._held, *(one for one in kept if is_open and one not in self._held)))
        if errors:
            self._said = all_of(errors)
            self._say(self._said)
        elif self._said is not None and taken:
            self._take_back(self._said)
            self._said = None

    async def _add(self, item: Incoming, coming: _Coming) -> AttachmentRef:
        async with self._one_by_one:
            picked = await asyncio.to_thread(_read, item)
            attachments = await self._attachments()
            while coming.conversation_id in self._sending:
                await self._news.wait()
            ref = await attachments.add(coming.conversation_id, picked.name, picked.content)
            if ref in self._held and ref.name != safe_name(picked.name):
                raise SophosError(
                    ErrorCode.BAD_REQUEST,
                    f"“{picked.name}” holds the same as “{ref.name}”, which is attached already",
                    "It goes along once, under that name",
                )
            return ref

    async def _remove(self, gone: AttachmentRef | None) -> None:
        target = self._conversation_id
        if gone is None or target in self._sending:
            return
        self._set(tuple(one for one in self._held if one != gone))
        try:
            await (await self._attachments()).remove(target, gone.sha256)
        except SophosError as error:
            self._say(error)
            await self.reload(target)
            return
        if target == self._conversation_id and gone in self._held:  # read while it was taken away
            self._set(tuple(one for one in self._held if one != gone))

    async def _attachments(self) -> Attachments:
        return (await self._core()).attachments

    # Showing

    def _set(self, held: tuple[AttachmentRef, ...]) -> None:
        self._changes += 1
        is_new, self._held = held != self._held, held
        if is_new:
            self.look_at_model()
        self._show()
        self.changed.emit()
        self._tell()

    def _tell(self) -> None:
        """Wake whoever waits."""
        self._news.set()
        self._news = asyncio.Event()

    def _show(self) -> None:
        held = [ShownAttachment(one.name, one, self._eyes.warning_of(one)) for one in self._held]
        coming = [
            ShownAttachment(one.name) for one in self._coming if one.conversation_id == self._conversation_id
        ]
        self._frame.show_attachments([*held, *coming], self._eyes.warning(self._held))


def all_of(errors: Sequence[SophosError]) -> SophosError:
    """One that names each: what is said is said once."""
    first, *others = errors
    if not others:
        return first
    titles = dict.fromkeys(error.title for error in errors)
    remedies = dict.fromkeys(error.remedy for error in errors if error.remedy)
    return SophosError(first.code, ". ".join(titles), ". ".join(remedies))


def _read(item: Incoming) -> Picked:
    """Raises SophosError BAD_REQUEST."""
    if item.path is not None:
        return read_file(item.path)
    if item.picture is not None:
        return encode_picture(item.picture, item.name)
    return Picked(item.name, item.content or b"")
