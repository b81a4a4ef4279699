"""Signals start coroutines that have an owner."""

from PySide6.QtCore import QObject, Signal

from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.async_slots import connect_async
from tests.support.window import until


class Source(QObject):
    asked = Signal(str, int)


async def test_a_signal_starts_a_task_of_the_owner_and_its_error_is_routed() -> None:
    errors: list[BaseException] = []
    heard: list[tuple[str, int]] = []
    owner, source = TaskOwner(errors.append), Source()

    async def work(text: str, number: int) -> None:
        heard.append((text, number))
        if number < 0:
            raise ValueError(text)

    connect_async(source.asked, work, owner, "work")
    source.asked.emit("fine", 1)
    source.asked.emit("wrong", -1)
    assert owner.active == 2
    await until(lambda: not owner.active)
    assert heard == [("fine", 1), ("wrong", -1)]
    assert [str(error) for error in errors] == ["wrong"]
