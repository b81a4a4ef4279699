"""Builds whole answers, and notes what Qt asks for meanwhile."""

from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextBlock, QTextDocument

from sophos_desktop.shell.theme.tokens import LIGHT as LIGHT_TOKENS
from sophos_desktop.shell.transcript.drawing.built import BuiltSegment, SegmentDocument
from sophos_desktop.shell.transcript.drawing.document_builder import build
from sophos_desktop.shell.transcript.drawing.math_images import MathImages
from sophos_desktop.shell.transcript.drawing.plain_text import plain_text
from sophos_desktop.shell.transcript.drawing.style import TranscriptTheme
from sophos_desktop.shell.transcript.markdown.environment import MarkdownEnvironment
from tests.shell.transcript.samples import segments_of

WIDTH = 600
LIGHT = TranscriptTheme.of(LIGHT_TOKENS)


class Watched(SegmentDocument):
    """Notes what Qt asks for."""

    asked: list[str]

    def loadResource(self, resource_type: int, name: QUrl | str) -> Any:
        self.asked.append(name.toString() if isinstance(name, QUrl) else name)
        return super().loadResource(resource_type, name)


class Answer:
    """A whole answer, built."""

    def __init__(self, text: str, style: TranscriptTheme = LIGHT, width: int = WIDTH) -> None:
        self.segments = segments_of(text)
        self.environment = MarkdownEnvironment()
        self.environment.update(self.segments, range(len(self.segments)))
        self.documents: list[Watched] = []
        self.built: list[BuiltSegment] = []
        math = MathImages()
        for segment in self.segments:
            document = Watched()
            document.asked = []
            self.built.append(build(document, segment, self.environment, style, width, math))
            self.documents.append(document)

    @property
    def text(self) -> str:
        return "\n".join(plain_text(document) for document in self.documents)

    def blocks(self) -> Iterator[QTextBlock]:
        for document in self.documents:
            block = document.begin()
            while block.isValid():
                yield block
                block = block.next()

    def block_of(self, words: str) -> QTextBlock:
        return next(block for block in self.blocks() if words in block.text())


def one(text: str, width: int = WIDTH) -> tuple[QTextDocument, BuiltSegment]:
    answer = Answer(text, width=width)
    assert len(answer.documents) == 1
    return answer.documents[0], answer.built[0]


def slice_of(document: QTextDocument, start: int, end: int) -> str:
    return plain_text(document, start, end)
