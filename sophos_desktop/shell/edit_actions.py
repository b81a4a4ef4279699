"""The commands of the Edit menu, for the text that has the focus; finding is always in the conversation.

Invariant: they act on the text widget that had the focus last, a menu's own focus does not count, and on the
transcript where none has; each is enabled while it would do something there.
"""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMenuBar, QPlainTextEdit, QTextEdit, QWidget
from shiboken6 import isValid

_Key = QKeySequence.StandardKey
_TextArea = QTextEdit | QPlainTextEdit
_Text = _TextArea | QLineEdit


class ReadText(Protocol):
    """A widget whose text is painted: it is selected, copied and searched, never changed."""

    @property
    def has_text(self) -> bool:
        """There is something to select or to find."""

    @property
    def has_selection(self) -> bool:
        """Something is selected."""

    def copy(self) -> None:
        """Put what is selected on the clipboard."""

    def copy_markdown(self) -> None:
        """Put the Markdown of what is selected on the clipboard."""

    def select_all(self) -> None:
        """Select everything."""

    def search(self, *, is_back: bool = False, is_again: bool = False) -> None:
        """Ask for words; `is_again`: go to the next place of those asked for, or the one before."""


class EditActions(QObject):
    """Lives as long as its window."""

    def __init__(self, window: QWidget, transcript: ReadText) -> None:
        """All that change a text are off until one has the focus."""
        super().__init__(window)
        self._window = window
        self._transcript = transcript
        self._target: QWidget | None = None
        self._is_reading = False  # the transcript, or a part of it, had the focus last
        self.undo = self._make("actionUndo", "&Undo", _Key.Undo, lambda one: one.undo())
        self.redo = self._make("actionRedo", "&Redo", _Key.Redo, lambda one: one.redo())
        self.cut = self._make("actionCut", "Cu&t", _Key.Cut, lambda one: one.cut())
        self.copy = self._make("actionCopy", "&Copy", _Key.Copy, lambda one: one.copy())
        self.paste = self._make("actionPaste", "&Paste", _Key.Paste, lambda one: one.paste())
        self.select_all = self._make(
            "actionSelectAll", "Select &All", _Key.SelectAll, lambda one: one.selectAll()
        )
        self.copy_markdown = self._make_for_transcript(
            "actionCopyMarkdown", "Copy as &Markdown", QKeySequence("Ctrl+Shift+C"), transcript.copy_markdown
        )
        self.find = self._make_for_transcript(
            "actionFind", "&Find…", QKeySequence("Ctrl+F"), transcript.search
        )
        self.find_next = self._make_for_transcript(
            "actionFindNext", "Find Ne&xt", QKeySequence("F3"), lambda: transcript.search(is_again=True)
        )
        self.find_previous = self._make_for_transcript(
            "actionFindPrevious",
            "Find Pre&vious",
            QKeySequence("Shift+F3"),
            lambda: transcript.search(is_again=True, is_back=True),
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
        work: Callable[[_Text], object],
    ) -> QAction:
        action = QAction(text, self._window)
        action.setObjectName(name)
        action.setShortcut(QKeySequence(keys))

        def do() -> None:
            target = self.target
            if target is None:
                self._act_on_transcript(action)
            else:
                work(target)
            self.update()

        action.triggered.connect(do)
        return action

    def _make_for_transcript(
        self, name: str, text: str, keys: QKeySequence, work: Callable[[], object]
    ) -> QAction:
        action = QAction(text, self._window)
        action.setObjectName(name)
        action.setShortcut(keys)
        action.triggered.connect(lambda _checked=False: work())
        return action

    def _act_on_transcript(self, action: QAction) -> None:
        if action is self.copy:
            self._transcript.copy()
        elif action is self.select_all:
            self._transcript.select_all()

    @property
    def target(self) -> _Text | None:
        """The text widget that the commands act on; None for the transcript."""
        if self._target is not None and not isValid(self._target):
            self._target = None
        known = self._target
        return known if isinstance(known, QTextEdit | QPlainTextEdit | QLineEdit) else None

    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is None or isinstance(new, QMenuBar) or new.window().windowType() is Qt.WindowType.Popup:
            return
        is_ours = new.window() is self._window
        is_text = isinstance(new, QTextEdit | QPlainTextEdit | QLineEdit)
        self._target = new if is_ours and is_text else None
        reads = self._transcript
        self._is_reading = isinstance(reads, QWidget) and (reads is new or reads.isAncestorOf(new))
        self.update()

    def update(self) -> None:
        """Look at the text again: called at each change of focus and before the menu shows."""
        has_text = self._transcript.has_text
        for action in (self.find, self.find_next, self.find_previous):
            action.setEnabled(has_text)
        target = self.target
        has_selection = self._transcript.has_selection if target is None else _has_selection(target)
        self.copy_markdown.setEnabled(target is None and has_selection)
        self.copy.setEnabled(has_selection)
        if target is None:
            for action in (self.undo, self.redo, self.cut, self.paste):
                action.setEnabled(False)
            self.select_all.setEnabled(has_text and (self._is_reading or has_selection))
            return
        can_change = not target.isReadOnly()
        self.undo.setEnabled(can_change and _can_undo(target))
        self.redo.setEnabled(can_change and _can_redo(target))
        self.cut.setEnabled(can_change and has_selection)
        self.paste.setEnabled(can_change)
        self.select_all.setEnabled(True)


def _has_selection(target: _Text) -> bool:
    if isinstance(target, QLineEdit):
        return target.hasSelectedText()
    return target.textCursor().hasSelection()


def _can_undo(target: _Text) -> bool:
    if isinstance(target, QLineEdit):
        return target.isUndoAvailable()
    return target.document().isUndoAvailable()


def _can_redo(target: _Text) -> bool:
    if isinstance(target, QLineEdit):
        return target.isRedoAvailable()
    return target.document().isRedoAvailable()
