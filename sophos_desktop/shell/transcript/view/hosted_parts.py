"""Knows how high the parts are that are no text: cards and images.

Invariant: asking for a card's height makes the card; asking for an image's begins to decode it.
"""

from sophos_desktop.shell.transcript.drawing.documents import Documents
from sophos_desktop.shell.transcript.model.transcript_model import MessageImage, TranscriptModel
from sophos_desktop.shell.transcript.view.bounded_images import BoundedImages
from sophos_desktop.shell.transcript.view.card_host import CardHost


class HostedParts:
    """Lives as long as its view (see PartHeights)."""

    def __init__(self, documents: Documents, cards: CardHost, images: BoundedImages) -> None:
        """`documents` know the column and the screen."""
        self._documents = documents
        self._cards = cards
        self._images = images

    def card_height(self, model: TranscriptModel, message: int, *, is_footer: bool) -> int:
        """In the column."""
        return self._cards.height(model, message, self._documents.column, is_footer=is_footer)

    def image_height(self, image: MessageImage) -> int:
        """Of the placeholder while the image is not there."""
        return self._images.height(image, self._documents.column, self._documents.style.pixel_ratio)
