"""The commands of the Edit menu, for the text that has the focus; finding is always in the conversation.

Invariant: they act on the text widget that had the focus last, a menu's own focus does not count, and on the
transcript where none has; each is enabled while it would do something there.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, Qt, SignalInstance
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMenuBar, QPlainTextEdit, QTextEdit, QWidget
from shiboken6 import isValid

from sophos_desktop.shell.widgets.command import command

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


class Undoing(Protocol):
    """What can be taken back while no text has anything to undo."""

    @property
    def can_undo(self) -> bool:
        """There is something to take back."""

    @property
    def can_undo_changed(self) -> SignalInstance:
        """`can_undo` says something else."""

    def undo(self) -> None:
        """Take it back."""


class EditActions(QObject):
    """Lives as long as its window."""

    def __init__(self, window: QWidget, transcript: ReadText) -> None:
        """All that change a text are off until one has the focus."""
        super().__init__(window)
        self._window = window
        self._transcript = transcript
        self._target: QWidget | None = None
        self._beside: Undoing | None = None
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
            "actionCopyMarkdown", "Copy as &Markdown", "Ctrl+Shift+C", transcript.copy_markdown
        )
        self.find = self._make_for_transcript("actionFind", "&Find…", "Ctrl+F", transcript.search, _Key.Find)
        self.find_next = self._make_for_transcript(
            "actionFindNext", "Find Ne&xt", "F3", lambda: transcript.search(is_again=True), _Key.FindNext
        )
        self.find_previous = self._make_for_transcript(
            "actionFindPrevious",
            "Find Pre&vious",
            "Shift+F3",
            lambda: transcript.search(is_again=True, is_back=True),
            _Key.FindPrevious,
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
        action = command(self._window, name, text, standard=keys)

        def do() -> None:
            target = self.target
            if action is self.undo and self._takes_back:
                self._take_back()
            elif target is None:
                self._act_on_transcript(action)
            else:
                work(target)
            self.update()

        action.triggered.connect(do)
        return action

    def _make_for_transcript(
        self,
        name: str,
        text: str,
        keys: str,
        work: Callable[[], object],
        standard: QKeySequence.StandardKey | None = None,
    ) -> QAction:
        action = command(self._window, name, text, keys, standard)
        action.triggered.connect(lambda _checked=False: work())
        return action

    def offer_undo(self, beside: Undoing) -> None:
        """Undo takes back what `beside` has while the text with the focus has nothing to undo."""
        self._beside = beside
        beside.can_undo_changed.connect(self.update)

    @property
    def _takes_back(self) -> bool:
        target = self.target
        has_own = target is not None and not target.isReadOnly() and _can_undo(target)
        return self._beside is not None and self._beside.can_undo and not has_own

    def _take_back(self) -> None:
        if self._beside is not None:
            self._beside.undo()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A text takes its Undo key even when it has nothing to undo: then it is the window's."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.matches(_Key.Undo)
            and self._takes_back
        ):
            event.ignore()
            return True
        return super().eventFilter(watched, event)

    def __iter__(self) -> Iterator[QAction]:
        """All commands."""
        return (value for value in vars(self).values() if isinstance(value, QAction))

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
        before, self._target = self.target, new if is_ours and is_text else None
        if before is not None:
            before.removeEventFilter(self)
        if self._target is not None:
            self._target.installEventFilter(self)
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
            self.undo.setEnabled(self._takes_back)
            for action in (self.redo, self.cut, self.paste):
                action.setEnabled(False)
            self.select_all.setEnabled(has_text and (self._is_reading or has_selection))
            return
        can_change = not target.isReadOnly()
        self.undo.setEnabled((can_change and _can_undo(target)) or self._takes_back)
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
