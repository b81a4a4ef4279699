"""The left side of the window: filter, new-chat button, list; or a rail in their place. Knows no core.

Invariant: `chosen` is told only when the person chose; selecting from the program tells nothing.
"""

from collections.abc import Sequence

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListView,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.shell.conversations.filter_field import FilterField
from sophos_desktop.shell.conversations.grouped_view import GroupedView
from sophos_desktop.shell.conversations.list_model import ConversationListModel, Role
from sophos_desktop.shell.conversations.list_rail import ListRail
from sophos_desktop.shell.conversations.row_delegate import RowDelegate
from sophos_desktop.shell.conversations.undo_bar import UndoBar
from sophos_desktop.shell.conversations.unopened_note import UnopenedNote
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import wide
from sophos_desktop.shell.theme.icon_fit import FieldMark, IconFit, set_clear_icon
from sophos_desktop.shell.theme.icons import Mark, icon
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.widgets.announcing import announce
from sophos_desktop.shell.widgets.floating_menu import FloatingMenu

_MINUTE = 60_000
_TYPING_MILLISECONDS = 400  # what is left is told once, when the typing pauses


class ConversationPanel(QWidget):
    """Lives as long as its window."""

    chosen = Signal(str)
    list_wanted = Signal()
    undo_room_changed = Signal()

    def __init__(self, model: ConversationListModel, theme: Theme, parent: QWidget) -> None:
        """Shows `model`."""
        super().__init__(parent)
        self.setObjectName("listPanel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._model = model
        self._theme = theme
        self._full = QWidget(self)
        self.rail = ListRail(model, theme, self)
        self.filter = FilterField(self._full)
        self.new_button = QToolButton(self._full)
        self.view = GroupedView(model, theme, self._full)
        self._is_selecting = False
        self._selected: str | None = None
        self._make_parts()
        self.undo_bar = UndoBar(theme, self)
        self._pages = QStackedLayout()
        self._whole = whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(self._pages, 1)
        whole.addWidget(self.undo_bar)
        self._pages.addWidget(self._full)
        self._pages.addWidget(self.rail)
        self._fit()
        self._times = QTimer(self)
        self._times.setInterval(_MINUTE)
        self._times.timeout.connect(model.refresh_times)
        self._times.start()
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MILLISECONDS)
        self._typing.timeout.connect(self._tell_what_is_left)
        IconFit(self.new_button, 18, theme, lambda: (theme.tokens.measures.field,) * 2)
        theme.sizes_changed.connect(self._fit)

    def _make_parts(self) -> None:
        self.filter.setObjectName("conversationFilter")
        self.filter.setAccessibleName("Filter conversations")
        self.filter.setPlaceholderText("Filter")
        self.filter.setClearButtonEnabled(True)
        # Qt 6.11 tells of a caret that comes with the first focus before it tells of the focus: Orca takes
        # the field for current then, and says nothing.
        self.filter.home(False)
        FieldMark(Mark.SEARCH, self.filter, self._theme)
        set_clear_icon(self.filter, icon(Mark.CLOSE, self._theme))
        self.filter.textChanged.connect(self._on_filter_changed)
        self.filter.list_wanted.connect(self._go_to_list)
        self.new_button.setObjectName("newChatButton")
        self.new_button.setAccessibleName("New chat")
        self.new_button.setProperty("quiet", "true")
        self.new_button.setIcon(icon(Mark.NEW, self._theme, "text"))
        self.view.setObjectName("conversationList")
        self.view.setAccessibleName("Conversations")
        # Before the view hears of it: Qt makes a neighbour current when the current row is removed.
        self._model.rowsAboutToBeRemoved.connect(self._on_rows_about_to_be_removed)
        self.view.setModel(self._model)
        self.view.setItemDelegate(RowDelegate(self._theme, self.view))
        self.view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.view.selectionModel().currentChanged.connect(self._on_current_changed)
        for changed in (self._model.rowsMoved, self._model.dataChanged):
            changed.connect(self._on_groups_changed)
        self._model.modelReset.connect(self._restore_selection)
        self._model.rowsInserted.connect(self._restore_selection)
        self._model.rowsRemoved.connect(self._restore_selection)
        self.rail.chosen.connect(self.chosen)
        self.rail.search_wanted.connect(self.list_wanted)
        top = QHBoxLayout()
        top.setContentsMargins(MEASURES.list_margin, MEASURES.list_margin, 8, 0)
        top.setSpacing(8)
        top.addWidget(self.filter, 1)
        top.addWidget(self.new_button)
        column = self._column = QVBoxLayout(self._full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self.view, 1)

    def show_unopened(self, error: SophosError) -> None:
        """There is no list: `error` says why in its place."""
        self.filter.setEnabled(False)
        self.view.hide()
        note = UnopenedNote(error, self._full)
        self._column.addWidget(note, 1)
        note.show()  # a layout would show it a turn later

    @property
    def is_rail(self) -> bool:
        """True while the rail stands in the list's place."""
        return self._pages.currentIndex() == 1

    def show_rail(self, *, is_rail: bool) -> None:
        """Put the rail in the list's place, or the list back."""
        if is_rail != self.is_rail:
            self._pages.setCurrentIndex(1 if is_rail else 0)
            self._fit()
            self.undo_room_changed.emit()

    @property
    def has_room_for_undo(self) -> bool:
        """The undo bar can be read in the panel."""
        return not self.isHidden() and not self.is_rail

    def take_undo_bar(self) -> None:
        """The undo bar stands below the list."""
        self._whole.addWidget(self.undo_bar)
        self.undo_bar.moved()

    def showEvent(self, event: QShowEvent) -> None:
        """The undo bar may come back."""
        super().showEvent(event)
        self.undo_room_changed.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """The undo bar needs another place."""
        super().hideEvent(event)
        self.undo_room_changed.emit()

    def _fit(self) -> None:
        if self.is_rail:
            self.setFixedWidth(wide(MEASURES.rail_width) - 1)  # the splitter's line is the last pixel
        else:
            self.setMinimumWidth(wide(MEASURES.list_narrowest) - 1)
            self.setMaximumWidth(wide(MEASURES.list_widest) - 1)

    def sizeHint(self) -> QSize:
        """The width of the look."""
        return QSize(wide(MEASURES.list_width) - 1, 400)

    def add_actions(
        self, new_chat: QAction, *, by_key: Sequence[QAction], by_click: Sequence[QAction | None]
    ) -> None:
        """`by_key` have their keys while the list has the focus; `by_click` stand in a row's menu, with None
        between two groups. All of them are about the open conversation, which a click on a row makes it."""
        self.new_button.clicked.connect(lambda: new_chat.trigger())
        for button in (self.new_button, self.rail.new_button):
            new_chat.enabledChanged.connect(button.setEnabled)
            button.setEnabled(new_chat.isEnabled())
        self.rail.new_wanted.connect(lambda: new_chat.trigger())
        self.new_button.setToolTip(f"New chat ({new_chat.shortcut().toString()})")
        self.view.addActions(by_key)
        self._menu = FloatingMenu("", self._theme, self.view)
        self._menu.setObjectName("conversationMenu")
        self._menu.add_entries(by_click)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._on_menu_wanted)

    def _on_menu_wanted(self, place: QPoint) -> None:
        if self.view.indexAt(place).isValid():
            self._menu.popup(self.view.viewport().mapToGlobal(place))

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

    def _on_groups_changed(self) -> None:
        self.view.updateGeometries()
        self.view.viewport().update()

    def _on_rows_about_to_be_removed(self) -> None:
        self._is_selecting = True

    def _on_current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if not self._is_selecting and current.isValid():
            self._selected = str(current.data(Role.ID))
            self.chosen.emit(self._selected)

    def _on_filter_changed(self, text: str) -> None:
        self._model.set_filter(text)
        self._typing.start()

    def _go_to_list(self) -> None:
        """To the conversation that is open, or the first that the filter left."""
        if self._model.rowCount():
            self.view.setFocus(Qt.FocusReason.ShortcutFocusReason)
            if not self.view.currentIndex().isValid():
                self.view.setCurrentIndex(self._model.index(0))

    def _tell_what_is_left(self) -> None:
        count = self._model.rowCount()
        words = f"{count:,} conversation" + ("" if count == 1 else "s")
        announce(self.filter, words if count else "No title holds that")
