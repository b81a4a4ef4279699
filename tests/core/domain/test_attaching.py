"""What may be attached: recognised by its content, within bounds, under a name that is no path."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sophos_desktop.core.domain.attaching import (
    LARGEST_IMAGE_BYTES,
    LARGEST_TEXT_BYTES,
    LONGEST_NAME,
    made_attachment,
    safe_name,
    text_in,
)
from sophos_desktop.core.domain.errors import ErrorCode, SophosError

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.mark.parametrize(
    ("content", "mime_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"GIF87a\0\0", "image/gif"),
        (b"GIF89a\0\0", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        ("Grüße \U0001f989\n".encode(), "text/plain"),
        (codecs.BOM_UTF8 + b"words", "text/plain"),
        ("words".encode("utf-16"), "text/plain"),
        (codecs.BOM_UTF16_BE + "words".encode("utf-16-be"), "text/plain"),
        (b"<svg onload='x'/>", "text/plain"),
    ],
)
def test_the_content_says_what_it_is_whatever_the_name_says(content: bytes, mime_type: str) -> None:
    made = made_attachment("program.exe", content)
    assert (made.ref.mime_type, made.ref.size_bytes, made.content) == (mime_type, len(content), content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\0" * 10, "neither text nor an image"),
        (b"%PDF-1.7\n\xff\xfe\xfa", "neither text nor an image"),
        (b"RIFF\x10\0\0\0WAVEfmt ", "neither text nor an image"),
        (b"words\0more words", "neither text nor an image"),
        (codecs.BOM_UTF32_LE + "words".encode("utf-32-le"), "neither text nor an image"),
        (codecs.BOM_UTF16_LE + b"odd", "neither text nor an image"),
        (b"x" * (LARGEST_TEXT_BYTES + 1), "a text may have 1.0 MB at most"),
        (PNG + b"x" * LARGEST_IMAGE_BYTES, "an image may have 20.0 MB at most"),
    ],
)
def test_what_no_model_takes_is_refused_with_its_name_and_a_remedy(content: bytes, words: str) -> None:
    with pytest.raises(SophosError) as caught:
        made_attachment("folder/thing.bin", content)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert caught.value.title.startswith("“thing.bin” ")
    assert words in caught.value.title
    assert caught.value.remedy


def test_the_largest_text_and_image_are_taken() -> None:
    assert made_attachment("a", b"x" * LARGEST_TEXT_BYTES).ref.size_bytes == LARGEST_TEXT_BYTES
    image = PNG + b"x" * (LARGEST_IMAGE_BYTES - len(PNG))
    assert made_attachment("a", image).ref.mime_type == "image/png"


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_text_comes_out_of_each_encoding_as_it_was(text: str) -> None:
    if not text.startswith("\ufeff"):
        assert text_in(text.encode("utf-8")) == text
    assert text_in(codecs.BOM_UTF8 + text.encode("utf-8")) == text
    assert text_in(codecs.BOM_UTF16_BE + text.encode("utf-16-be")) == text
    assert text_in(codecs.BOM_UTF16_LE + text.encode("utf-16-le")) in (text, None)


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("notes.txt", "notes.txt"),
        ("../../etc/passwd", "passwd"),
        ("C:\\a folder\\a b.txt", "a b.txt"),
        ("C:stream.txt", "C_stream.txt"),
        ("two\nlines\x1b[2J.txt", "twolines[2J.txt"),
        ("\u202etxt.exe", "txt.exe"),
        ("half\ud800.txt", "half.txt"),
        ("..", "attachment"),
        ("", "attachment"),
        ("folder/", "attachment"),
        (".gitignore", ".gitignore"),
        ("Grüße \U0001f989.md", "Grüße \U0001f989.md"),
    ],
)
def test_a_name_is_made_safe(given: str, safe: str) -> None:
    assert safe_name(given) == safe


@given(st.text(max_size=400))
def test_no_name_is_long_or_a_path(name: str) -> None:
    safe = safe_name(name)
    assert 0 < len(safe) <= LONGEST_NAME
    assert not set(safe) & set('/\\:\n\r\t\x00"'[:-1])
    assert safe.strip(".")
    assert safe_name(safe) == safe


def test_a_long_name_keeps_its_ending() -> None:
    assert safe_name("x" * 300 + ".tar").endswith("x….tar")
