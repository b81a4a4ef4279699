"""Formulas become images of bounded size, on the baseline of their line, or nothing."""

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor, QTextFragment

from sophos_desktop.shell.transcript.drawing.math_images import (
    MathImage,
    MathImages,
    MathraRenderer,
    Typeset,
)
from tests.shell.transcript.answers import Answer
from tests.shell.transcript.viewing import (
    answer,
    is_same_picture,
    on_screen,
    painted_anew,
    shown,
    until_idle,
)

FORMULAS = (
    r"x",
    r"s = \sum_{i=1}^n x_i",
    r"\frac{-b \pm \sqrt{b^2 - 4ac}}{2a}",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
    r"\int_0^\infty e^{-x^2} \, dx",
    r"\text{if } x > 0",
    r"\mathbb{R} \to \mathcal{F}",
)
BROKEN = (r"\frac{3}{4", r"\foo{x}", r"x^{", r"\begin{matrix}", "", "  ", "x" * 5_000, "\ud83d", "{" * 2_000)


def drawn(
    images: MathImages, tex: str, *, display: bool = True, colour: str = "#25221e", pixel_ratio: float = 1.0
) -> MathImage | None:
    return images.image(tex, display=display, colour=colour, size=15, x_height=8.0, pixel_ratio=pixel_ratio)


def test_the_library_sets_formulas_that_qt_can_draw() -> None:
    images = MathImages()
    for tex in FORMULAS:
        for display in (True, False):
            image = drawn(images, tex, display=display)
            assert image is not None, tex
            assert has_ink(image), tex


def has_ink(image: MathImage, colour: str = "#25221e") -> bool:
    wanted = QColor(colour).rgb()
    picture = image.image
    return any(
        picture.pixelColor(x, y).rgb() == wanted and picture.pixelColor(x, y).alpha() > 200
        for x in range(picture.width())
        for y in range(picture.height())
    )


@pytest.mark.parametrize("tex", BROKEN, ids=lambda tex: ascii(tex[:12]))
def test_what_is_no_formula_has_no_image(tex: str) -> None:
    assert drawn(MathImages(), tex) is None


def test_the_colour_is_that_of_the_text() -> None:
    image = drawn(MathImages(), r"\int x", colour="#eae6df")

    assert image is not None
    assert has_ink(image, "#eae6df")


def test_an_image_has_the_pixels_of_its_screen() -> None:
    one, two = (drawn(MathImages(), "x + y", pixel_ratio=ratio) for ratio in (1.0, 2.0))

    assert one is not None
    assert two is not None
    assert (two.width, two.height) == (one.width, one.height)
    assert two.image.width() == 2 * one.image.width()


def test_an_inline_formula_stands_on_the_baseline_when_it_is_aligned_in_the_middle() -> None:
    class Bar:
        """A filled rectangle from the baseline up, one and a half times as high as the font."""

        def typeset(self, tex: str, *, display: bool) -> Typeset:
            svg = (
                '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 15" width="10" height="15">'
                '<rect x="0" y="0" width="10" height="15" fill="currentColor"/></svg>'
            )
            return Typeset(svg, 1.0, 1.5, 0.0, "bar")

    made = MathImages(Bar()).image(
        "x", display=False, colour="#000000", size=20, x_height=10.0, pixel_ratio=1.0
    )

    assert made is not None
    inked = [y for y in range(made.height) if made.image.pixelColor(5, y).alpha() > 128]
    # Qt puts the baseline at (height + x-height / 2) / 2 from the top of such an image.
    baseline = (made.height + 5.0) / 2
    assert inked[-1] + 1 == pytest.approx(baseline, abs=1)
    assert len(inked) == 36, "1.2 times: its letters are as high as those of the text then"


def baseline_of_line(text: str, words: str) -> float:
    """From the top of the document."""
    built = Answer(text)
    document = built.documents[0]
    document.size()
    block = built.block_of(words)
    line = block.layout().lineAt(0)
    return document.documentLayout().blockBoundingRect(block).top() + line.y() + line.ascent()


