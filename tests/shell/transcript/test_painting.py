"""What is painted around the text, and what of it reacts to the mouse."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRectF, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest

from sophos_desktop.shell.theme.tokens import LIGHT
from sophos_desktop.shell.transcript.model.transcript_model import (
    MessageImage,
    MessageKind,
    TranscriptMessage,
)
from sophos_desktop.shell.transcript.view.bounded_images import HIGHEST, PLACEHOLDER, decode
from sophos_desktop.shell.transcript.view.hit_areas import HitKind, address_rectangle, image_rectangle
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from tests.shell.transcript.viewing import (
    PROSE,
    answer,
    is_same_picture,
    on_screen,
    painted_anew,
    settle,
    shown,
    until_idle,
    user,
)


@contextmanager
def of(text: str) -> Iterator[TranscriptView]:
    with shown([answer("a", text)]) as view:
        until_idle(view)
        yield view


def asked(view: TranscriptView) -> list[str]:
    """What the view asks for from now on."""
    words: list[str] = []
    view.linkActivated.connect(lambda target: words.append(f"open {target}"))
    view.copyRequested.connect(lambda text: words.append(f"copy {text}"))
    return words


def find(view: TranscriptView, kind: HitKind) -> QPointF:
    """A point where something of a kind is hit."""
    for y in range(0, view.viewport().height(), 4):
        for x in range(0, view.viewport().width(), 4):
            hit = view.pointer.hit_at(QPointF(x, y))
            if hit is not None and hit.kind is kind:
                return QPointF(x, y)
    raise AssertionError(f"nothing to hit: {kind}")


def click(view: TranscriptView, point: QPointF) -> None:
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point.toPoint())


def test_a_link_is_reported_and_shows_where_it_leads() -> None:
    with of("See [the page](https://example.org/x) here.") as view:
        words = asked(view)
        hovered: list[str] = []
        view.linkHovered.connect(hovered.append)
        place = find(view, HitKind.LINK) + QPointF(4, 0)
        QTest.mouseMove(view.viewport(), place.toPoint())
        settle()
        assert view.viewport().toolTip() == "https://example.org/x"
        click(view, place)
        assert words == ["open https://example.org/x"]
        assert hovered == ["https://example.org/x"]


def test_a_press_that_becomes_a_drag_opens_nothing() -> None:
    with of("[a link that is long enough to drag over it](https://example.org/x)") as view:
        words = asked(view)
        place = (find(view, HitKind.LINK) + QPointF(4, 4)).toPoint()
        QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=place + QPointF(80, 0).toPoint())
        assert words == []


def test_code_is_copied_whole_and_says_so() -> None:
    code = "".join(f"line {number}\n" for number in range(200))
    with of("```text\n" + code + "```\n") as view:
        view.scroll_to_message(0)
        until_idle(view)
        words = asked(view)
        before = on_screen(view)
        place = find(view, HitKind.COPY_CODE) + QPointF(4, 4)
        click(view, place)
        assert words == ["copy " + code.removesuffix("\n")]
        assert on_screen(view) != before


def test_a_blocked_image_offers_its_address() -> None:
    with of(PROSE + "\n\n![chart](file:///etc/passwd)\n\nafter") as view:
        words = asked(view)
        click(view, find(view, HitKind.COPY_ADDRESS) + QPointF(4, 4))
        assert words == ["copy file:///etc/passwd"]
        (part,) = (view.geometry_of_text.text_part(placed) for placed in view.transcript_layout.placed)
        assert part is not None
        (image,) = part.drawn.built.blocked_images
        frame = image_rectangle(part.drawn.document, image, part.drawn.width, view.looks)
        assert frame.height() == 56
        assert frame.contains(address_rectangle(frame, view.looks))


def test_a_footnote_leads_to_its_text() -> None:
    text = "Claim[^1].\n\n" + (PROSE * 3 + "\n\n") * 30 + "[^1]: The note.\n"
    with of(text) as view:
        view.scroll_to_message(0)
        until_idle(view)
        click(view, find(view, HitKind.FOOTNOTE) + QPointF(1, 4))
        settle()
        assert view.is_at_end


def colours(image: QImage, place: QRectF) -> set[str]:
    part = image.copy(place.toRect())
    return {part.pixelColor(x, y).name().upper() for x in range(part.width()) for y in range(part.height())}


def test_the_bubble_is_at_the_right_and_as_wide_as_its_text() -> None:
    with shown([user("u", "Short question?"), user("v", PROSE * 4)]) as view:
        short, long = view.transcript_layout.placed
        left = view.geometry_of_text.column_left
        picture = on_screen(view)
        assert short.height == 24 + 2 * 8
        assert colours(picture, QRectF(left + 598, short.top + 16, 2, 4)) == {LIGHT.bubble}
        assert colours(picture, QRectF(left, short.top, 300, short.height)) == {LIGHT.paper}
        assert colours(picture, QRectF(left + 128, long.top + 16, 4, 4)) == {LIGHT.bubble}
        assert colours(picture, QRectF(left, long.top, 119, long.height)) == {LIGHT.paper}


def test_distances_are_those_of_the_look() -> None:
    with shown([user("u", "?"), answer("a", "text"), user("v", "?"), answer("b", "# Heading")]) as view:
        placed = view.transcript_layout.placed
        assert placed[0].top == 12
        assert placed[1].top - placed[0].bottom == 12
        assert placed[2].top - placed[1].bottom == 24
        assert placed[3].top - placed[2].bottom == 16
        assert placed[1].height == 24
        assert placed[3].height == 28
        assert view.transcript_layout.documents.column == 600


def test_an_answer_that_is_being_written_ends_in_a_caret() -> None:
    with shown([answer("a", "Some words", is_open=True)]) as view:
        (part,) = (view.geometry_of_text.text_part(placed) for placed in view.transcript_layout.placed)
        assert part is not None
        view.model.append(0, " and more")  # a caret is lit when something was written
        settle()
        end = QRectF(view.geometry_of_text.column_left + 60, part.placed.top, 300, 24)
        assert LIGHT.accent in colours(on_screen(view), end)
        view.model.close(0)
        settle()
        assert LIGHT.accent not in colours(on_screen(view), end)


def test_nothing_of_a_formula_is_cut_off() -> None:
    with of("$$\\sum_{i=1}^{n} x_i$$") as view:
        (placed,) = view.transcript_layout.placed
        picture = on_screen(view)
        left = view.geometry_of_text.column_left
        for y in (placed.top, placed.bottom - 1):
            assert colours(picture, QRectF(left, y, 600, 1)) == {LIGHT.paper}
        assert len(colours(picture, QRectF(left, placed.top, 600, placed.height))) > 5


def png(width: int, height: int) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def huge_png() -> bytes:
    """A PNG that says it is 30,000 by 30,000."""
    import struct
    import zlib

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 1_000)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nothing",
        huge_png(),
        png(300, 200)[:60],
        png(300, 200).replace(b"IDAT", b"IDAX"),
        b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
    ],
    ids=["empty", "text", "30,000 pixels wide", "cut off", "without pixels", "svg"],
)
def test_what_cannot_be_shown_costs_nothing(content: bytes) -> None:
    assert decode(content, 600, 1.0).isNull()


def test_an_image_is_scaled_down_to_the_column() -> None:
    assert decode(png(2_000, 1_000), 600, 1.0).width() == 600
    assert decode(png(100, 4_000), 600, 1.0).height() == HIGHEST
    assert decode(png(50, 40), 600, 1.0).size().toTuple() == (50, 40)
    assert QByteArray(png(1, 1)).size() > 0


def test_an_image_of_a_message_is_shown_and_a_bad_one_is_a_placeholder() -> None:
    images = (MessageImage("good", "red.png"), MessageImage("bad", "broken.png"), MessageImage("gone"))
    message = TranscriptMessage("a", MessageKind.ANSWER, "words", images=images)
    with shown([]) as view:
        view.set_image_provider({"good": png(80, 60), "bad": huge_png()}.get)
        view.model.reset([message])
        view.images.wait()
        until_idle(view)
        _, good, bad, gone = view.transcript_layout.placed
        assert (bad.height, gone.height) == (PLACEHOLDER, PLACEHOLDER)
        assert good.height == 60
        place = QRectF(view.geometry_of_text.column_left, good.top, 80, 60)
        assert colours(on_screen(view), place) == {"#FF0000"}


SCROLLED = {
    "formulas and raised letters": "- n line\n\n$x$ - n x<sup>2</sup> $a^2$ and $\\frac{a}{b}$\n\n" * 20,
    "images": "![words](http://x/y.png)\n\n![](http://x/z.png)\n\ntext\n\n" * 12,
    "tasks in notes": "[^1]\n\n[^1]: - [ ] open\n    - [x] done\n\n" + "- [ ] a\n- [x] b\n\n# Head\n\n" * 12,
}


@pytest.mark.parametrize("source", SCROLLED.values(), ids=SCROLLED)
def test_what_was_scrolled_looks_as_if_it_were_painted_there(source: str) -> None:
    with shown([user("u", "q"), answer("a", source)], height=300) as view:
        view.scroll_to_message(0)
        until_idle(view)
        for pixels in [1] * 60 + [-1] * 20 + [7] * 20 + [-7] * 10 + [133, -133, 48, -48, 5, 5, 13, 13, -31]:
            view.viewport().update()
            settle()
            view.scroll_by(pixels)
            settle()
            # At the very edges Qt leaves out letters of which one row is to be seen.
            there, anew = (
                picture.copy(0, 1, picture.width(), picture.height() - 2)
                for picture in (on_screen(view), painted_anew(view))
            )
            assert is_same_picture(there, anew), pixels
