"""What the window gives up when it is narrow, and the banner above the transcript."""

from PySide6.QtWidgets import QLabel, QToolButton, QVBoxLayout, QWidget

from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.chat.chat_style import chat_style
from sophos_desktop.shell.chat.run_words import resume_sentences
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.tokens import LIGHT
from sophos_desktop.shell.widgets.banner import Banner
from sophos_desktop.shell.widgets.pane_button import PaneButton
from sophos_desktop.shell.widgets.shapes import Shape
from tests.shell.test_look import colour_at, core_in, laid_out, photo
from tests.shell.transcript.viewing import settle
from tests.support.fake_core import FakeCore
from tests.support.window import open_window, turns, until


async def test_a_dock_that_nobody_opened_gives_way_at_the_next_start_too() -> None:
    core = core_in(LIGHT)
    async with open_window(core) as rig:
        await laid_out(rig)
        assert rig.shows("traceDock")
        await rig.window.save()
    async with open_window(core) as rig:
        await laid_out(rig, 1000)
        assert not rig.shows("traceDock")


async def test_a_dock_opened_by_hand_stays_while_the_transcript_keeps_480() -> None:
    core = core_in(LIGHT)
    async with open_window(core) as rig:
        await laid_out(rig)
        for _ in range(2):
            rig.action("actionToggleTrace").trigger()
        await laid_out(rig, 1090)
        assert rig.shows("traceDock")
        assert rig.window.chat.width() >= 480
        await rig.window.save()
    async with open_window(core) as rig:
        await laid_out(rig, 1090)
        assert rig.shows("traceDock")
        await laid_out(rig, 1000)
        assert not rig.shows("traceDock")


async def test_the_resume_banner_is_one_line_of_48_and_two_lines_only_where_it_must() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig)
        banner = rig.find(Banner, "resumeBanner")
        banner.show_message(*resume_sentences(RunStatus.INTERRUPTED))
        await turns(10)
        assert (banner.width(), banner.height()) == (700, 48)
        assert banner.findChild(QToolButton, "resumeBannerClose") is not None
        assert colour_at(photo(banner), 1, 24) == LIGHT.plum
        assert colour_at(photo(banner), 4, 10) == LIGHT.window
        await laid_out(rig, 480)
        await until(lambda: banner.height() > 48)
        await laid_out(rig)
        await until(lambda: banner.height() == 48)


async def test_the_status_bar_says_less_before_its_last_button_is_cut_off() -> None:
    async with open_window(FakeCore()) as rig:
        status = rig.window.status
        status.context.show_use(3_100, 16_384)
        for width in (480, 640, 700, 800, 1280):
            rig.window.resize(width, 620)
            await turns(10)
            last = max(button.geometry().right() for button in status.findChildren(PaneButton))
            assert last < status.width(), width
        assert status.context.is_short is False


def test_a_sentence_stands_beside_its_title_in_one_line_or_below_it() -> None:
    host = QWidget()
    host.setObjectName("chatView")
    theme = Theme(host, (chat_style,))
    theme.choose("light")
    column = QVBoxLayout(host)
    banner = Banner("resumeBanner", "resume", Shape.INTERRUPTED, theme, host, closable=True)
    banner.add_button("resumeButton", "Resume", primary=True)
    column.addWidget(banner)
    host.show()
    places: set[bool] = set()
    for half in (False, True):
        banner.show_message(*resume_sentences(RunStatus.INTERRUPTED, has_half=half))
        for width in range(420, 760, 2):
            host.resize(width, 200)
            settle()
            labels = {label.property("part"): label for label in banner.findChildren(QLabel)}
            text = labels["text"]
            is_beside = text.geometry().left() > labels["title"].width()
            is_one_line = text.heightForWidth(text.width()) < 2 * text.fontMetrics().height()
            assert is_one_line or not is_beside, width
            places.add(is_beside)
    assert places == {False, True}
    host.close()
    host.deleteLater()
    settle()
