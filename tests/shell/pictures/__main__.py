"""`python -m tests.shell.pictures THEME FOLDER [SCENE …]`: take the pictures of one theme.

Prints one JSON object a picture: its name, its size, the share of pixels that are exactly a token's colour.
The size factor is Qt's own (`QT_SCALE_FACTOR`).
"""

import asyncio
import json
import sys
from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path

import qasync
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from sophos_desktop.shell.theme.tokens import DARK, LIGHT, Tokens
from tests.shell.pictures.scenes import ENDING, SCENES, TALL
from tests.shell.pictures.stories import NOW, core_of_pictures
from tests.support.window import open_window

SIZE = (1280, 800)
_SETTLING_SECONDS = 0.8  # the transcript highlights, reads and decodes in spare time
THEMES = {"light": LIGHT, "dark": DARK}


class StillClock:
    """It is always the same moment; what is measured goes on."""

    def now(self) -> datetime:
        """A moment after the newest message."""
        return NOW + timedelta(minutes=1)

    def monotonic(self) -> float:
        """Seconds of the loop."""
        return asyncio.get_running_loop().time()


async def take(theme: str, folder: Path, names: list[str]) -> None:
    """One window a picture, so that none depends on another."""
    for name in names:
        core = core_of_pictures()
        core.settings.set("ui.theme", theme)
        async with open_window(core, StillClock()) as rig:
            rig.window.resize(SIZE[0], TALL.get(name, SIZE[1]))
            rig.window.activateWindow()
            await SCENES[name](rig, core)
            await asyncio.sleep(_SETTLING_SECONDS)
            picture = rig.window.grab()
            percent = round(100 * picture.devicePixelRatio())
            path = folder / f"{name}-{theme}-{percent}.png"
            picture.save(str(path))
            share = share_of_tokens(picture.toImage(), THEMES[theme])
            size = [picture.width(), picture.height()]
            print(json.dumps({"name": path.name, "size": size, "share": share}))
            for handle in core.runs.handles:
                if core.runs.active(handle.conversation_id) is handle:
                    handle.end(ENDING)


def share_of_tokens(image: QImage, tokens: Tokens) -> float:
    """How many of the pixels have exactly the colour of a token, from 0 to 1."""
    named = [getattr(tokens, field.name) for field in fields(tokens)]
    wanted = {QColor(value).rgb() for value in named if isinstance(value, str) and value.startswith("#")}
    pixels = memoryview(image.convertToFormat(QImage.Format.Format_RGB32).constBits()).cast("I")
    return sum(pixel | 0xFF000000 in wanted for pixel in pixels) / len(pixels)


def main(arguments: list[str]) -> int:
    """2 if the arguments are none."""
    if len(arguments) < 2 or arguments[0] not in THEMES or not set(arguments[2:]) <= set(SCENES):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    loop = qasync.QEventLoop(QApplication([]))
    with loop:
        loop.run_until_complete(take(arguments[0], folder, arguments[2:] or list(SCENES)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
