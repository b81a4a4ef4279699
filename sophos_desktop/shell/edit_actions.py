"""The commands of the Edit menu, for the text that has the focus.

Invariant: they act on the text widget that had the focus last, a menu's own focus does not count; each is
enabled while it would do something there.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QMenuBar, QPlainTextEdit, QTextEdit, QWidget
from shiboken6 import isValid

_Key = QKeySequence.StandardKey
_TextArea = QTextEdit | QPlainTextEdit


class EditActions(QObject):
    """Lives as long as its window."""

    def __init__(self, window: QWidget) -> None:
        """All are off until a text has the focus."""
        super().__init__(window)
        self._window = window
        self._target: QWidget | None = None
        self.undo = self._make("actionUndo", "&Undo", _Key.Undo, lambda one: one.undo())
        self.redo = self._make("actionRedo", "&Redo", _Key.Redo, lambda one: one.redo())
        self.cut = self._make("actionCut", "Cu&t", _Key.Cut, lambda one: one.cut())
        self.copy = self._make("actionCopy", "&Copy", _Key.Copy, lambda one: one.copy())
        self.paste = self._make("actionPaste", "&Paste", _Key.Paste, lambda one: one.paste())
        self.select_all = self._make(
            "actionSelectAll", "Select &All", _Key.SelectAll, lambda one: one.selectAll()
        )
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus_changed)
        self.update()

    def _make(
        self,
        name: str,
        text: str,
        keys: QKeySequence.StandardKey,
        work: Callable[[_TextArea | QLineEdit], object],
    ) -> QAction:
        action = QAction(text, self._window)
        action.setObjectName(name)
        action.setShortcut(QKeySequence(keys))

        def do() -> None:
            target = self.target
            if target is not None:
                work(target)
                self.update()

        action.triggered.connect(do)
        return action

    @property
    def target(self) -> _TextArea | QLineEdit | None:
        """The text that the commands act on."""
        if self._target is not None and not isValid(self._target):
            self._target = None
        known = self._target
        return known if isinstance(known, QTextEdit | QPlainTextEdit | QLineEdit) else None

    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is None or isinstance(new, QMenuBar | QMenu):
            return
        is_ours = new.window() is self._window
        is_text = isinstance(new, QTextEdit | QPlainTextEdit | QLineEdit)
        self._target = new if is_ours and is_text else None
        self.update()

    def update(self) -> None:
        """Look at the text again: called at each change of focus and before the menu shows."""
        target = self.target
        can_change = target is not None and not target.isReadOnly()
        has_selection = _has_selection(target)
        self.undo.setEnabled(can_change and _can_undo(target))
        self.redo.setEnabled(can_change and _can_redo(target))
        self.cut.setEnabled(can_change and has_selection)
        self.copy.setEnabled(has_selection)
        self.paste.setEnabled(can_change)
        self.select_all.setEnabled(target is not None)


def _has_selection(target: _TextArea | QLineEdit | None) -> bool:
    if isinstance(target, QLineEdit):
        return target.hasSelectedText()
    return target is not None and target.textCursor().hasSelection()


def _can_undo(target: _TextArea | QLineEdit | None) -> bool:
    if isinstance(target, QLineEdit):
        return target.isUndoAvailable()
    return target is not None and target.document().isUndoAvailable()


def _can_redo(target: _TextArea | QLineEdit | None) -> bool:
    if isinstance(target, QLineEdit):
        return target.isRedoAvailable()
    return target is not None and target.document().isRedoAvailable()
