"""What the journal knows of calls is said of them, also after a restart."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from PySide6.QtWidgets import QLabel, QPushButton

from sophos_desktop.core.domain.call_records import CallRecord
from sophos_desktop.core.domain.conversation import Message, Role, ToolCall
from sophos_desktop.core.domain.events import MessageStored, Recovered, RunEvent
from sophos_desktop.core.domain.ports import AttemptState, Decision, DecisionKind, ToolAttempt
from sophos_desktop.shell.chat.call_statuses import asked_together, known_statuses
from sophos_desktop.shell.chat.item_kinds import NoticeItem, ToolItem
from sophos_desktop.shell.chat.items import TranscriptItems
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from tests.support.card_window import ASKED, DONE, asked, cards, press
from tests.support.core_fixture import LINES, append, calls, open_test_core, slow_append, until_lines
from tests.support.ollama_script import FakeModel
from tests.support.ollama_server import OllamaServer
from tests.support.window import WindowRig, open_window, until


def attempt(number: int, state: AttemptState = "started") -> ToolAttempt:
    return ToolAttempt("m:0", number, "r", "s", "t", {}, state, "", None, False, None)


def decision(number: int, kind: DecisionKind) -> Decision:
    return Decision("m:0", number, "uncertain" if number else "approval", kind)


def test_a_call_says_what_was_decided_last_and_uncertain_if_it_was_sent_and_never_came_back() -> None:
    allowed, again = decision(0, "allow"), decision(1, "run-again")
    said = [
        known_statuses({"m:0": CallRecord(attempts, decisions)}).get("m:0")
        for attempts, decisions in (
            ((), (allowed,)),
            ((), (decision(0, "deny"),)),
            ((attempt(1),), (allowed,)),
            ((attempt(1),), (allowed, again)),
            ((attempt(1), attempt(2)), (allowed, again)),
            ((attempt(1, "finished"),), (allowed,)),
        )
    ]
    assert said == ["allowed", "denied", "unresolved", "again", "unresolved", None]


def test_all_calls_of_the_turn_that_were_asked_about_are_counted() -> None:
    items = [ToolItem(key, "s", "t", "{}", "asked") for key in ("m:0", "m:1", "m:2", "old:0")]
    items[0] = ToolItem("m:0", "s", "t", "{}")
    items[2] = ToolItem("m:2", "s", "t", "{}")
    records = {"m:0": CallRecord(decisions=(decision(0, "allow"),)), "old:0": CallRecord()}
    assert asked_together(items, ["m:1"], records) == ["m:0", "m:1"]


def test_what_the_journal_says_holds_until_the_call_goes_on_or_is_asked_about() -> None:
    items = TranscriptItems()
    made = tuple(ToolCall(f"m:{number}", "s", "t", {}) for number in range(2))
    asking = Message("m", Role.ASSISTANT, "", tool_calls=made)
    items.reset([asking])
    items.ask({"m:1": "approval"})
    items.know({"m:0": "allowed", "m:1": "allowed", "gone:0": "allowed"})
    assert [item.status for item in items.items if isinstance(item, ToolItem)] == ["allowed", "asked"]
    items.reset([asking])
    items.know({"m:0": "unresolved"})
    items.ask({"m:0": "uncertain"})
    items.ask({})
    assert [item.status for item in items.items if isinstance(item, ToolItem)] == [None, None]


def test_a_notice_that_each_sitting_tells_again_stands_once_at_its_place() -> None:
    items = TranscriptItems()
    items.reset([Message("m", Role.ASSISTANT, "Hi")])
    items.take(RunEvent("r", 1, "", MessageStored(Message("m", Role.ASSISTANT, "Hi"))))
    for number, words in enumerate(("1 finished result was taken over", "other") * 2, start=2):
        items.take(RunEvent("r", number, "", Recovered(words)))
    notices = [item.text for item in items.items if isinstance(item, NoticeItem)]
    assert notices == ["1 finished result was taken over", "Other"]


# In the window


@asynccontextmanager
async def restarted(data_dir: Path, server: OllamaServer) -> AsyncIterator[WindowRig]:
    async with open_test_core(data_dir, server, mcp=ASKED) as core, open_window(core) as rig:
        rig.window.resize(1000, 900)  # all of the turn is in the view
        yield rig


def words(rig: WindowRig) -> list[str]:
    found = [card for card in rig.window.chat.transcript.cards.cards() if isinstance(card, ToolCard)]
    return [head.state_words for card in found for head in card.heads]


async def test_a_restart_shows_what_was_decided_before_and_counts_all_of_the_turn(
    data_dir: Path, tmp_path: Path
) -> None:
    file = tmp_path / "lines.txt"
    async with OllamaServer((FakeModel("smol:latest"),)) as server:
        server.script(calls(*(append(file, f"{number}") for number in range(3))), DONE)
        async with open_test_core(data_dir, server, mcp=ASKED) as core, open_window(core) as rig:
            made = await asked(rig, "Write", 3)
            press(made[0], "allowOnceButton")
            await until(lambda: len(cards(rig)) == 2)
            await rig.window.presenter.save()
        async with restarted(data_dir, server) as rig:
            await until(lambda: len(cards(rig)) == 2)
            await until(lambda: words(rig) == ["Allowed by you"])

            def places() -> list[str]:
                labels = [label.text() for card in cards(rig) for label in card.findChildren(QLabel)]
                return [text for text in labels if text.endswith(" of 3")]

            await until(lambda: places() == ["2 of 3", "3 of 3"])


async def test_a_call_that_was_cut_off_is_uncertain_before_anybody_resumes(
    data_dir: Path, tmp_path: Path
) -> None:
    file = tmp_path / "lines.txt"
    async with OllamaServer((FakeModel("smol:latest"),)) as server:
        server.script(calls(slow_append(file, "x")), DONE)
        async with open_test_core(data_dir, server, mcp=LINES) as core, open_window(core) as rig:
            rig.type("Write slowly")
            rig.enter()
            await until_lines(file, 1)
            rig.click("stopButton")
            await until(lambda: rig.shows("resumeBanner"))
            await until(lambda: words(rig) == ["Uncertain"])
            assert cards(rig) == []
            assert rig.find(QPushButton, "resumeButton").isVisible()
