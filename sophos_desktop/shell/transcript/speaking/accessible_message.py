"""One message for assistive technology: what it is called, its text with caret and places, what it can do.

Invariant: it outlives its message without harm: it is then invalid and empty. See `accessible` for why no
method may fail.
"""

import logging
import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from PySide6.QtCore import QPoint, QPointF, QRect
from PySide6.QtGui import (
    QAccessible,
    QAccessibleActionInterface,
    QAccessibleInterface,
    QAccessibleTextInterface,
    QColor,
)
from PySide6.QtWidgets import QWidget
from shiboken6 import VoidPtr, getCppPointer, isValid

from sophos_desktop.shell.transcript.cards.facts import MetaFacts
from sophos_desktop.shell.transcript.cards.meta_words import meta_facts
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind
from sophos_desktop.shell.transcript.speaking.spoken_text import SpokenText, first_words, position_in

if TYPE_CHECKING:
    from sophos_desktop.shell.transcript.speaking.accessible import Accessibility

_LOG = logging.getLogger(__name__)
_NAME_LENGTH = 120
_MARKS = re.compile(r"[*`#>|~]+|\b_|_\b")
COPY, COPY_MARKDOWN, READ = "copy", "copy as Markdown", "read"
_WORDS = {
    COPY: ("Copy", "Copies the text of the message"),
    COPY_MARKDOWN: ("Copy as Markdown", "Copies the source of the message"),
    READ: ("Read", "Puts a caret into the text"),
}

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


def guarded(otherwise: Any) -> Callable[[Callable[_Given, _Answer]], Callable[_Given, _Answer]]:
    """Give `otherwise` where a method fails: an exception in Qt may take the process with it."""

    def wrap(method: Callable[_Given, _Answer]) -> Callable[_Given, _Answer]:
        @wraps(method)
        def answer(*args: _Given.args, **kwargs: _Given.kwargs) -> _Answer:
            try:
                return method(*args, **kwargs)
            except Exception:  # noqa: BLE001
                _LOG.exception("accessibility: %s failed", method.__qualname__)
                return otherwise  # type: ignore[no-any-return]

        return answer

    return wrap


