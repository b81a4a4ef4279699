"""Remembers where the conversations that were on the screen were read, and what was open in them.

Invariant: of a new chat nothing is kept, and of `_MOST` conversations at most; nothing outlives the window.
"""

from collections import OrderedDict

from sophos_desktop.shell.transcript.cards.card_states import CardStates, Said
from sophos_desktop.shell.transcript.view.place_keeper import ReadingPlace

_MOST = 200


class LeftReading:
    """Lives as long as its transcript."""

    def __init__(self) -> None:
        """Nothing was read."""
        self._shown: str | None = None
        self._left: OrderedDict[str, tuple[ReadingPlace | None, Said]] = OrderedDict()

    def exchange(
        self, conversation_id: str | None, place: ReadingPlace | None, states: CardStates
    ) -> ReadingPlace | None:
        """Another conversation is about to be shown; `place` is where the one before is left. Gives where
        this one was left, and puts what was open in it into `states`."""
        found, said = self._left.pop(conversation_id or "", (None, None))
        left = states.exchange(said or Said())
        if self._shown is not None and self._shown != conversation_id:
            self._left[self._shown] = place, left
            while len(self._left) > _MOST:
                self._left.popitem(last=False)
        self._shown = conversation_id
        return found
