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

_Entries = Sequence[QAction | None]  # None: a line between two groups


def fill_menu_bar(
    bar: QMenuBar, actions: Actions, edit: EditActions, toggle_trace: QAction, theme: Theme
) -> QWidget:
    """File, Edit, View, Chat, Tools, Help. Gives where they live, for the window to keep."""
    home = QWidget()
    home.setObjectName("menus")
    bar.destroyed.connect(home.deleteLater)

    def menu(title: str, entries: _Entries, *, hangs_from_bar: bool = False) -> FloatingMenu:
        made = FloatingMenu(title, theme, home, hangs_from_bar=hangs_from_bar)
        made.setObjectName("menu" + title.replace("&", ""))
        made.add_entries(entries)
        return made

    export = menu("&Export", _exports(actions))
    zoom = menu("&Zoom", (actions.zoom_in, actions.zoom_out, None, actions.zoom_reset))
    for title, entries in (
        ("&File", _file(actions, export.menuAction())),
        ("&Edit", _edit(edit)),
        ("&View", (actions.toggle_list, toggle_trace, None, zoom.menuAction())),
        ("&Chat", _chat(actions)),
        ("&Tools", (actions.servers, actions.permissions, actions.doctor)),
        ("&Help", (actions.keyboard, None, actions.about)),
    ):
        hung = menu(title, entries, hangs_from_bar=True)
        bar.addMenu(hung)
        if title == "&Edit":
            hung.aboutToShow.connect(edit.update)
    return home


def _exports(actions: Actions) -> _Entries:
    all_ = (actions.export_all_markdown, actions.export_all_jsonl)
    return (actions.export_markdown, actions.export_jsonl, None, *all_)


def _file(actions: Actions, export: QAction) -> _Entries:
    return (
        actions.new_chat,
        None,
        actions.rename,
        export,
        actions.delete,
        None,
        actions.settings,
        actions.data_folder,
        None,
        actions.quit,
    )


def _edit(edit: EditActions) -> _Entries:
    return (
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
    )


def _chat(actions: Actions) -> _Entries:
    return (
        actions.resume,
        actions.stop,
        None,
        actions.attach,
        actions.choose_model,
        None,
        actions.focus_composer,
        actions.focus_list,
        actions.focus_trace,
    )


def row_entries(actions: Actions) -> _Entries:
    """The menu of a row of the list."""
    return (actions.rename, actions.export_here, None, actions.resume, None, actions.delete)
