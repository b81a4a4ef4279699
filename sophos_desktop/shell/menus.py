"""Which command stands in which menu.

Invariant: every entry has a function; a menu holds no state.
"""

from collections.abc import Sequence

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenuBar

from sophos_desktop.shell.actions import Actions
from sophos_desktop.shell.edit_actions import EditActions
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.widgets.floating_menu import FloatingMenu


def fill_menu_bar(
    bar: QMenuBar, actions: Actions, edit: EditActions, toggle_trace: QAction, theme: Theme
) -> None:
    """File, Edit, View, Chat, Tools, Help."""
    export = FloatingMenu("&Export", theme, bar)
    export.setObjectName("menuExport")
    export.addActions([actions.export_markdown, actions.export_jsonl])
    export.addSeparator()
    export.addActions([actions.export_all_markdown, actions.export_all_jsonl])
    _add(
        theme,
        bar,
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
    edit_menu = _add(
        theme,
        bar,
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
    zoom = FloatingMenu("&Zoom", theme, bar)
    zoom.setObjectName("menuZoom")
    zoom.addActions([actions.zoom_in, actions.zoom_out])
    zoom.addSeparator()
    zoom.addAction(actions.zoom_reset)
    _add(theme, bar, "&View", (actions.toggle_list, toggle_trace, None, zoom.menuAction()))
    _add(
        theme, bar, "&Chat", (actions.resume, actions.stop, None, actions.focus_composer, actions.focus_list)
    )
    _add(theme, bar, "&Tools", (actions.servers, actions.permissions, actions.doctor))
    _add(theme, bar, "&Help", (actions.keyboard, None, actions.about))


def _add(theme: Theme, bar: QMenuBar, title: str, entries: Sequence[QAction | None]) -> FloatingMenu:
    menu = FloatingMenu(title, theme, bar, hangs_from_bar=True)
    menu.setObjectName("menu" + title.replace("&", ""))
    menu.add_entries(entries)
    bar.addMenu(menu)
    return menu
