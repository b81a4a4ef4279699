"""One form of each host to remember, and both forms of one in other letters to read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sophos_desktop.core.domain.hosts import (
    LONGEST_HOST,
    has_too_long_host,
    host_in,
    host_named,
    words_on_host,
)


@pytest.mark.parametrize(
    ("words", "host"),
    [
        ("example.org", "example.org"),
        ("Example.ORG.", "example.org"),
        ("example.org:8080", "example.org"),
        ("https://user@Example.org:1/x?y#z", "example.org"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("", ""),
        ("*.example.org", ""),
        ("my_host", ""),
        ("[::1]", "::1"),
        ("::1", "::1"),
        ("[::1]:8080", "::1"),
        ("http://[2001:DB8:0:0::1]/x", "2001:db8::1"),
        ("::FFFF:1.2.3.4", "::ffff:1.2.3.4"),
        ("::ffff:102:304", "::ffff:1.2.3.4"),
        ("[fe80::1%25eth0]", ""),
        ("fe80::1%eth0", ""),
        ("[::1", ""),
        ("[1.2.3.4]", ""),
        ("1::2::3", ""),
        ("bücher.example", ""),
        ("ftp://example.org", ""),
        ("http:///x", ""),
        ("example.org, example.com", ""),
        ("a" * 64, ""),
    ],
)
def test_a_host_that_a_person_names_is_what_an_address_of_it_has_or_none(words: str, host: str) -> None:
    assert host_named(words) == host
    written = f"[{host}]" if ":" in host else host or "x.example"
    assert host_in(f"https://{written}/page") == (host or "x.example")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("https://example.org/xn--a", ""),
        ("https://[::1]/", ""),
        ("no address", ""),
        ("https://bücher.example/", "“bücher.example” is “xn--bcher-kva.example” to the network."),
        (
            "http://user@XN--BCHER-KVA.example:80",
            "“bücher.example” is “xn--bcher-kva.example” to the network.",
        ),
        ("https://xn--80ak6aa92e.com/", "“аррӏе.com” is “xn--80ak6aa92e.com” to the network."),
        (
            "https://pаypal.com/",
            "“pаypal.com” is “xn--pypal-4ve.com” to the network. "
            "It mixes letters that may look alike: Cyrillic, Latin.",
        ),
        ("https://日本のab.example/", "“日本のab.example” is “xn--ab-zb4a439uzlb.example” to the network."),
        ("https://xn--.example/", "Nobody can read what “xn--.example” stands for."),
        ("https://xn--99999999.example/", "Nobody can read what “xn--99999999.example” stands for."),
    ],
)
def test_a_host_in_other_letters_is_said_in_both_forms(address: str, words: str) -> None:
    assert words_on_host(address) == words


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\ud800", "\u00ad", " "])
def test_letters_that_nobody_sees_are_never_shown(hidden: str) -> None:
    for host in (f"a{hidden}ü.example", "xn--" + f"a{hidden}ü".encode("punycode").decode("ascii")):
        assert hidden not in words_on_host(f"https://{host}/")


def test_a_name_may_be_as_long_as_names_can_be() -> None:
    longest = ".".join(["a" * 63] * 3 + ["b" * 61])
    assert len(longest) == LONGEST_HOST
    assert not has_too_long_host(f"http://{longest}./")
    assert has_too_long_host(f"http://{longest}b/")
    assert has_too_long_host("http://user@" + "a" * 64 + ":80")
    assert not has_too_long_host("http://a.example/" + "a" * 300)


@given(st.text(max_size=80))
def test_no_words_are_too_odd(words: str) -> None:
    for address in (words, f"https://{words}/", f"https://xn--{words}"):
        words_on_host(address)
        has_too_long_host(address)
        found = host_in(address)
        assert found in ("", host_named(found))