@pytest.mark.parametrize(
    "tex", ["x^2", "x_i", r"\frac{a}{b}", r"\sqrt{2}", r"\sum_{i=1}^n x_i", r"\int_0^1 f"]
)
@pytest.mark.parametrize("form", ["- one\n- {} formula\n- last\n", "one\n\n{} formula\n\nlast\n"])
def test_a_line_with_a_formula_stands_at_the_distance_of_any_other(form: str, tex: str) -> None:
    with_formula, without = form.format(f"${tex}$"), form.format("some")

    for words in ("one", "formula", "last"):
        assert baseline_of_line(with_formula, words) == pytest.approx(
            baseline_of_line(without, words), abs=0.6
        )


@pytest.mark.parametrize(
    ("tex", "least"),
    [("xyzw", 1.2), ("x^2 + y", 1.2), (r"\sum_{i=1}^n x_i", 1.0), (r"\sqrt{2}", 1.0), (r"\int_0^1 f", 1.0)],
)
def test_letters_of_a_formula_are_as_high_as_those_beside_it_as_far_as_the_line_has_room(
    tex: str, least: float
) -> None:
    bare = MathraRenderer().typeset(tex, display=False)
    (formula,) = (
        one.charFormat().toImageFormat().width()
        for one in fragments_of(Answer(f"so ${tex}$"))
        if one.charFormat().isImageFormat()
    )
    assert bare is not None
    assert least - 0.1 <= formula / (bare.width * 15) <= 1.3


def fragments_of(built: Answer) -> Iterator[QTextFragment]:
    for block in built.blocks():
        iterator = block.begin()
        while not iterator.atEnd():
            yield iterator.fragment()
            iterator += 1


def test_a_high_formula_has_the_room_that_it_needs() -> None:
    text = "- one\n- {} formula\n- last\n"
    matrix = r"$\begin{pmatrix}a\\b\\c\end{pmatrix}$"

    assert baseline_of_line(text.format(matrix), "last") > baseline_of_line(text.format("some"), "last") + 20


def test_what_a_formula_reaches_below_the_last_line_belongs_to_the_segment() -> None:
    (deep,), (flat,) = Answer(r"so $\frac{a}{b}$").built, Answer("so $x$").built

    assert flat.room_below == 0
    assert 0 < deep.room_below <= 6


def test_an_svg_that_names_an_image_is_not_drawn() -> None:
    class Loader:
        def typeset(self, tex: str, *, display: bool) -> Typeset:
            svg = '<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/hostname"/></svg>'
            return Typeset(svg, 1.0, 1.0, 0.0, "")

    assert drawn(MathImages(Loader()), "x") is None


def test_a_formula_is_set_once_and_few_are_kept() -> None:
    class Counting(MathraRenderer):
        count = 0

        def typeset(self, tex: str, *, display: bool) -> Typeset | None:
            self.count += 1
            return super().typeset(tex, display=display)

    renderer = Counting()
    images = MathImages(renderer)
    first = drawn(images, "x")
    assert drawn(images, "x") is first
    assert renderer.count == 1
    for number in range(400):
        drawn(images, f"x_{{{number}}}")
    assert drawn(images, "x") is not first


def test_what_reaches_below_a_line_is_painted_with_its_part_while_an_answer_grows() -> None:
    text = "Words before " + "and more of them " * 40 + r"so $\frac{a}{b}$" + "\n\n"
    with shown([answer("a", "", is_open=True)], height=400) as view:
        for end in range(len(text) - 20, len(text) + 1, 5):
            view.model.replace(0, answer("a", text[:end], is_open=True))
            until_idle(view)
            assert is_same_picture(on_screen(view), painted_anew(view))
        for number in range(12):
            text += r"- item $\frac{1}{" + str(number) + "}$\n"
            view.model.replace(0, answer("a", text, is_open=True))
            until_idle(view)
            assert is_same_picture(on_screen(view), painted_anew(view))
