"""Which dollars open a formula and which are money, names or ratings."""

import pytest

from sophos_desktop.shell.transcript.markdown.reading import MarkdownReader
from tests.shell.transcript.answers import Answer
from tests.shell.transcript.samples import segments_of

TEXT = (
    "costs $24000 and $40000",
    "$5 is less than $10, so x = 5$",
    "between $5 and $10 (5$)",
    "from $5 (US$) on",
    "$5-$10",
    "$5–$10",
    "$5/$10",
    "US$5 and US$6",
    "US$3, AU$4 or R$5",
    "I paid 5$ and 10$ today",
    "$5/month or 6$",
    "**$5** and **$10**",
    "**$5** or **5$**",
    "it rose from $100 to 120$",
    "$10 million$",
    "$1.5M vs. $2M",
    "$20-30/month, then $10/month",
    "either $3 each, or two for 5$.",
    "$5 per item, 2^3 items for 40$",
    "| $5 | $6 |",
    "$HOME/$USER and $PATH",
    "$HOME and $PATH",
    "$HOME and the like$",
    "set $name, then $other",
    '"$one","$two"',
    "$AAPL, $MSFT and $GOOG",
    "$ x $ and $ and $$ $$",
    "cheap is $$ and dear is $$$",
    "$$ or $$$",
    r"escaped \$x$ and \\(x\\)",
    "`$x$` is code",
    "花了$5和10$",
    "价格$5，共$10元",
    "a single $ sign",
    "$x = 5 so that you can go$",
    "I have $5$0",
)
FORMULAS = (
    ("so $x$ is", ["x"]),
    ("$x^2$", ["x^2"]),
    ("$5x = 10$", ["5x = 10"]),
    ("$10x + 3$", ["10x + 3"]),
    ("$10^3$", ["10^3"]),
    (r"$\$5$", [r"\$5"]),
    (r"$a\$b$", [r"a\$b"]),
    ("$n$-th", ["n"]),
    ("the $n$th one", ["n"]),
    ("($k$), [$m$].", ["k", "m"]),
    ("$5$", ["5"]),
    ("$3 + 4 = 7$", ["3 + 4 = 7"]),
    ("$5 - 3$", ["5 - 3"]),
    ("$1, 2, 3$", ["1, 2, 3"]),
    ("$0 < x < 10$", ["0 < x < 10"]),
    ("$2 x$", ["2 x"]),
    (r"$5 \times 3$ is less than $20", [r"5 \times 3"]),
    (r"$3\,\text{apples and pears}$", [r"3\,\text{apples and pears}"]),
    (r"$5 \text{ if } x > 0$", [r"5 \text{ if } x > 0"]),
    ("$10 mod 3 = 1$", ["10 mod 3 = 1"]),
    ("$[0, 1)$", ["[0, 1)"]),
    ("$f(x) = \\sin x$ and $g$", ["f(x) = \\sin x", "g"]),
    ("$sin x + cos y$", ["sin x + cos y"]),
    ("$P(A \\mid B)$ costs $5", ["P(A \\mid B)"]),
    ("costs $5; then $x^2$", ["x^2"]),
    ("其中$x$是变量，而$y_{最大}$是值。", ["x", "y_{最大}"]),
    ("変数$x$は", ["x"]),
    ("변수$x$는", ["x"]),
    ("so $$x$$ is", ["x"]),
    (r"so \(x\) and \[y\]", ["x", "y"]),
)


def formulas_in(text: str) -> list[str]:
    return [
        child.content
        for token in MarkdownReader().blocks(text, {})
        for child in token.children or ()
        if child.type.startswith("math")
    ]


@pytest.mark.parametrize("text", TEXT)
def test_money_names_and_sentences_are_text(text: str) -> None:
    assert formulas_in(text) == []


@pytest.mark.parametrize(("text", "formulas"), FORMULAS)
def test_formulas_are_formulas(text: str, formulas: list[str]) -> None:
    assert formulas_in(text) == formulas


def test_a_row_of_dollars_is_read_to_its_end() -> None:
    assert formulas_in("$5 " * 5_000 + "\\$" * 5_000) == []


def test_the_pieces_of_a_long_paragraph_say_the_same() -> None:
    sentences = " and ".join([*TEXT[:20], *(text for text, _ in FORMULAS[:20])])
    wanted = formulas_in(sentences)
    answer = Answer(" ".join(["Some words."] * 400) + " " + sentences)

    assert len(segments_of(" ".join(["Some words."] * 400) + " " + sentences)) > 1
    drawn = [formula.tex for built in answer.built for formula in built.formulas]
    assert drawn == wanted
