"""Which command stands in which menu.

Invariant: every entry has a function; a menu holds no state.
"""

from collections.abc import Sequence

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar

from sophos_desktop.shell.actions import Actions
from sophos_desktop.shell.edit_actions import EditActions


def fill_menu_bar(bar: QMenuBar, actions: Actions, edit: EditActions, toggle_trace: QAction) -> None:
    """File, Edit, View, Chat, Tools, Help."""
    export = QMenu("&Export", bar)
    export.setObjectName("menuExport")
    export.addActions([actions.export_markdown, actions.export_jsonl])
    export.addSeparator()
    export.addActions([actions.export_all_markdown, actions.export_all_jsonl])
    _add(
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
        bar,
        "&Edit",
        (
            edit.undo,
            edit.redo,
            None,
            edit.cut,
            edit.copy,
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
    _add(bar, "&View", (actions.toggle_list, toggle_trace))
    _add(bar, "&Chat", (actions.resume, actions.stop, None, actions.focus_composer, actions.focus_list))
    _add(bar, "&Tools", (actions.servers, actions.permissions, actions.doctor))
    _add(bar, "&Help", (actions.keyboard, None, actions.about))


def _add(bar: QMenuBar, title: str, entries: Sequence[QAction | None]) -> QMenu:
    menu = bar.addMenu(title)
    menu.setObjectName("menu" + title.replace("&", ""))
    for action in entries:
        if action is None:
            menu.addSeparator()
        else:
            menu.addAction(action)
    return menu
