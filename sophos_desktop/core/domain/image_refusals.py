"""Which images an engine would not take, so that the next prompt does without them.

Invariant: pure. A refusal is about one image of one message and one model of one engine; an image that is
attached again, or shown to another model, is tried anew.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sophos_desktop.core.domain.specs import EngineKind

REFUSALS_KEY: Final = "refused_images"
"""Where a conversation's metadata hold them."""
ENOUGH_FAILURES: Final = 2
"""So often a request with an image may fail for a reason that the engine does not give."""


@dataclass(frozen=True, slots=True)
class ImagePlace:
    """An image where it stands: in a message of the user."""

    message_id: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ImageRefusal:
    """How often a model failed over an image; `ENOUGH_FAILURES` at once if the engine said why."""

    place: ImagePlace
    engine: str
    model: str
    failures: int

    @property
    def is_left_out(self) -> bool:
        """True if prompts do without the image from now on."""
        return self.failures >= ENOUGH_FAILURES

    def to_json(self) -> dict[str, Any]:
        """How it is kept."""
        return {
            "message_id": self.place.message_id,
            "sha256": self.place.sha256,
            "engine": self.engine,
            "model": self.model,
            "failures": self.failures,
        }


class ImageRefusals(Protocol):
    """The refusals of one conversation."""

    async def left_out(self, engine: EngineKind, model: str) -> Collection[ImagePlace]:
        """What prompts for this model do without. Raises SophosError STORE_*."""

    async def note(
        self, engine: EngineKind, model: str, places: Sequence[ImagePlace], *, is_certain: bool
    ) -> bool:
        """A request with these images failed; `is_certain`: over them, as the engine says. True if prompts do
        without them from now on: committed when this returns. Raises SophosError STORE_*."""


class NothingRefused:
    """Where nothing is kept: every image is shown each time."""

    async def left_out(self, engine: EngineKind, model: str) -> Collection[ImagePlace]:
        """None."""
        return ()

    async def note(
        self, engine: EngineKind, model: str, places: Sequence[ImagePlace], *, is_certain: bool
    ) -> bool:
        """Forgotten at once."""
        return False


def refusals_in(value: object) -> list[ImageRefusal]:
    """Those that `ImageRefusal.to_json` gave; anything else, as from another version, is passed over."""
    found = []
    for one in value if isinstance(value, list) else ():
        if not isinstance(one, Mapping):
            continue
        words = [one.get(name) for name in ("message_id", "sha256", "engine", "model")]
        failures = one.get("failures")
        if all(isinstance(word, str) for word in words) and isinstance(failures, int):
            message_id, sha256, engine, model = map(str, words)
            found.append(ImageRefusal(ImagePlace(message_id, sha256), engine, model, failures))
    return found


def with_failure(
    known: Sequence[ImageRefusal],
    engine: str,
    model: str,
    places: Sequence[ImagePlace],
    *,
    is_certain: bool,
) -> list[ImageRefusal]:
    """The refusals after one more failure over `places`."""
    others = [one for one in known if (one.engine, one.model) != (engine, model) or one.place not in places]
    before = {one.place: one.failures for one in known if (one.engine, one.model) == (engine, model)}
    counted = {
        place: ENOUGH_FAILURES if is_certain else min(before.get(place, 0) + 1, ENOUGH_FAILURES)
        for place in places
    }
    return [*others, *(ImageRefusal(place, engine, model, number) for place, number in counted.items())]
