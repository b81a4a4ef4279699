"""The document against golden files, byte for byte, and against a reader of Markdown."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sophos_desktop.core.domain.conversation import AttachmentRef, MessageState, ToolCall
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.export.markdown import Transcript, markdown_document
from tests.core.export import samples

READER = MarkdownIt("commonmark")
NASTY = [
    *("```", "````", "~~~", "`", "``", "```python", "~~~ `x`", "  ```", "    ```", "\t```", "> ```", "- ```"),
    *("- a", "1. b", "   ```", "> q", "    code", "# heading", "===", "---", "| a | b |", "[x]: y", "\\"),
    *("<!--", "-->", "<div>", "</div>", "<script>", "</script>", "<pre", "<details>", "<?php", "<![CDATA["),
    *("<textarea>", "<!DOCTYPE", "<b title='", "text", "", "", "\r", "\x00", "\ud800", "مرحبًا", "&lt;"),
]
nasty_texts = st.lists(st.sampled_from(NASTY), max_size=8).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r", " "]).map(lambda end: end.join(lines))
)


def headings(document: str) -> list[str]:
    """The headings of the outermost level that look like ours."""
    tokens = READER.parse(document)
    return [
        tokens[index + 1].content
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.tag in ("h2", "h3")
    ]


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_the_document_is_that_of_the_golden_file(name: str) -> None:
    written = samples.document(samples.SAMPLES[name]())
    assert written == (samples.GOLDEN / f"{name}.md").read_bytes()
    assert written.endswith(b"\n")
    assert not written.endswith(b"\n\n")
    assert b"\r" not in written


@given(text=nasty_texts, thinking=nasty_texts, outcome=nasty_texts)
def test_no_text_changes_what_stands_around_it(text: str, thinking: str, outcome: str) -> None:
    messages = [
        samples.answer(1, text, thinking=thinking, state=MessageState.STOPPED),
        samples.result(2, "x:0", text, args={text: outcome}),
        samples.question(3, text),
        samples.answer(4, "The *last* word."),
    ]
    runs = [samples.a_run(1, RunStatus.FAILED, ("ENGINE_ERROR", outcome))]
    conversation = samples.a_conversation(outcome, metadata={"tags": [text]})
    pieces = [*markdown_document(Transcript(conversation, messages, runs, []))]
    document = "".join(pieces)
    document.encode("utf-8")
    ours = [
        re.escape(heading) for heading in ("Assistant · `smol", "Tool result · `x:0`", "You · 2026", "Assist")
    ]
    assert re.search(".*\n(?:.*\n)*?".join(ours), "\n".join(headings(document)) + "\n"), document
    html = READER.render(document)
    assert "<p>The <em>last</em> word.</p>\n<blockquote>\n<p><strong>Run failed</strong>" in html, document


@pytest.mark.parametrize("text", ["the head", "```\nopen", "~~~ [result of 60.1 MB, kept whole as", "<!--"])
def test_a_result_that_is_kept_whole_says_where_whatever_its_head_is(text: str) -> None:
    ref = AttachmentRef("1a2b3c4d" * 8, "draw.json", "application/json", 60_123_456)
    message = replace(samples.result(2, "m1:0", text), attachments=(ref,))
    calls = (ToolCall("m1:0", "files", "draw", {}),)
    asking = replace(samples.answer(1, "I draw."), tool_calls=calls)
    conversation = samples.a_conversation("x")
    for messages in ([asking, message], [message]):
        document = "".join(markdown_document(Transcript(conversation, messages, [], [])))
        html = READER.render(document)
        assert html.endswith("<p>[result of 60.1 MB, kept whole as attachment 1a2b3c4d]</p>\n"), document


def test_the_words_of_a_message_stay_as_they_were_written() -> None:
    for text in (samples.CODE_IN_CODE, samples.TABLE, samples.RIGHT_TO_LEFT, "a\n\n- b\n  ```\n  c\n  ```"):
        for message in (samples.answer(1, text), samples.question(1, text)):
            written = "".join(markdown_document(Transcript(samples.a_conversation("x"), [message], [], [])))
            assert f"Z\n\n{text}\n" in written


def test_runs_stand_behind_their_last_message_or_where_the_run_before_them_ended() -> None:
    messages = [samples.question(1, "one"), samples.answer(2, "half", state=MessageState.INCOMPLETE)]
    error = ("ENGINE_UNREACHABLE", "Nobody answers")
    runs = [samples.a_run(number, RunStatus.FAILED, error) for number in (1, 2)]
    later = [samples.question(30, "two", run=3), samples.answer(31, "whole", 3)]
    runs.append(samples.a_run(3, RunStatus.COMPLETED))
    transcript = Transcript(samples.a_conversation("x"), messages + later, runs, [])
    lines = "".join(markdown_document(transcript)).splitlines()
    marks = [line.split(" · ")[0] for line in lines if line.startswith(("## ", "> **"))]
    assert marks == [
        "## You",
        "## Assistant",
        "> **Incomplete**",
        "> **Run failed**",
        "> **Run failed**",
        "## You",
        "## Assistant",
    ]
