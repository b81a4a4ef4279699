"""What happens between the model picker and the core: looking, opening, choosing.

Invariant: nothing waits for an engine: the picker says what is known, and what comes later for another
conversation, or after a newer look, is dropped. A choice is told once it is kept.
"""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.model_choices import EngineModels, ModelStanding
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.chat.composing.model_picker import ModelPicker
from sophos_desktop.shell.chat.composing.model_popup import ModelPopup
from sophos_desktop.shell.chat.composing.model_rows import ModelRow, picked
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.theme.follower import Theme


class ModelFlow(QObject):
    """Lives as long as its window; works between `attach` and `detach`."""

    chosen = Signal()  # another model was chosen, and that is kept
    failed = Signal(object)  # SophosError

    def __init__(self, picker: ModelPicker, theme: Theme, owner: TaskOwner, parent: QObject) -> None:
        """Drives `picker`."""
        super().__init__(parent)
        self._picker = picker
        self._owner = owner
        self.popup = ModelPopup(theme, picker)
        self._core: Core | None = None
        self._conversation_id: str | None = None
        self._looks = 0
        self._is_looking = False
        self._standing: ModelStanding | None = None
        self._engines: Sequence[EngineModels] | None = None
        picker.clicked.connect(self.open)
        self.popup.chosen.connect(self._on_chosen)

    def attach(self, core: Core) -> None:
        """The core is open."""
        self._core = core
        self._picker.setEnabled(True)
        self.refresh()

    def detach(self) -> None:
        """The core is about to close."""
        self._core = None
        self._looks += 1
        self._picker.setEnabled(False)
        self.popup.close()

    def show(self, conversation_id: str | None) -> None:
        """Another conversation is open; None: the chat that does not exist yet."""
        self._conversation_id = conversation_id
        self.popup.close()
        self.refresh()

    def refresh(self) -> None:
        """Look again at what was chosen and at what the engines have; shows what is known until then."""
        self._looks += 1
        if self._core is not None:
            self._is_looking = True
            self._owner.spawn(self._look(self._core, self._conversation_id, self._looks), "look at models")

    async def _look(self, core: Core, conversation_id: str | None, look: int) -> None:
        try:
            standing = await core.models.standing(conversation_id)
        except SophosError:
            return  # the conversation is gone, or the store says so where it matters
        if look != self._looks:
            return
        self._standing = standing
        self._tell()
        engines = await core.models.by_engine()
        if look == self._looks:
            self._engines, self._is_looking = engines, False
            self._tell()

    def _tell(self) -> None:
        if self._standing is not None:
            self._picker.show_model(picked(self._standing, self._engines))
        self.popup.show_models(self._standing, self._engines, is_looking=self._is_looking)

    def open(self) -> None:
        """Open the list over the picker; what the engines have now comes into it when it is known."""
        if self._core is None or self.popup.isVisible():
            return
        self.refresh()
        self._tell()
        self.popup.open_over(self._picker)

    def _on_chosen(self, row: ModelRow) -> None:
        if self._core is not None:
            work = self._choose(self._core, self._conversation_id, row)
            self._owner.spawn(work, "choose a model")

    async def _choose(self, core: Core, conversation_id: str | None, row: ModelRow) -> None:
        try:
            await core.models.choose(conversation_id, row.engine, row.model)
        except SophosError as error:
            self.failed.emit(error)
            return
        self.refresh()
        self.chosen.emit()
