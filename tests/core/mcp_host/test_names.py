"""What the names of tools promise."""

import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sophos_desktop.core.mcp_host.names import model_name

_name = st.text(st.sampled_from("abAB01-_. é/"), max_size=130)


def test_a_plain_name_is_joined_and_left_alone() -> None:
    assert model_name("fetch", "fetch") == "fetch__fetch"
    assert model_name("my-files", "read_file") == "my-files__read_file"


def test_names_that_differ_in_unsafe_characters_stay_distinct() -> None:
    names = {model_name("s", tool) for tool in ("a-b", "a_b", "a.b", "a b", "a/b")}
    assert len(names) == 5


def test_the_separator_inside_a_name_is_no_ambiguity() -> None:
    assert model_name("a__b", "c") != model_name("a", "b__c")
    assert model_name("a_", "b") != model_name("a", "_b")


def test_a_plain_name_cannot_pose_as_a_hashed_one() -> None:
    hashed = model_name("my server", "tool")
    server, _, tool = hashed.partition("__")
    assert model_name(server, tool) != hashed


def test_long_names_are_cut_and_kept_apart() -> None:
    first, second = model_name("s" * 128, "t" * 128), model_name("s" * 128, "t" * 127 + "u")
    assert first != second
    assert len(first) <= 64


@given(_name, _name, _name, _name)
def test_every_name_is_safe_short_and_unique(server: str, tool: str, server2: str, tool2: str) -> None:
    name, name2 = model_name(server, tool), model_name(server2, tool2)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
    assert (name == name2) == ((server, tool) == (server2, tool2))


_RELATED = st.sampled_from(
    ["a", "a-b", "a_b", "a__b", "a_", "_", "", "é", "\ud800", "語", "s" * 64, "s" * 128]
)
_any_name = st.one_of(
    _name, st.text(max_size=130), _RELATED, st.builds("".join, st.lists(_RELATED, max_size=3))
)


@given(st.sets(st.tuples(_any_name, _any_name), max_size=30))
def test_however_many_tools_there_are_each_has_a_safe_name_of_its_own(tools: set[tuple[str, str]]) -> None:
    names = {model_name(server, tool) for server, tool in tools}
    assert len(names) == len(tools)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)


@given(_any_name, _any_name)
def test_a_name_that_was_given_can_be_taken_by_no_other_tool(server: str, tool: str) -> None:
    given_name = model_name(server, tool)
    for cut in range(len(given_name)):
        other = given_name[:cut], given_name[cut:].removeprefix("__")
        assert model_name(*other) != given_name or other == (server, tool)


@pytest.mark.parametrize("length", [61, 62, 63, 64, 65, 128])
def test_names_that_differ_behind_the_64th_character_stay_distinct(length: int) -> None:
    names = {model_name("files", "t" * length + end) for end in ("a", "b", "")}
    assert len(names) == 3


def test_names_of_which_nothing_safe_is_left_stay_distinct() -> None:
    pairs = [("語", "語"), ("語", "本"), ("", ""), ("", "_"), ("_", "")]
    names = {model_name(*pair) for pair in pairs}
    assert len(names) == len(pairs)
    assert all(name.startswith("tool__tool_") for name in names)


def test_a_name_is_the_same_for_ever() -> None:
    assert model_name("my files", "read file") == f"my_files__read_file_{_digest('my files', 'read file')}"
    assert model_name("a-b", "t") == "a-b__t"
    assert model_name("a_b", "t") == "a_b__t"


def _digest(server: str, tool: str) -> str:
    return hashlib.sha256(json.dumps([server, tool]).encode()).hexdigest()[:10]