class AccessibleMessage(QAccessibleInterface):
    """Belongs to the `Accessibility` of its view."""

    def __init__(self, owner: "Accessibility", key: int) -> None:
        """Of the message with `key`."""
        super().__init__()
        self.key = key
        self._owner: Accessibility | None = owner
        self._text = _Text(self)
        self._actions = _Actions(self)

    def close(self) -> None:
        """The message is gone."""
        self._owner = None

    @property
    def owner(self) -> "Accessibility | None":
        """None once the message is gone."""
        owner = self._owner
        return owner if owner is not None and isValid(owner) and isValid(owner.view) else None

    @property
    def index(self) -> int | None:
        """Where the message is now."""
        return self.owner.index_of(self.key) if self.owner is not None else None

    @property
    def spoken(self) -> SpokenText:
        """Its text."""
        owner, index = self.owner, self.index
        if owner is None or index is None or owner.view.model.message(index).kind is MessageKind.CARD:
            return SpokenText()
        return owner.texts.of(index)

    @guarded(False)
    def isValid(self) -> bool:
        """Whether the message is there."""
        return self.index is not None

    def object(self) -> Any:
        """A message is no object."""
        return None

    @guarded(None)
    def window(self) -> Any:
        """The view's."""
        return self.owner.view.window().windowHandle() if self.owner is not None else None

    @guarded(None)
    def parent(self) -> Any:
        """The list."""
        return QAccessible.queryAccessibleInterface(self.owner.view) if self.owner is not None else None

    # Cards and footers are widgets: they go in as children.

    def _widgets(self) -> list[QWidget]:
        owner, index = self.owner, self.index
        if owner is None or index is None:
            return []
        found = (owner.view.card(index), owner.view.card(index, is_footer=True))
        return [widget for widget in found if widget is not None]

    @guarded(0)
    def childCount(self) -> int:
        """The widgets that are there."""
        return len(self._widgets())

    @guarded(None)
    def child(self, index: int) -> Any:
        """The widget at `index`."""
        widgets = self._widgets()
        return QAccessible.queryAccessibleInterface(widgets[index]) if 0 <= index < len(widgets) else None

    @guarded(None)
    def childAt(self, x: int, y: int) -> Any:
        """The widget at a point of the screen."""
        for widget in self._widgets():
            if widget.rect().contains(widget.mapFromGlobal(QPoint(x, y))):
                return QAccessible.queryAccessibleInterface(widget)
        return None

    @guarded(-1)
    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """Where a widget is."""
        about = child.object()
        widgets = self._widgets()
        return widgets.index(about) if isinstance(about, QWidget) and about in widgets else -1

    @guarded(None)
    def focusChild(self) -> Any:
        """The widget that has the keyboard."""
        for widget in self._widgets():
            focus = widget.focusWidget()
            if focus is not None and focus.hasFocus():
                return QAccessible.queryAccessibleInterface(focus)
        return None

    # What it is.

    @guarded("")
    def text(self, kind: QAccessible.Text) -> str:
        """Name: who, and the first words. Description: where it stands, and what is known of it."""
        owner, index = self.owner, self.index
        if owner is None or index is None:
            return ""
        model = owner.view.model
        message = model.message(index)
        if kind == QAccessible.Text.Name:
            if message.kind is MessageKind.CARD:
                card = owner.view.card(index)
                return card.accessibleName() if card is not None else "Card"
            if message.kind is MessageKind.USER:
                return f"You: {first_words(model.source(index), _NAME_LENGTH)}"
            # Building the text would cost a millisecond, and a client may ask for ten thousand names.
            plain = _MARKS.sub("", model.source(index)[: 8 * _NAME_LENGTH])
            return f"Answer: {first_words(plain, _NAME_LENGTH)}"
        if kind == QAccessible.Text.Description:
            facts = meta_facts(message) if message.kind is MessageKind.ANSWER else MetaFacts()
            return ", ".join((f"{index + 1:,} of {owner.walk.count:,}", *facts.parts))
        return ""

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Nothing can be set."""

    @guarded(QRect())
    def rect(self) -> QRect:
        """On the screen, as far as it is in the view; empty outside of it."""
        owner, index = self.owner, self.index
        if owner is None or index is None:
            return QRect()
        placed = [part for part in owner.view.transcript_layout.placed if part.message == index]
        if not placed:
            return QRect()
        viewport = owner.view.viewport()
        left, width = owner.view.geometry_of_text.column_left, owner.view.transcript_layout.documents.column
        here = QRect(left, placed[0].top, width, placed[-1].bottom - placed[0].top)
        return here.intersected(viewport.rect()).translated(viewport.mapToGlobal(QPoint(0, 0)))

    def role(self) -> QAccessible.Role:
        """An item of a list."""
        return QAccessible.Role.ListItem

    @guarded(QAccessible.State())
    def state(self) -> QAccessible.State:
        """Read-only text, perhaps out of the view."""
        state = QAccessible.State()
        owner, index = self.owner, self.index
        if owner is None or index is None:
            state.invalid = True
            return state
        state.readOnly = state.multiLine = state.selectableText = state.focusable = True
        if index not in owner.view.transcript_layout.visible_messages:
            state.offscreen = True
        state.busy = owner.view.model.is_open(index)
        state.focused = owner.is_current(self.key)
        return state

    def foregroundColor(self) -> QColor:
        """That of the theme."""
        return QColor()

    def backgroundColor(self) -> QColor:
        """That of the theme."""
        return QColor()

    def interface_cast(self, kind: QAccessible.InterfaceType) -> int:
        """Text and actions; never anything but a VoidPtr."""
        if kind == QAccessible.InterfaceType.TextInterface:
            return VoidPtr(getCppPointer(self._text)[0])  # type: ignore[return-value]
        if kind == QAccessible.InterfaceType.ActionInterface:
            return VoidPtr(getCppPointer(self._actions)[0])  # type: ignore[return-value]
        return VoidPtr(0)  # type: ignore[return-value]


class _Text(QAccessibleTextInterface):
    """Belongs to its message. Offsets are UTF-16 units."""

    def __init__(self, item: AccessibleMessage) -> None:
        super().__init__()
        self._item = item

    @guarded(0)
    def characterCount(self) -> int:
        return self._item.spoken.length

    @guarded("")
    def text(self, startOffset: int, endOffset: int) -> str:
        return self._item.spoken.text(startOffset, endOffset)

    def _position(self, offset: int) -> TextPosition | None:
        owner, index, spoken = self._item.owner, self._item.index, self._item.spoken
        if owner is None or index is None or not spoken.pieces:
            return None
        return position_in(owner.view.model, index, spoken.place_of(offset))

    @guarded(0)
    def cursorPosition(self) -> int:
        owner, index = self._item.owner, self._item.index
        caret = owner.selection.caret if owner is not None else None
        if caret is None or caret.message != index:
            return 0
        return self._item.spoken.offset_of(caret.segment, caret.character)

    @guarded(None)
    def setCursorPosition(self, position: int) -> None:
        place, owner = self._position(position), self._item.owner
        if place is not None and owner is not None:
            owner.selection.select(place, place)
            owner.view.scroll_to(place)

    @guarded(0)
    def selectionCount(self) -> int:
        owner, index = self._item.owner, self._item.index
        span = owner.selection.span if owner is not None else None
        return int(span is not None and index is not None and span.start.message <= index <= span.end.message)

    @guarded(None)
    def addSelection(self, startOffset: int, endOffset: int) -> None:
        start, end, owner = self._position(startOffset), self._position(endOffset), self._item.owner
        if start is not None and end is not None and owner is not None:
            owner.selection.select(start, end)

    @guarded(None)
    def setSelection(self, selectionIndex: int, startOffset: int, endOffset: int) -> None:
        self.addSelection(startOffset, endOffset)

    @guarded(None)
    def removeSelection(self, selectionIndex: int) -> None:
        if self._item.owner is not None:
            self._item.owner.selection.clear()

    @guarded(QRect())
    def characterRect(self, offset: int) -> QRect:
        place, owner = self._position(offset), self._item.owner
        if place is None or owner is None:
            return QRect()
        end = TextPosition(place.message, place.segment, place.character + 1)
        found = owner.view.geometry_of_text.rectangles(place, end)
        if not found:
            return QRect()
        return found[0].toAlignedRect().translated(owner.view.viewport().mapToGlobal(QPoint(0, 0)))

    @guarded(-1)
    def offsetAtPoint(self, point: QPoint) -> int:
        owner = self._item.owner
        if owner is None:
            return -1
        inside = owner.view.viewport().mapFromGlobal(point)
        place = owner.view.geometry_of_text.position_at(QPointF(inside))
        if place is None or place.message != self._item.index:
            return -1
        return self._item.spoken.offset_of(place.segment, place.character)

    @guarded(None)
    def scrollToSubstring(self, startIndex: int, endIndex: int) -> None:
        place, owner = self._position(startIndex), self._item.owner
        if place is not None and owner is not None:
            owner.view.scroll_to(place)


class _Actions(QAccessibleActionInterface):
    """Belongs to its message."""

    def __init__(self, item: AccessibleMessage) -> None:
        super().__init__()
        self._item = item

    @guarded([])
    def actionNames(self) -> list[str]:
        owner, index = self._item.owner, self._item.index
        if owner is None or index is None or owner.view.model.message(index).kind is MessageKind.CARD:
            return []
        return [COPY, COPY_MARKDOWN, READ]

    @guarded(None)
    def doAction(self, actionName: str) -> None:
        owner, index = self._item.owner, self._item.index
        if owner is None or index is None or actionName not in self.actionNames():
            return
        if actionName == READ:
            owner.acted.emit(index, READ)
        else:
            owner.selection.copy_message(index, as_markdown=actionName == COPY_MARKDOWN)

    @guarded([])
    def keyBindingsForAction(self, actionName: str) -> list[str]:
        return ["F7"] if actionName == READ else []

    @guarded("")
    def localizedActionName(self, name: str) -> str:
        return _WORDS[name][0] if name in _WORDS else name

    @guarded("")
    def localizedActionDescription(self, name: str) -> str:
        return _WORDS[name][1] if name in _WORDS else ""
