"""What may go with a message, and under which name and type.

Invariant: pure; the type comes from the content alone, never from the name, and a name is never a path. What
cannot be given to a model is refused before anything is kept.
"""

import codecs
import hashlib
import re
import unicodedata
from pathlib import PurePath

from sophos_desktop.core.domain.conversation import Attachment, AttachmentRef
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.image_sizes import image_size
from sophos_desktop.core.domain.tool_parts import words_of_size

# Some 300,000 tokens: more than the contexts of models that run at home.
LARGEST_TEXT_BYTES = 1_000_000
# What cameras and screens make is smaller, and an engine gets it a third larger, in one line of JSON.
LARGEST_IMAGE_BYTES = 20_000_000
# An engine takes an image apart as a whole, at four bytes a pixel; no camera that people have makes more.
LARGEST_IMAGE_PIXELS = 250_000_000
# A message is read as a whole by a person and by a model.
MOST_ATTACHMENTS = 10
LONGEST_NAME = 120

TEXT_TYPE = "text/plain"
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Line ends and controls, half surrogate pairs, and what turns the direction of a text around.
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def made_attachment(name: str, content: bytes, *, called: str = "") -> Attachment:
    """A text file or an image, ready to be kept. `called`: what errors call it, if not by its name.

    Raises SophosError BAD_REQUEST: it is empty, too large (also in pixels), or neither text nor image."""
    safe = safe_name(name)
    shown = called or safe
    if not content:
        raise SophosError(ErrorCode.BAD_REQUEST, f"“{shown}” is empty", "Choose a file with something in it")
    image = image_type(content)
    largest = LARGEST_TEXT_BYTES if image is None else LARGEST_IMAGE_BYTES
    if image is None and len(content) <= largest and text_in(content) is None:
        raise SophosError(
            ErrorCode.BAD_REQUEST,
            f"“{shown}” is neither text nor an image that models take",
            "Attach a text file, or a PNG, JPEG, GIF or WebP image",
        )
    if len(content) > largest:
        raise too_large(shown, len(content), largest, is_image=image is not None)
    size = image_size(content) if image is not None else None
    if size is not None and size[0] * size[1] > LARGEST_IMAGE_PIXELS:
        raise SophosError(
            ErrorCode.BAD_REQUEST,
            f"“{shown}” has {size[0]:,} × {size[1]:,} pixels; an image may have "
            f"{LARGEST_IMAGE_PIXELS // 1_000_000:,} million at most",
            "Make it smaller first",
        )
    digest = hashlib.sha256(content).hexdigest()
    return Attachment(AttachmentRef(digest, safe, image or TEXT_TYPE, len(content)), content)


def too_large(name: str, size_bytes: int, largest_bytes: int, *, is_image: bool) -> SophosError:
    """What a file beyond the bounds gets."""
    kind, remedy = ("a text", "Attach the part of it that matters")
    if is_image:
        kind, remedy = ("an image", "Make it smaller first")
    return SophosError(
        ErrorCode.BAD_REQUEST,
        f"“{name}” has {words_of_size(size_bytes)}; {kind} may have {words_of_size(largest_bytes)} at most",
        remedy,
    )


def too_many() -> SophosError:
    """What one attachment more than a message may have gets."""
    return SophosError(
        ErrorCode.BAD_REQUEST,
        f"A message takes {MOST_ATTACHMENTS} attachments at most",
        "Take one away first, or send them with two messages",
    )


def image_type(content: bytes) -> str | None:
    """The MIME type of an image that engines take, by its first bytes; None if it is none."""
    for magic, mime_type in _MAGIC:
        if content.startswith(magic):
            return mime_type
    return "image/webp" if content[:4] == b"RIFF" and content[8:12] == b"WEBP" else None


def text_in(content: bytes) -> str | None:
    """The text, without its byte order mark; None if it is no text: not UTF-8, nor UTF-16 with a mark, or
    with a NUL in it."""
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def is_image(ref: AttachmentRef) -> bool:
    """True for what is shown to a model as a picture."""
    return ref.mime_type.startswith("image/")


def safe_name(name: str) -> str:
    """A name for people and for a file: no folder, nothing unseen, at most `LONGEST_NAME` characters."""
    last = re.split(r"[/\\]", name)[-1]
    seen = "".join(
        sign for sign in last if unicodedata.category(sign) not in _UNSEEN_CATEGORIES and sign not in _TURNING
    )
    # A colon would name a drive or a second stream of a file where such things are.
    plain = " ".join(seen.replace(":", "_").split())
    if not plain.strip("."):
        return "attachment"
    if len(plain) > LONGEST_NAME:
        ending = PurePath(plain).suffix[:20]
        plain = plain[: LONGEST_NAME - len(ending) - 1] + "…" + ending
    return plain
