"""Texts that the tests of the transcript share."""

from sophos_desktop.shell.transcript.markdown.segments import Segment
from sophos_desktop.shell.transcript.markdown.splitter import Splitter

CORPUS = (
    "# Title\n\nSome *words* and `code`.\n\n## Next\nmore\n===\ntext\n---\n\n***\n",
    "before\n```python\nx = 1\n\n# no heading\n- no list\n```\nafter\n",
    "~~~~ text\n~~~\n```\n~~~~\n\n````md\n```py\na\n```\n````\ntail",
    "1. one\n\n   ```sh\n   ls\n\n   # no\n   ```\n2. two\n   - inner\n\n     ~~~\n     b\n     ~~~\n\nend\n",
    "> quote\n> ```\n> code\n>\n> more\n> ```\nlazy\n\n> > nested\n> - list\n\nout\n",
    "intro\n| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | `|` |\nnot blank row\n\nafter | the table\n",
    "- [ ] open\n- [x] done\n  1. nested\n  2. more\n\n  para\n* other\n+ third\n\n\n- last\n",
    "text\n$$\nx = 1\n- y\n$$\nafter\n$$ a $$\n\\[\nz\n\\]\nopen:\n$$\nnever closed\n\n# heading\n$$\n",
    "A claim[^1] and [a link][late].\n\n[^1]: The note\n    goes on.\n\n    Second paragraph.\n\n[late]: http://x.org\n",
    "half \ud83d\ude00 emoji \ud83d, joined 👩\u200d👩\u200d👧 and e\u0301\n\n\ud83d",
    "crlf\r\n\r\n```\r\ncode\r\n```\r\n\r\n| a |\r\n|---|\r\n| 1 |\r\nlone\rreturn\r\r- x\r",
    "\tindented\n\n    code\n\n\tmore code\n- \ttabs\n\t- nested\n\n\t\tcode in list\n",
    "\n\n \n\t\nleading blanks\n\n\n\n",
    "H<sub>2</sub>O, <kbd>Ctrl</kbd>+<b>*x*</b> and <u>a <b>nested</b></u>\n\n"
    "<details><summary>More</summary>\n\n"
    "in <sup>[a](http://x)</sup> it\n</details>\n\n<i>never `</i>` www.example.org\n",
    "<b>html</b>\n<script>\n\nx</script>\n\n![i](http://x/y.png)\n",
)

PIECES = (
    *("```", "~~~~", "```py\n", "\n", "\n\n", "- ", "1. ", "> ", "  ", "    ", "\t", "text ", "a", "# "),
    *("| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "$$", "$$\n", "\\[", "\\]\n", "---\n", "===\n", "[^1]: "),
    *("[a]: http://x\n", "\r\n", "\r", "x" * 500 + " ", "y" * 1500, "word " * 300, "é\u0301", "😀", "\ud83d"),
    *("\ude00", "\u200d", "* ", "+ ", " ", "\0", "$x$", "[a]", "`"),
    *("<sub>", "</sub>", "<B>", "</b>", "<kbd>k</kbd>", "<details>", "</details>\n", "www.x.org"),
)


def segments_of(text: str) -> list[Segment]:
    """The segments of a whole answer."""
    splitter = Splitter()
    splitter.feed(text)
    splitter.finish()
    return list(splitter.segments)
