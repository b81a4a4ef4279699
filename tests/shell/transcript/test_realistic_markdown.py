"""What models really write: it streams to what a fresh rendering gives, and parts are copied as they look."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.shell.transcript.copies import Copies
from tests.shell.transcript.test_copied_parts import assert_shows_the_same
from tests.shell.transcript.test_streaming import (
    test_the_final_picture_is_that_of_a_fresh_rendering as assert_streams_to_a_fresh_rendering,
)

LISTS = (
    "1. **Step one**: do it\n   ```bash\n   echo hi\n   ```\n   then `ls`\n2. Step two\n\n"
    "   | a | b |\n   |---|:-:|\n   | `x` | [link](https://e.org) |\n   | a \\| b | **bold** ~~gone~~ |\n\n"
    "3. Step three\n   - nested\n     - deeper\n     1. one\n     2. two\n   - [ ] open\n   - [x] done\n\n"
    "- - direct *one*\n  - two\n- 7. # seven\n- > quoted\n  > more\n- > - both\n- [x] > task\n"
    "- ![alt *x*](http://x.org/a.png)\n- ```\n  code\n  ```\n-\n- - -\n"
)
WORDS = (
    "Line one<br>line two<br/>three **b<br>c** end\n\n<br>first and last<br>\n\n| a<br>b | c |\n|---|---|\n"
    "| one<br>*two* | d |\n\n这是**“引号”**的例子。**注意：**后面和*《书》*的 **a** 字\n\n"
    "It is $5 less than $10, so x = 5$; $x^2$ and $\\frac{a}{b}$ or 其中$y$是 cheap $$ and $$$.\n\n"
    "כתוב `code` כאן (`x`) וגם $x$.\n\n- $x^2$ one\n- two $\\frac{a}{b}$\n"
)
IMAGES = (
    "A [![badge *b*](https://img.x.org/b.svg)](https://x.org) and [text ![i](y.png) more](http://k) end.\n\n"
    "![The **chart** \u202e x](http://x.org/a.png)\n\n# Head [![h](z.png)](http://x.org)\n\n"
    "| [![cell](x.png)](http://y.org) | [![b](y.png)](http://x.org) |\n|---|---|\n| c | d |\n"
)
INDENTED = "1. intro\n\n" + "".join(f"       line_{n} = {n}\n" for n in range(200)) + "\n   after\n- next\n"
SOURCES = (LISTS, WORDS, IMAGES, INDENTED)
OFFSETS = st.integers(0, 1_000_000)


@pytest.fixture(scope="module")
def answers() -> list[Copies]:
    return [Copies(source) for source in SOURCES]


@pytest.mark.parametrize("text", SOURCES, ids=["lists", "words", "images", "indented"])
def test_it_streams_to_the_picture_of_a_fresh_rendering(text: str) -> None:
    assert_streams_to_a_fresh_rendering(text)


@settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(which=st.integers(0, len(SOURCES) - 1), one=OFFSETS, other=OFFSETS)
def test_a_part_shows_as_markdown_what_it_says_as_text(
    answers: list[Copies], which: int, one: int, other: int
) -> None:
    assert_shows_the_same(answers[which], one, other)
