"""How large an image is in pixels, without decoding it.

Invariant: pure; of an image that would not fit into memory only its first bytes are looked at.
"""

import struct
from collections.abc import Callable, Sequence


def image_size(content: bytes) -> tuple[int, int] | None:
    """Width and height in pixels, as an image's first bytes say; None if they do not.

    Nothing is decoded, so that an image that would not fit into memory costs nothing here."""
    for magic, read in _READERS:
        if content.startswith(magic):
            try:
                return read(content)
            except (struct.error, IndexError):
                return None
    return None


def _png_size(content: bytes) -> tuple[int, int] | None:
    width, height = struct.unpack_from(">II", content, 16)
    return (width, height) if content[12:16] == b"IHDR" else None


def _gif_size(content: bytes) -> tuple[int, int] | None:
    width, height = struct.unpack_from("<HH", content, 6)
    return width, height


def _webp_size(content: bytes) -> tuple[int, int] | None:
    kind = content[12:16]
    if kind == b"VP8X":  # each as three bytes, less one
        width, height = (int.from_bytes(content[at : at + 3], "little") + 1 for at in (24, 27))
        return (width, height) if len(content) >= 30 else None
    if kind == b"VP8L":  # 14 bits each, less one, behind a signature byte
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and content[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg_size(content: bytes) -> tuple[int, int] | None:
    """In the first frame header (SOF0 to SOF15 but for three that are none), behind any other segments."""
    at = 2
    while content[at] == 0xFF:
        marker = content[at + 1]
        if marker == 0xFF:  # fill bytes
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", content, at + 5)
            return width, height
        (length,) = struct.unpack_from(">H", content, at + 2)
        at += 2 + max(2, length)
    return None


_READERS: Sequence[tuple[bytes, Callable[[bytes], tuple[int, int] | None]]] = (
    (b"\x89PNG\r\n\x1a\n", _png_size),
    (b"GIF8", _gif_size),
    (b"RIFF", _webp_size),
    (b"\xff\xd8\xff", _jpeg_size),
)
