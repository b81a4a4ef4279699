"""What arrives reaches the model in order, once a frame."""

import asyncio

from sophos_desktop.shell.transcript.stream_feed import StreamFeed
from sophos_desktop.shell.transcript.transcript_model import TranscriptModel
from tests.shell.transcript.viewing import answer


async def test_all_pieces_of_a_frame_are_one_update() -> None:
    model = TranscriptModel()
    model.reset([answer("a", "", is_open=True)])
    feed = StreamFeed(model, model)
    grown = asyncio.get_running_loop().create_future()
    updates: list[str] = []

    def on_grew(index: int, _segments: object) -> None:
        updates.append(model.source(index))
        if not grown.done():
            grown.set_result(None)

    model.grew.connect(on_grew)
    for number in range(100):
        feed.push("a", f"{number} ")
    feed.push("nobody", "lost")
    assert len(updates) == 0
    await asyncio.wait_for(grown, 30)
    assert updates == ["".join(f"{number} " for number in range(100))]
    model.deleteLater()


def test_the_end_brings_what_waits_first() -> None:
    model = TranscriptModel()
    model.reset([answer("a", "begin ", is_open=True)])
    feed = StreamFeed(model, model)
    feed.push("a", "end")
    feed.finish("a")
    assert model.source(0) == "begin end"
    assert not model.is_open(0)
    feed.push("a", "too late")
    feed.flush()
    assert model.source(0) == "begin end"
    model.deleteLater()


def test_another_conversation_gets_nothing_of_the_one_before() -> None:
    model = TranscriptModel()
    model.reset([answer("a", "", is_open=True)])
    feed = StreamFeed(model, model)
    feed.push("a", "of the old one")
    model.reset([answer("a", "", is_open=True)])
    feed.flush()
    assert model.source(0) == ""
    model.deleteLater()
