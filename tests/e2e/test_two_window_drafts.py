"""Two windows, each a process of its own, write in one draft and are killed: both texts are there later."""

from pathlib import Path

import pytest

from tests.support.lines_process import lines_process

PROGRAM = "tests.support.window_program"


@pytest.mark.long
async def test_what_two_windows_wrote_in_a_new_chat_is_there_after_both_were_killed(
    data_dir: Path, environ: dict[str, str]
) -> None:
    own = {**environ, "OLLAMA_HOST": "127.0.0.1:1", "SOPHOS_ENGINE__KIND": "ollama"}
    async with lines_process(PROGRAM, own) as one, lines_process(PROGRAM, own) as other:
        for window in (one, other):
            await window.until(lambda now: now["is_ready"], "the window is open")
        one.say(type="of the one")
        await one.until(lambda now: now["text"] == "of the one" and now["is_saved"], "the one is stored")
        other.say(type="of the other")
        now = await other.until(lambda now: now["other_draft"], "the other says that the draft differs")
        assert "“of the one”" in now["other_draft"]
        assert now["text"] == "of the other"
        other.say(click="keepDraftButton")
        await other.until(lambda now: not now["other_draft"] and now["is_saved"], "each keeps its own")
        await other.kill()
        await one.kill()
    async with lines_process(PROGRAM, own) as later:
        now = await later.until(lambda now: now["is_ready"] and now["text"], "the draft")
        assert now["text"] == "of the one\n\nof the other"
        assert (now["other_draft"], now["error"]) == ("", "")
        assert later.process.stdin is not None
        later.process.stdin.close()
        assert await later.gone() == 0
