"""What the names of tools promise."""

import re

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
