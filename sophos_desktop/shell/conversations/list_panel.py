"""The left side of the window: filter, new-chat button, list. Knows no core.

Invariant: `chosen` is told only when the person chose; selecting from the program tells nothing.
"""

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QListView, QToolButton, QVBoxLayout, QWidget

from sophos_desktop.shell.conversations.list_model import ConversationListModel, Role
from sophos_desktop.shell.conversations.row_delegate import RowDelegate
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.tokens import LIST_WIDTH
from sophos_desktop.shell.widgets.shapes import Shape, shape_pixmap

_MINUTE = 60_000


class ConversationPanel(QWidget):
    """Lives as long as its window."""

    chosen = Signal(str)

    def __init__(self, model: ConversationListModel, theme: Theme, parent: QWidget) -> None:
        """Shows `model`."""
        super().__init__(parent)
        self.setObjectName("listPanel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(200)
        self._model = model
        self._theme = theme
        self.filter = QLineEdit(self)
        self.new_button = QToolButton(self)
        self.view = QListView(self)
        self._is_selecting = False
        self._selected: str | None = None
        self._make_parts()
        self._times = QTimer(self)
        self._times.setInterval(_MINUTE)
        self._times.timeout.connect(model.refresh_times)
        self._times.start()
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _make_parts(self) -> None:
        self.filter.setObjectName("conversationFilter")
        self.filter.setAccessibleName("Filter conversations")
        self.filter.setPlaceholderText("Filter")
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._on_filter_changed)
        self.new_button.setObjectName("newChatButton")
        self.new_button.setAccessibleName("New chat")
        self.new_button.setProperty("quiet", "true")
        self.new_button.setFixedSize(32, 32)
        self.view.setObjectName("conversationList")
        self.view.setAccessibleName("Conversations")
        # Before the view hears of it: Qt makes a neighbour current when the current row is removed.
        self._model.rowsAboutToBeRemoved.connect(self._on_rows_about_to_be_removed)
        self.view.setModel(self._model)
        self.view.setItemDelegate(RowDelegate(self._theme, self.view))
        self.view.setUniformItemSizes(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.view.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.view.selectionModel().currentChanged.connect(self._on_current_changed)
        self._model.modelReset.connect(self._restore_selection)
        self._model.rowsInserted.connect(self._restore_selection)
        self._model.rowsRemoved.connect(self._restore_selection)
        top = QHBoxLayout()
        top.setContentsMargins(12, 12, 8, 4)
        top.setSpacing(8)
        top.addWidget(self.filter, 1)
        top.addWidget(self.new_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(top)
        column.addWidget(self.view, 1)

    def sizeHint(self) -> QSize:
        """The width of the look."""
        return QSize(LIST_WIDTH, 400)

    def add_actions(self, new_chat: QAction, *of_rows: QAction) -> None:
        """`of_rows` work by key and by right click while the list has the focus."""
        self.new_button.clicked.connect(lambda: new_chat.trigger())
        self.new_button.setToolTip(f"New chat ({new_chat.shortcut().toString()})")
        for action in of_rows:
            self.view.addAction(action)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def select(self, conversation_id: str | None) -> None:
        """Mark the open conversation; None marks nothing."""
        self._selected = conversation_id
        self._restore_selection()

    def rename_selected(self) -> None:
        """Open the field in the row."""
        index = self._model.row_of(self._selected)
        if index.isValid():
            self.view.setFocus()
            self.view.edit(index)

    def _restore_selection(self) -> None:
        index = self._model.row_of(self._selected)
        self._is_selecting = True
        try:
            if index.isValid():
                flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
                self.view.selectionModel().setCurrentIndex(index, flags)
            else:
                self.view.selectionModel().clear()
        finally:
            self._is_selecting = False

    def _on_rows_about_to_be_removed(self) -> None:
        self._is_selecting = True

    def _on_current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if not self._is_selecting and current.isValid():
            self._selected = str(current.data(Role.ID))
            self.chosen.emit(self._selected)

    def _on_filter_changed(self, text: str) -> None:
        self._model.set_filter(text)

    def _on_theme_changed(self) -> None:
        icon = shape_pixmap(Shape.NEW, 18, self._theme.tokens.text, self.devicePixelRatioF())
        self.new_button.setIcon(QIcon(icon))
        self.new_button.setIconSize(QSize(18, 18))
