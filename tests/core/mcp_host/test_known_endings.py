"""What common programs say before they end, and what a person is told of it."""

import pytest

from sophos_desktop.core.mcp_host.known_endings import meaning, tells_nothing


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            ["npm error code ECONNREFUSED", "npm error A complete log of this run"],
            "npm could not reach its registry (ECONNREFUSED); check the network connection, or install the "
            "package first",
        ),
        (["npm ERR! code E404"], 'npm has no such package or version; check "args" in mcp.json'),
        (
            ["docker: Cannot connect to the Docker daemon at x.", "", "Run 'docker run --help' for more"],
            "Docker is not running; start it first",
        ),
        (
            ["/bin/python: No module named some_server"],
            "Python has no module some_server; install it for the Python that is named as command",
        ),
        (
            ["Error: Cannot find module '/x/index.js'", "    at f (node:internal:1:2)"],
            "Node.js cannot find /x/index.js; install it or check its path",
        ),
        (["an ordinary line"], None),
        ([], None),
    ],
)
def test_known_words_have_a_meaning(lines: list[str], sentence: str | None) -> None:
    assert meaning(lines) == sentence


def test_what_was_said_long_ago_explains_no_ending() -> None:
    assert meaning(["npm error code E404", *["noise"] * 60]) is None


@pytest.mark.parametrize(
    ("line", "nothing"),
    [
        ("npm error A complete log of this run can be found in: x.log", True),
        ("Run 'docker run --help' for more information", True),
        ("    at Module.load (node:internal/modules:1:2)", True),
        ("Node.js v20.20.2", True),
        ("ValueError: no key was given", False),
    ],
)
def test_lines_that_tell_nothing_are_known(line: str, nothing: bool) -> None:
    assert tells_nothing(line) is nothing
