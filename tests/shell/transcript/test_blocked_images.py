"""What a person gets of an image that is not loaded: its words, where it would come from, its link."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from sophos_desktop.shell.theme.tokens import LIGHT as LIGHT_TOKENS
from sophos_desktop.shell.transcript.copying.clipboard import Span, copied_markdown, copied_text
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.markdown.image_words import LONGEST_WORDS
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.view.geometry import TextPart
from sophos_desktop.shell.transcript.view.hit_areas import HitKind, image_rectangle
from sophos_desktop.shell.transcript.view.scratch import ScratchDocuments
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from tests.shell.transcript.answers import Answer, one
from tests.shell.transcript.viewing import answer, settle, shown, until_idle

BADGE = "[![build badge](https://img.example.org/badge.svg)](https://example.org/project) and words"


def part_of(view: TranscriptView) -> TextPart:
    (placed,) = view.transcript_layout.placed
    part = view.geometry_of_text.text_part(placed)
    assert part is not None
    return part


def hits(view: TranscriptView, y: float) -> Iterator[tuple[HitKind, str, int]]:
    for x in range(0, view.viewport().width(), 4):
        found = view.pointer.hit_at(QPointF(x, y))
        if found is not None:
            yield found.kind, found.target, x


@pytest.mark.parametrize(
    ("source", "address"),
    [
        ("![The **bold** `chart`](http://x.org/a.png)", "http://x.org/a.png"),
        ("![The **bold** `chart`](file:///etc/passwd)", "file:///etc/passwd"),
        ("![The **bold** `chart`](//host/share/a.png)", "//host/share/a.png"),
        ("![The **bold** `chart`][r]\n\n[r]: file:///etc/group", "file:///etc/group"),
        ("![The **bold** `chart`](data:image/svg+xml,x)", "data:image/svg+xml,x"),
        ('<img src="http://x.org/a.png" alt="The bold chart">', "http://x.org/a.png"),
    ],
)
def test_the_words_of_an_image_of_any_kind_stand_above_where_it_would_come_from(
    source: str, address: str
) -> None:
    built = Answer(source)

    assert built.text.strip() == f"Image: The bold chart\nNot loaded: {address}"
    (image,) = (image for each in built.built for image in each.blocked_images)
    assert (image.words, image.address) == ("The bold chart", address)
    assert not any(document.asked for document in built.documents)


def test_words_that_hide_something_are_shown_with_it_and_end_somewhere() -> None:
    built = Answer(
        "![safe\u202egnp.exe\u200b](http://x.org/a.png)\n\n![" + "long " * 400 + "](http://x.org/b.png)"
    )

    first, second = (image.words for each in built.built for image in each.blocked_images)
    assert first == "safe\\u202egnp.exe\\u200b"
    assert first in built.text
    assert len(second) <= LONGEST_WORDS
    assert second.endswith("long…")
    assert second in built.text


@pytest.mark.parametrize("zoom", [0.8, 1.0, 1.25, 2.0])
@pytest.mark.parametrize("words", ["", "chart", "a chart of many words " * 12, "x" * 250])
def test_the_frame_holds_all_lines_and_ends_with_the_segment(words: str, zoom: float) -> None:
    looks = Looks.of(LIGHT_TOKENS, zoom)
    width = round(600 * zoom)
    built = Answer(f"![{words.strip()}](https://x.org/c.png)", style=looks.style, width=width)
    (document,), (made,) = built.documents, built.built
    frame = image_rectangle(document, made.blocked_images[0], width, looks)

    assert frame.top() == -made.room_above
    assert frame.bottom() == pytest.approx(document.size().height() + made.room_below, abs=1)
    lines = document.begin().layout().lineCount()
    assert frame.height() >= lines * looks.style.small_line
    assert document.idealWidth() <= width


def test_a_linked_image_keeps_its_link_and_offers_its_own_address() -> None:
    with shown([answer("a", BADGE)]) as view:
        until_idle(view)
        y = view.transcript_layout.placed[0].top + 12
        found = list(hits(view, y))
        assert {(kind, target) for kind, target, _ in found} == {
            (HitKind.LINK, "https://example.org/project"),
            (HitKind.COPY_ADDRESS, "https://img.example.org/badge.svg"),
        }
        asked: list[str] = []
        view.copyRequested.connect(lambda text: asked.append(f"copy {text}"))
        view.linkActivated.connect(lambda text: asked.append(f"open {text}"))
        for wanted in (HitKind.LINK, HitKind.COPY_ADDRESS):
            place = next(QPoint(x + 8, round(y)) for kind, _, x in found if kind is wanted)
            QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        settle()
        assert asked == ["open https://example.org/project", "copy https://img.example.org/badge.svg"]


@pytest.mark.parametrize("target", ["file:///etc/passwd", "javascript:alert(1)", "//host/share"])
def test_an_image_in_a_link_that_may_not_be_opened_is_a_card(target: str) -> None:
    document, built = one(f"[![badge](https://x.org/b.svg)]({target})")

    assert built.links == ()
    assert built.blocked_images[0].is_card
    assert "Image: badge" in document.toPlainText()


@pytest.mark.parametrize(
    "source", [BADGE, "# [![b](https://x.org/y.png)](https://x.org) head", "| ![b]c](x.png) |\n|---|\n| d |"]
)
def test_what_holds_an_image_is_copied_as_its_source(source: str) -> None:
    with shown([answer("a", source + "\n\nlast words\n")]) as view:
        until_idle(view)
        documents = ScratchDocuments(view)
        document = documents.document(0, 0)
        block = document.findBlock(document.characterCount() - 2)
        span = Span(TextPosition(0, 0, 0), TextPosition(0, 0, block.position() + 4))
        assert copied_markdown(view.model, documents.document, span).startswith(source)


def test_the_words_are_copied_as_text_and_the_source_as_markdown() -> None:
    with shown([answer("a", "![A chart of totals](http://x.org/a.png)")]) as view:
        until_idle(view)
        document = ScratchDocuments(view).document
        whole = Span(TextPosition(0, 0, 0), TextPosition(0, 1, 0))
        assert copied_text(view.model, document, whole) == (
            "Image: A chart of totals\nNot loaded: http://x.org/a.png"
        )
        assert copied_markdown(view.model, document, whole) == "![A chart of totals](http://x.org/a.png)"
