"""Which command stands in which menu.

Invariant: every entry has a function; a menu holds no state. The menus live beside the window, not in it: Qt
would polish each at every change of theme.
"""

from collections.abc import Sequence

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenuBar, QWidget

from sophos_desktop.shell.actions import Actions
from sophos_desktop.shell.edit_actions import EditActions
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.widgets.floating_menu import FloatingMenu


def fill_menu_bar(
    bar: QMenuBar, actions: Actions, edit: EditActions, toggle_trace: QAction, theme: Theme
) -> QWidget:
    """File, Edit, View, Chat, Tools, Help. Gives where they live, for the window to keep."""
    home = QWidget()
    home.setObjectName("menus")
    bar.destroyed.connect(home.deleteLater)
    add = _Adding(bar, home, theme)
    export = FloatingMenu("&Export", theme, home)
    export.setObjectName("menuExport")
    export.addActions([actions.export_markdown, actions.export_jsonl])
    export.addSeparator()
    export.addActions([actions.export_all_markdown, actions.export_all_jsonl])
    add.menu(
        "&File",
        (
            actions.new_chat,
            None,
            actions.rename,
            export.menuAction(),
            actions.delete,
            None,
            actions.settings,
            actions.data_folder,
            None,
            actions.quit,
        ),
    )
    edit_menu = add.menu(
        "&Edit",
        (
            edit.undo,
            edit.redo,
            None,
            edit.cut,
            edit.copy,
            edit.copy_markdown,
            edit.paste,
            None,
            edit.select_all,
            None,
            edit.find,
            edit.find_next,
            edit.find_previous,
        ),
    )
    edit_menu.aboutToShow.connect(edit.update)
    zoom = FloatingMenu("&Zoom", theme, home)
    zoom.setObjectName("menuZoom")
    zoom.addActions([actions.zoom_in, actions.zoom_out])
    zoom.addSeparator()
    zoom.addAction(actions.zoom_reset)
    add.menu("&View", (actions.toggle_list, toggle_trace, None, zoom.menuAction()))
    add.menu(
        "&Chat",
        (
            actions.resume,
            actions.stop,
            None,
            actions.attach,
            actions.choose_model,
            None,
            actions.focus_composer,
            actions.focus_list,
            actions.focus_trace,
        ),
    )
    add.menu("&Tools", (actions.servers, actions.permissions, actions.doctor))
    add.menu("&Help", (actions.keyboard, None, actions.about))
    return home


class _Adding:
    """Adds menus to a bar."""

    def __init__(self, bar: QMenuBar, home: QWidget, theme: Theme) -> None:
        self._bar, self._home, self._theme = bar, home, theme

    def menu(self, title: str, entries: Sequence[QAction | None]) -> FloatingMenu:
        menu = FloatingMenu(title, self._theme, self._home, hangs_from_bar=True)
        menu.setObjectName("menu" + title.replace("&", ""))
        menu.add_entries(entries)
        self._bar.addMenu(menu)
        return menu
