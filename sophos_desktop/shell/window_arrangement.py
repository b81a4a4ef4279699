"""Puts the parts of the window beside each other, and the keyboard's way through them in order.

Invariant: how it is the first time; what the person made of it is `window_layout`'s.
"""

import itertools

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow, QSplitter, QToolButton, QWidget

from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.conversations.list_panel import ConversationPanel
from sophos_desktop.shell.status.bar import StatusBar
from sophos_desktop.shell.theme.tokens import DOCK_WIDTH, FIRST_WINDOW, LIST_WIDTH
from sophos_desktop.shell.trace.dock import TraceDock

_NARROWEST_CHAT = 320


def arrange(
    window: QMainWindow, panel: ConversationPanel, chat: ChatView, dock: TraceDock, status: StatusBar
) -> QSplitter:
    """List, conversation, trace, status bar. Gives what parts the first two."""
    splitter = QSplitter(Qt.Orientation.Horizontal, window)
    splitter.setHandleWidth(1)
    splitter.addWidget(panel)
    splitter.addWidget(chat)
    # Not what its layout asks for: the margins beside the column would push the dock away.
    chat.setMinimumWidth(_NARROWEST_CHAT)
    splitter.setStretchFactor(1, 1)
    splitter.setCollapsible(1, False)
    splitter.setSizes([LIST_WIDTH - 1, FIRST_WINDOW[0] - LIST_WIDTH])  # the line is the last pixel
    window.setCentralWidget(splitter)
    window.setStatusBar(status)
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    window.resizeDocks([dock], [DOCK_WIDTH - 1], Qt.Orientation.Horizontal)
    return splitter


def order_tabs(panel: ConversationPanel, chat: ChatView, picker: QToolButton) -> None:
    """From the filter to the send button; the rest is put in order when Tab is pressed."""
    chat.tab_chain.add_above(panel.undo_bar)
    frame = chat.composer_frame
    order: tuple[QWidget, ...] = (
        panel.filter,
        panel.new_button,
        panel.view,
        chat.transcript,
        chat.composer,
        frame.attach_button,
        picker,
        chat.stop_button,
        chat.send_button,
    )
    for before, after in itertools.pairwise(order):
        QWidget.setTabOrder(before, after)
