"""The bullets, numbers and boxes that wait for the first line of what stands in their items.

Invariant: every mark is written once, in the order of its list, in the line it stands before; a block with
marks has as many tabs as marks, so that a reader of the document can tell how many there are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QTextBlockFormat, QTextCharFormat, QTextOption

from sophos_desktop.shell.transcript.drawing.built import TaskBox
from sophos_desktop.shell.transcript.drawing.canvas import Canvas
from sophos_desktop.shell.transcript.drawing.style import characters

_SPACE = "\u2002"
_TASK_MARKS = {True: "☑", False: "☐"}


@dataclass(frozen=True, slots=True)
class Mark:
    """`left`: pixels from the left of the column; `is_checked`: of a task."""

    text: str
    left: int
    is_checked: bool | None = None


class ListMarks:
    """Of one segment."""

    def __init__(self, canvas: Canvas) -> None:
        """None wait."""
        self._canvas = canvas
        self._waiting: list[Mark] = []

    def __bool__(self) -> bool:
        """Whether marks wait."""
        return bool(self._waiting)

    def add(self, mark: Mark) -> None:
        """One more waits."""
        self._waiting.append(mark)

    def take(self) -> list[Mark]:
        """Those that wait, which then wait no more."""
        taken, self._waiting = self._waiting, []
        return taken

    def make_room(
        self, marks: Sequence[Mark], block: QTextBlockFormat, left: int, base: QTextCharFormat
    ) -> Callable[[], None]:
        """Let the first line of a block, whose text begins at `left`, have room for marks before it.

        Gives what writes them when the block has begun.
        """
        first = marks[0].left
        ends = [*(mark.left for mark in marks[1:]), left]
        rooms = [end - mark.left for mark, end in zip(marks, ends, strict=True)]
        block.setTextIndent(first - left)
        block.setTabPositions([QTextOption.Tab(end - first, QTextOption.TabType.LeftTab) for end in ends])
        is_right = block.layoutDirection() is Qt.LayoutDirection.RightToLeft

        def write() -> None:
            for mark, room in zip(marks, rooms, strict=True):
                self._write(mark, room, base, is_right=is_right)

        return write

    def _write(self, mark: Mark, room: int, base: QTextCharFormat, *, is_right: bool) -> None:
        canvas, sign = self._canvas, mark.text
        text = QTextCharFormat(base)
        text.setForeground(characters(base.font(), canvas.style.text_3).foreground())
        if mark.is_checked is not None:
            canvas.task_boxes.append(TaskBox(canvas.position, mark.is_checked))
            sign = _TASK_MARKS[mark.is_checked]
        rest = room - QFontMetricsF(text.font()).horizontalAdvance(sign)
        if rest > 0 and not is_right:
            canvas.insert(f"{sign}\t", text)
            return
        # Qt sets no tab in a first line that is outdented to the right, nor one behind its place.
        canvas.insert(sign, text)
        if rest > 0:
            text.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
            text.setFontLetterSpacing(rest - QFontMetricsF(text.font()).horizontalAdvance(_SPACE))
        canvas.insert(_SPACE, text)
