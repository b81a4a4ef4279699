"""The calls of one turn that need nothing of anybody: one frame, a head for each, and what was opened.

Invariant: what is open is kept in `CardStates` by the call's key; a call that changes keeps its row, its
focus and its open parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.transcript.cards.call_part import CallPart, OpenWindow, PartText
from sophos_desktop.shell.transcript.cards.card_states import CardStates
from sophos_desktop.shell.transcript.cards.facts import LOOKS, CallFacts, CallState
from sophos_desktop.shell.transcript.cards.parts import Line, Rounded, on_click
from sophos_desktop.shell.transcript.cards.tool_head import ToolHead, head_height, names_of
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage

_UNFINISHED = (
    CallState.WAITING,
    CallState.ASKED,
    CallState.ALLOWED,
    CallState.AGAIN,
    CallState.RUNNING,
    CallState.NOT_RUN,
)


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """The payload of a message that is a card of tool calls."""

    calls: tuple[CallFacts, ...]


@dataclass(frozen=True, slots=True)
class AskedCall(ToolGroup):
    """The payload of the card of one call that somebody is asked about."""


def card_id(call_key: str) -> str:
    """The message that is the card of a call, or of the calls that begin with it."""
    return f"{call_key}/card"


def parts_of(call: CallFacts) -> tuple[PartText, ...]:
    """What an open call shows."""
    title = f"{call.server} {call.tool}".strip()
    parts = []
    if call.arguments.strip() not in ("", "{}"):
        parts.append(PartText(f"{call.key}/arguments", "Arguments", call.arguments, f"Arguments of {title}"))
    if call.state not in _UNFINISHED and (call.result or call.state is CallState.DONE):
        label, colour = ("Error", "danger") if call.state is CallState.FAILED else ("Result", "code_text")
        parts.append(PartText(f"{call.key}/result", label, call.result, f"{label} of {title}", colour))
    return tuple(parts)


def head_part(call: CallFacts) -> tuple[str, str]:
    """Key and text of what the head of a call says that is searched: server and tool."""
    return f"{call.key}/head", names_of(call)


class _CallRow(QWidget):
    """One call: its head, and its parts once it was opened."""

    height_changed = Signal()

    def __init__(self, states: CardStates, open_window: OpenWindow, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("callRow")
        self._states, self._open_window, self._theme = states, open_window, theme
        self.facts = CallFacts("", "", "")
        self.head = ToolHead(theme, self)
        self.parts: list[CallPart] = []
        self._lines: list[Line] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.head)
        on_click(self.head, self.toggle)

    @property
    def is_open(self) -> bool:
        return self._states.is_open(self.facts.key, default=self.facts.opens_by_itself)

    def toggle(self) -> None:
        self._states.set_open(self.facts.key, is_open=not self.is_open)
        self.show_facts(self.facts)
        self.height_changed.emit()

    def show_facts(self, facts: CallFacts) -> None:
        self.facts = facts
        self.head.show_facts(facts, is_open=self.is_open)
        wanted = parts_of(facts) if self.is_open else ()
        while len(self.parts) > len(wanted):
            for gone in (self.parts.pop(), self._lines.pop()):
                self._column.removeWidget(gone)
                gone.hide()
                gone.deleteLater()
        while len(self.parts) < len(wanted):
            made = CallPart(self._states, self._open_window, self._theme, self)
            made.height_changed.connect(self.height_changed)
            self._lines.append(Line(self._theme, self))
            self.parts.append(made)
            for part in (self._lines[-1], made):
                self._column.addWidget(part)
                part.show()  # a layout shows what it gets only later, and the height is asked for now
        for part, text in zip(self.parts, wanted, strict=True):
            part.show_part(text)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return head_height() + sum(1 + part.heightForWidth(width) for part in self.parts)


class ToolCard(Rounded):
    """A card of the transcript; may be thrown away and made again at any time."""

    def __init__(self, states: CardStates, open_window: OpenWindow, theme: Theme, parent: QWidget) -> None:
        """Empty; `open_window` gets a title and a text."""
        super().__init__("toolCard", "raised", "border_strong", theme, parent)
        self._states, self._open_window = states, open_window
        self._rows: list[_CallRow] = []
        self._lines: list[Line] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(1, 1, 1, 1)
        self._column.setSpacing(0)

    @property
    def heads(self) -> list[ToolHead]:
        """The heads in their order."""
        return [row.head for row in self._rows]

    def head(self, part: str) -> ToolHead | None:
        """The head that a part's key belongs to; None for the key of a part below a head."""
        return next((row.head for row in self._rows if head_part(row.facts)[0] == part), None)

    def parts(self, key: str) -> list[CallPart]:
        """The parts that are shown of a call."""
        return [part for row in self._rows if row.facts.key == key for part in row.parts]

    def all_parts(self) -> list[CallPart]:
        """All parts that are shown."""
        return [part for row in self._rows for part in row.parts]

    def show_message(self, message: TranscriptMessage) -> None:
        """The calls changed."""
        if isinstance(message.payload, ToolGroup):
            self.show_calls(message.payload.calls)

    def show_calls(self, calls: Sequence[CallFacts]) -> None:
        """Show these calls, in this order."""
        while len(self._rows) > len(calls):
            self._drop(self._rows.pop())
            if self._lines:
                self._drop(self._lines.pop())
        while len(self._rows) < len(calls):
            if self._rows:
                self._lines.append(Line(self.theme, self))
                self._column.addWidget(self._lines[-1])
                self._lines[-1].show()
            row = _CallRow(self._states, self._open_window, self.theme, self)
            row.height_changed.connect(self._on_height_changed)
            self._column.addWidget(row)
            row.show()
            self._rows.append(row)
        for row, call in zip(self._rows, calls, strict=True):
            row.show_facts(call)
        needy = [call for call in calls if call.needs_user]
        self.set_line(LOOKS[needy[0].state].frame if needy else "border_strong")
        one = f"Tool call: {names_of(calls[0])}, {LOOKS[calls[0].state].word}" if calls else ""
        self.setAccessibleName(one if len(calls) == 1 else f"{len(calls)} tool calls")
        self._on_height_changed()

    def open_call(self, key: str) -> None:
        """Show the parts of a call, for what was found in it."""
        for row in self._rows:
            if row.facts.key == key and not row.is_open:
                row.toggle()

    def hasHeightForWidth(self) -> bool:
        """Text is broken at the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Of everything that is open. Reckoned here: layouts remember heights until events are handled."""
        return 1 + sum(row.heightForWidth(width - 2) + 1 for row in self._rows)

    def _drop(self, widget: QWidget) -> None:
        self._column.removeWidget(widget)
        widget.hide()
        widget.deleteLater()

    def _on_height_changed(self) -> None:
        self._column.invalidate()
        self.updateGeometry()
