"""The tool servers: state, reason, trust, tools, what they wrote last; and buttons that start one anew and
let its hints count.

Invariant: it shows what the core says now, and hears of changes only while it is on the screen.
"""

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.specs import ServerState, ServerStatus
from sophos_desktop.core.domain.trust import Trust
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import code_font
from sophos_desktop.shell.theme.tokens import CODE_SIZE
from sophos_desktop.shell.widgets.plain_dialog import PlainDialog
from sophos_desktop.shell.widgets.plain_tip import plain_tip
from sophos_desktop.shell.widgets.shapes import Shape, shape_icon

_TRUST = "Trust"
_REVOKE = "Do Not Trust"
_WHAT_TRUST_MEANS = "Whether its own word counts that a tool only reads, or may be repeated"
# What mcp.json or the program itself says is not decided in this dialog.
_DECIDED_HERE = (Trust.USER, Trust.CHANGED, Trust.NONE)
_LOOKS = {
    ServerState.READY: (Shape.DONE, "success"),
    ServerState.STARTING: (Shape.RUNNING, "accent"),
    ServerState.RESTARTING: (Shape.RUNNING, "accent"),
    ServerState.FAILED: (Shape.FAILED, "danger"),
    ServerState.STOPPED: (Shape.STOPPED, "text_3"),
}


