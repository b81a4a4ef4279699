"""What was read last is remembered, and never longer than it holds."""

from sophos_desktop.shell.transcript.markdown.environment import MarkdownEnvironment
from sophos_desktop.shell.transcript.markdown.reading import MarkdownReader
from sophos_desktop.shell.transcript.markdown.readings import LIMIT
from sophos_desktop.shell.transcript.markdown.splitter import Splitter
from tests.shell.transcript.test_markdown import FILLER


def test_a_segment_is_read_once_until_it_says_something_else() -> None:
    splitter, environment = Splitter(), MarkdownEnvironment()
    environment.update(splitter.segments, splitter.feed("One *word*"))

    first = environment.read(splitter.segments[0])
    again = environment.read(splitter.segments[0])
    environment.update(splitter.segments, splitter.feed(" and more"))
    later = environment.read(splitter.segments[0])

    assert again is first
    assert later is not first
    assert later[1].content == "One *word* and more"


def test_what_was_read_is_forgotten_when_a_definition_comes() -> None:
    splitter, environment = Splitter(), MarkdownEnvironment()
    environment.update(splitter.segments, splitter.feed("A [link][there].\n\n" + FILLER * 3))
    before = environment.read(splitter.segments[0])

    environment.update(splitter.segments, splitter.feed("[there]: http://x.org/a\n\n" + FILLER))
    after = environment.read(splitter.segments[0])

    assert not any(token.type == "link_open" for token in before[1].children or ())
    assert any(token.type == "link_open" for token in after[1].children or ())


def test_two_answers_of_one_reader_are_not_mixed_up() -> None:
    reader = MarkdownReader()
    one, two = MarkdownEnvironment(reader), MarkdownEnvironment(reader)
    first, second = Splitter(), Splitter()
    one.update(first.segments, first.feed("[a]\n\n[a]: http://one.org\n"))
    two.update(second.segments, second.feed("[a]\n\n[a]: http://two.org\n"))

    addresses = [
        environment.read(splitter.segments[0])[1].children[0].attrs["href"]  # type: ignore[index]
        for environment, splitter in ((one, first), (two, second))
    ]

    assert addresses == ["http://one.org", "http://two.org"]


def test_only_the_last_readings_are_kept() -> None:
    reader = MarkdownReader()
    for number in range(LIMIT + 10):
        splitter, environment = Splitter(), MarkdownEnvironment(reader)
        environment.update(splitter.segments, splitter.feed(f"Answer {number}"))
        environment.read(splitter.segments[0])

    assert len(reader.readings) == LIMIT
