"""Puts what is attached to the user's messages into the prompt, as words and as pictures.

Invariant: the thread holds references alone; contents are read when a prompt is made, the newest turn's
always, older ones as far as the context could hold them. What the model is not shown it is told of.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from sophos_desktop.core.agent.messages import attachments_of, text_of
from sophos_desktop.core.domain.attaching import is_image, text_in
from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.image_refusals import ImagePlace
from sophos_desktop.core.domain.tool_parts import words_of_size

IMAGE_TOKENS = 768
"""What an image is counted as. Ollama's own prompt fitting (server/prompt.go) takes this for every model;
models really take from some hundred to some thousand."""

ReadAttachment = Callable[[str], Awaitable[bytes | None]]
"""Gives the bytes under a digest; None if they are not there. Raises SophosError STORE_CORRUPT if they are
not those that were stored, and STORE_*."""


async def nothing_kept(sha256: str) -> bytes | None:
    """Where nothing is kept."""
    return None


@dataclass(frozen=True, slots=True)
class PromptAttachments:
    """What a prompt may show, by digest: texts, and images in base64. `sees_images`: whether the model does;
    `newest_image`: the id of the newest message with one, empty if there is none; `unread`: what is missing
    or damaged, newest first; `refused`: images that the model would not take before."""

    texts: Mapping[str, str] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)
    sees_images: bool = False
    newest_image: str = ""
    unread: tuple[AttachmentRef, ...] = ()
    refused: Collection[ImagePlace] = ()

    def copy_of(self, message: HumanMessage) -> HumanMessage:
        """The user's words with what is attached to them below, as engines take it."""
        refs = attachments_of(message)
        shown = self.shown_in(message)
        parts = [text_of(message), *(self._words_on(ref, message) for ref in refs if ref not in shown)]
        words = "\n\n".join(part for part in parts if part)
        pictures = [_picture(ref, self.images[ref.sha256]) for ref in shown]
        if not pictures:
            return HumanMessage(words)
        content: list[str | dict[str, Any]] = [{"type": "text", "text": words}] if words else []
        return HumanMessage([*content, *pictures])

    def shown_in(self, message: BaseMessage) -> Sequence[AttachmentRef]:
        """The images of a message of the thread that the model is shown."""
        return [
            ref
            for ref in attachments_of(message)
            if ref.sha256 in self.images and place_of(ref, message) not in self.refused
        ]

    def refused_in(self, message: BaseMessage) -> Sequence[AttachmentRef]:
        """The images of a message of the thread that the model sees, but would not take."""
        if not self.sees_images:
            return ()
        return [ref for ref in attachments_of(message) if place_of(ref, message) in self.refused]

    def unseen_in(self, message: BaseMessage) -> int:
        """How many images of a message of the thread the model is not shown, since it sees none."""
        return 0 if self.sees_images else sum(is_image(ref) for ref in attachments_of(message))

    def _words_on(self, ref: AttachmentRef, message: BaseMessage) -> str:
        about = f"“{ref.name}” ({words_of_size(ref.size_bytes)})"
        if is_image(ref) and not self.sees_images:
            return f"[The user attached the image {about}. It was not shown to you: you cannot see images.]"
        if place_of(ref, message) in self.refused:
            return f"[The user attached the image {about}. It was not shown to you: you could not read it.]"
        text = self.texts.get(ref.sha256)
        if text is None:
            return f"[The user attached {about}. It could not be read.]"
        return _block(ref.name, text)


NO_ATTACHMENTS = PromptAttachments()


def place_of(ref: AttachmentRef, message: BaseMessage) -> ImagePlace:
    """Where an image of a message stands."""
    return ImagePlace(str(message.id), ref.sha256)


def image_count(message: BaseMessage) -> int:
    """How many pictures a message of the prompt shows."""
    return sum(isinstance(part, dict) and part.get("type") == "image_url" for part in _parts(message))


async def read_attachments(
    history: Sequence[BaseMessage],
    read: ReadAttachment,
    room: int,
    image_size: int,
    *,
    sees_images: bool,
    refused: Collection[ImagePlace] = (),
) -> PromptAttachments:
    """What the newest turns show, until `room` characters are filled; an image takes `image_size` of them.
    What the newest message of the user has is always read, but for what is `refused`. Raises SophosError
    STORE_*."""
    texts: dict[str, str] = {}
    images: dict[str, str] = {}
    unread: dict[str, AttachmentRef] = {}
    found = await asyncio.to_thread(_newest_first, history)
    left = room
    for number, message in enumerate(found.messages):
        for ref in attachments_of(message):
            if left <= 0 and (number or not found.is_newest):
                break  # what comes before the newest message and does not fit will be left out
            if is_image(ref) and (not sees_images or place_of(ref, message) in refused):
                continue
            if ref.sha256 not in texts and ref.sha256 not in images:
                content = await _content(read, ref.sha256)
                if content is not None:
                    await asyncio.to_thread(_put, ref, content, texts, images)
                if ref.sha256 not in texts and ref.sha256 not in images:
                    unread.setdefault(ref.sha256, ref)
            left -= image_size if ref.sha256 in images else len(texts.get(ref.sha256, ""))
    return PromptAttachments(texts, images, sees_images, found.newest_image, tuple(unread.values()), refused)


async def _content(read: ReadAttachment, sha256: str) -> bytes | None:
    """None where there is none, or it is not what was attached: other bytes are nobody's words."""
    try:
        return await read(sha256)
    except SophosError as error:
        if error.code is not ErrorCode.STORE_CORRUPT:
            raise
        return None


@dataclass(frozen=True, slots=True)
class _Found:
    """The messages of a history with something attached, newest first; `is_newest`: the first of them is the
    newest of the user's messages."""

    messages: Sequence[BaseMessage]
    is_newest: bool
    newest_image: str


def _newest_first(history: Sequence[BaseMessage]) -> _Found:
    users = [message for message in reversed(history) if isinstance(message, HumanMessage)]
    having = [(message, refs) for message in users if (refs := attachments_of(message))]
    with_image = (str(message.id) for message, refs in having if any(map(is_image, refs)))
    return _Found(
        [message for message, _ in having],
        bool(having) and having[0][0] is users[0],
        next(with_image, ""),
    )


def largest_text(history: Sequence[BaseMessage]) -> AttachmentRef | None:
    """The largest text attached to the newest message of the user; None if it has none."""
    newest = next((one for one in reversed(history) if isinstance(one, HumanMessage)), None)
    texts = [] if newest is None else [ref for ref in attachments_of(newest) if not is_image(ref)]
    return max(texts, key=lambda ref: ref.size_bytes, default=None)


def _put(ref: AttachmentRef, content: bytes, texts: dict[str, str], images: dict[str, str]) -> None:
    if is_image(ref):
        images[ref.sha256] = base64.b64encode(content).decode("ascii")
        return
    text = text_in(content)
    if text is not None:
        texts[ref.sha256] = text


def _picture(ref: AttachmentRef, encoded: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{ref.mime_type};base64,{encoded}"}}


def _block(name: str, text: str) -> str:
    """The text between marks that it does not have itself."""
    mark = "attachment"
    while f"</{mark}>" in text:
        mark += "_"
    shown = name.replace('"', "'")
    return f'<{mark} name="{shown}">\n{text}\n</{mark}>'


def _parts(message: BaseMessage) -> Sequence[Any]:
    return message.content if isinstance(message.content, list) else ()
