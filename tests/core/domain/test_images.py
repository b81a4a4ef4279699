"""How large an image is, and what is kept of a refusal, without looking at a single pixel."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sophos_desktop.core.domain.attaching import LARGEST_IMAGE_PIXELS, made_attachment
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.image_refusals import ImagePlace, ImageRefusal, refusals_in, with_failure
from sophos_desktop.core.domain.image_sizes import image_size

PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF" + b"\0" * 10
FRAME = struct.pack(">BBHBHH", 0xFF, 0xC2, 17, 8, 480, 640)
LOSSY = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640, 480 | 0x4000)
LOSSLESS = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 639 | 479 << 14)
EXTENDED = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0" + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")


def png(width: int, height: int) -> bytes:
    return PNG + struct.pack(">I4sII", 13, b"IHDR", width, height)


@pytest.mark.parametrize(
    "content",
    [
        png(640, 480),
        b"GIF89a" + struct.pack("<HH", 640, 480),
        JPEG + FRAME,
        JPEG + b"\xff\xc4\0\x04ab\xff\xff\xfe\0\x02" + FRAME,
        LOSSY,
        LOSSLESS,
        EXTENDED,
    ],
)
def test_the_first_bytes_say_how_large_an_image_is(content: bytes) -> None:
    assert image_size(content) == (640, 480)


@pytest.mark.parametrize(
    "content",
    [b"", b"words", PNG, PNG + b"\0" * 20, JPEG, JPEG + FRAME[:-1], b"GIF89a\0", LOSSY[:-1], EXTENDED[:-1]],
)
def test_what_does_not_say_it_has_no_size(content: bytes) -> None:
    assert image_size(content) is None


@given(st.sampled_from([PNG, JPEG, b"GIF89a", b"RIFF\0\0\0\0WEBPVP8L"]), st.binary(max_size=60))
def test_no_bytes_are_too_odd(magic: bytes, rest: bytes) -> None:
    size = image_size(magic + rest)
    assert size is None or min(size) >= 0


def test_an_image_of_too_many_pixels_is_refused_and_one_of_just_enough_is_not() -> None:
    with pytest.raises(SophosError) as caught:
        made_attachment("sky.png", png(30_000, 30_000))
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert caught.value.title == "“sky.png” has 30,000 × 30,000 pixels; an image may have 250 million at most"
    assert made_attachment("sky.png", png(LARGEST_IMAGE_PIXELS // 10_000, 10_000)).ref.name == "sky.png"


def test_refusals_are_read_back_and_what_is_none_is_passed_over() -> None:
    kept = ImageRefusal(ImagePlace("m", "s"), "ollama", "llava", 1)
    assert refusals_in([kept.to_json(), 3, {"sha256": "s"}, {**kept.to_json(), "failures": "2"}]) == [kept]
    assert refusals_in(None) == refusals_in({"a": 1}) == []


def test_failures_are_counted_for_each_model_and_place() -> None:
    here, there = ImagePlace("m", "s"), ImagePlace("n", "s")
    first = with_failure([], "ollama", "a", [here], is_certain=False)
    assert [one.is_left_out for one in first] == [False]
    other = with_failure(first, "ollama", "b", [here, there], is_certain=True)
    assert {(one.model, one.place): one.failures for one in other} == {
        ("a", here): 1,
        ("b", here): 2,
        ("b", there): 2,
    }
    again = with_failure(other, "ollama", "a", [here], is_certain=False)
    assert all(one.is_left_out for one in again)
    assert len(again) == 3