class ServersDialog(PlainDialog):
    """Lives as long as its window."""

    def __init__(
        self, core: Callable[[], Core | None], owner: TaskOwner, theme: Theme, parent: QWidget
    ) -> None:
        """`core` gives the open core, or None."""
        super().__init__("serversDialog", "Tool Servers", parent, 720, 460)
        self._open_core = core
        self._owner = owner
        self._theme = theme
        self._unsubscribe: Callable[[], None] = lambda: None
        self._restarting: set[str] = set()
        self._deciding: set[str] = set()
        self._list = QListWidget(self)
        self._facts = QLabel(self)
        self._output = QPlainTextEdit(self)
        self._trust = self.add_button("serverTrustButton", _TRUST)
        self._restart = self.add_button("serverRestartButton", "Restart")
        self._make_parts()
        self.shown.connect(self._on_shown)
        self.hidden.connect(self._on_hidden)

    def _make_parts(self) -> None:
        self._list.setObjectName("serverList")
        self._list.setAccessibleName("Tool servers")
        self._list.setIconSize(QSize(14, 14))
        self._list.currentRowChanged.connect(self._write)
        self._facts.setObjectName("serverFacts")
        self._facts.setTextFormat(Qt.TextFormat.PlainText)
        self._facts.setWordWrap(True)
        self._facts.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._facts.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._output.setObjectName("serverOutput")
        self._output.setAccessibleName("What the server wrote last")
        self._output.setReadOnly(True)
        self._output.setTabChangesFocus(True)
        self._output.setFont(code_font(CODE_SIZE))
        self._restart.clicked.connect(self._on_restart)
        self._trust.clicked.connect(self._on_trust)
        side = QWidget(self)
        column = QVBoxLayout(side)
        column.setContentsMargins(16, 0, 0, 0)
        column.addWidget(self._facts)
        column.addWidget(self._output, 1)
        splitter = QSplitter(Qt.Orientation.Horizontal, self)
        splitter.addWidget(self._list)
        splitter.addWidget(side)
        splitter.setHandleWidth(1)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([230, 450])
        self.body.addWidget(splitter)
        self.tab_order = [self._list, self._facts, self._output]

    def _on_shown(self) -> None:
        core = self._open_core()
        if core is not None:
            self._unsubscribe = core.servers.subscribe(self.refresh)
        self.refresh()

    def _on_hidden(self) -> None:
        self._unsubscribe()
        self._unsubscribe = lambda: None

    def _statuses(self) -> list[ServerStatus]:
        core = self._open_core()
        return list(core.servers.statuses()) if core is not None else []

    def refresh(self) -> None:
        """Show what the core says now."""
        statuses, row = self._statuses(), max(0, self._list.currentRow())
        self._list.blockSignals(True)
        self._list.clear()
        for status in statuses:
            shape, colour = _LOOKS[status.state]
            icon = shape_icon(shape, 14, getattr(self._theme.tokens, colour), self.devicePixelRatioF())
            item = QListWidgetItem(icon, f"{status.name}  ·  {status.state.value}")
            item.setToolTip(plain_tip(status.reason))
            self._list.addItem(item)
        self._list.setCurrentRow(min(row, len(statuses) - 1))
        self._list.blockSignals(False)
        ready = sum(status.state is ServerState.READY for status in statuses)
        self.note.setText(
            f"{ready} of {len(statuses)} ready" if statuses else "No tool server is configured."
        )
        self._write()

    def _write(self) -> None:
        statuses, row = self._statuses(), self._list.currentRow()
        chosen = statuses[row] if 0 <= row < len(statuses) else None
        self._restart.setEnabled(chosen is not None and chosen.name not in self._restarting)
        trust = self._trust_of(chosen)
        is_ours = trust in _DECIDED_HERE
        self._trust.setEnabled(is_ours and chosen is not None and chosen.name not in self._deciding)
        text = _REVOKE if trust is not None and trust.counts and is_ours else _TRUST
        self._trust.setText(text)
        self._trust.setAccessibleName(text)
        self._trust.setToolTip(_WHAT_TRUST_MEANS if is_ours or trust is None else trust.words.capitalize())
        self._facts.setText(facts_of(chosen, trust) if chosen is not None else "")
        policy = Qt.FocusPolicy
        self._facts.setFocusPolicy(policy.StrongFocus if self._facts.text() else policy.NoFocus)
        output = "\n".join(chosen.stderr_tail) if chosen is not None else ""
        if output != self._output.toPlainText():
            self._output.setPlainText(output)
        self._output.setVisible(bool(output))

    def _trust_of(self, status: ServerStatus | None) -> Trust | None:
        core = self._open_core()
        return core.trust.of(status.name) if core is not None and status is not None else None

    def _on_trust(self) -> None:
        statuses, row, core = self._statuses(), self._list.currentRow(), self._open_core()
        if core is not None and 0 <= row < len(statuses):
            name = statuses[row].name
            self._deciding.add(name)
            self._write()
            self._owner.spawn(self._do_trust(core, name), f"trust {name}")

    async def _do_trust(self, core: Core, name: str) -> None:
        try:
            if core.trust.of(name).counts:
                await core.trust.revoke(name)
            else:
                await core.trust.trust(name)
            self.note.setText("")
        except SophosError as error:
            self.tell(error.message)
        finally:
            self._deciding.discard(name)
            if self.isVisible():
                self._write()

    def _on_restart(self) -> None:
        statuses, row, core = self._statuses(), self._list.currentRow(), self._open_core()
        if core is not None and 0 <= row < len(statuses):
            name = statuses[row].name
            self._restarting.add(name)
            self._write()
            self._owner.spawn(self._do_restart(core, name), f"restart {name}")

    async def _do_restart(self, core: Core, name: str) -> None:
        try:
            await core.tool_host.restart(name)
        except SophosError as error:
            self.tell(error.message)
        finally:
            self._restarting.discard(name)
            if self.isVisible():
                self.refresh()


def facts_of(status: ServerStatus, trust: Trust | None) -> str:
    """What is known of a server, a line each."""
    lines = [status.name, f"State: {status.state.value}"]
    if status.reason:
        lines.append(f"Reason: {status.reason}")
    lines.append(f"Connection: {status.transport}" + (f", process {status.pid}" if status.pid else ""))
    lines.append(f"Since: {status.since[:19].replace('T', ' ')} UTC")
    if trust is not None:
        lines.append(f"Trust: {trust.words}")
    tools = ", ".join(tool.tool for tool in status.tools) or "none"
    lines.append(f"Tools ({len(status.tools)}): {tools}")
    return "\n".join(lines)
