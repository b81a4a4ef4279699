"""Tells formulas between single dollars from prices, names of variables and sentences.

Invariant: the answer depends on the characters between the two dollars and on those beside them, never on how
the text arrived. The ground is Pandoc's rule (no blank inside the dollars, no digit behind); what goes beyond
it looks for words. No Qt.
"""

import re

# Signs that no sentence has: commands, powers, indices, groups.
_TEX = re.compile(r"[\\^_{}]")
_OPERATOR = re.compile(r"[=<>+*/|±×÷·−≤≥≠≈∈→]")
# "5", "1,000.50"; but not the number before a letter of its own: "5x".
_NUMBER = re.compile(r"\d[\d.,]*+(?![^\W\d_](?![^\W\d_]))")
_WORD = re.compile(r"(?<![\\\w])[^\W\d_]{2,}")
_COMMAND_GROUP = re.compile(r"\\[A-Za-z]+\*?\s*\{[^{}]*\}|\\[A-Za-z]+")
_SUM = re.compile(r"[\d\s.,:;()\[\]+\-*/=<>%!|±×÷·−≤≥≠≈…]+")
_NAME = re.compile(
    "sinh?|cosh?|tanh?|cot|sec|csc|arc(?:sin|cos|tan)|log|ln|lg|exp|max|min|sup|inf|lim|mod|gcd|lcm|det|dim|ker"
    "|rank|tr|arg|deg|var|cov|div|curl|grad|sgn",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:th|st|nd|rd)(?!\w)")
# From here on scripts are written without blanks, or join words to what stands before them.
_FIRST_JOINED_SCRIPT = "\u0590"
_MOST_WORDS = 2


def may_open_formula(before: str) -> bool:
    """Whether a dollar may open a formula behind the character `before` (empty at the start of the text)."""
    return not (_is_of_word(before) or before in ("$", "\\"))


def may_close_formula(behind: str) -> bool:
    """Whether a dollar may close a formula; `behind` are the characters that follow it, four are enough."""
    after = behind[:1]
    if after.isdigit() or after == "$":
        return False
    return not _is_of_word(after) or _ORDINAL.match(behind) is not None


def is_formula(content: str) -> bool:
    """Whether what stands between two dollars is mathematics rather than a price or a sentence."""
    if not content or content[0].isspace() or content[-1].isspace():
        return False
    has_tex = _TEX.search(content) is not None
    if not has_tex and any(_is_written_together(character) for character in content):
        return False
    words = _words(content)
    if not _NUMBER.match(content):
        return not is_prose(content)
    if _SUM.fullmatch(content):
        return content.count("(") == content.count(")") and content.count("[") == content.count("]")
    return len(words) < _MOST_WORDS if has_tex else not words


def is_prose(content: str) -> bool:
    """Whether it is words, with no sign of a formula among them."""
    if _TEX.search(content):
        return False
    return len(_words(content)) >= (_MOST_WORDS + 1 if _OPERATOR.search(content) else _MOST_WORDS)


def _words(content: str) -> list[str]:
    bare = _COMMAND_GROUP.sub(" ", content)
    return [word for word in _WORD.findall(bare) if not _NAME.fullmatch(word)]


def _is_of_word(character: str) -> bool:
    return character.isalnum() and character < _FIRST_JOINED_SCRIPT


def _is_written_together(character: str) -> bool:
    return character >= _FIRST_JOINED_SCRIPT and character.isalpha()
