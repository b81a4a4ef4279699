"""Which addresses are public, and that a refusal comes before any connection."""

import socket
from collections.abc import Sequence
from ipaddress import ip_address
from types import SimpleNamespace

import httpx
import psutil
import pytest

from sophos_desktop.core.mcp_host.servers.fetch_addresses import (
    FetchGuard,
    FetchRefused,
    is_own,
    is_public,
    may_be_read,
)
from sophos_desktop.core.mcp_host.servers.fetch_upstream import guarded_client
from tests.core.mcp_host.fetch.site import FORBIDDEN, Names, guard_for, running_site

FORBIDDEN_LITERALS = [
    "127.0.0.1",
    "127.255.255.254",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.1.1",
    "169.254.169.254",
    "168.63.129.16",
    "100.100.100.200",
    "0.0.0.0",
    "0.1.2.3",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "fe80::1",
    "fe80::1%1",
    "2606:4700::1%1",
    "febf::1",
    "fec0::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "100::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2002:7f00:1::1",
    "2002:a00:1::1",
    "2001::1",
    "2001:db8::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
]
PUBLIC_LITERALS = [
    "1.1.1.1",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "168.63.129.17",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001::1",
    "::ffff:1.1.1.1",
    "64:ff9b::1.1.1.1",
]


@pytest.mark.parametrize("text", FORBIDDEN_LITERALS)
def test_special_addresses_in_every_form_are_not_public(text: str) -> None:
    assert not is_public(ip_address(text))
    assert not may_be_read(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC_LITERALS)
def test_what_lies_beside_them_is_public(text: str) -> None:
    assert is_public(ip_address(text))


def test_this_machine_is_not_public_whatever_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def address(family: int, text: str) -> object:
        return SimpleNamespace(family=family, address=text)

    own = [address(socket.AF_INET, "1.2.3.4"), address(socket.AF_INET6, "2606:4700:1:2::5%eth0")]
    own.append(address(psutil.AF_LINK, "00:00:00:00:00:00"))
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: {"eth0": own})
    assert is_own(ip_address("1.2.3.4"))
    assert is_own(ip_address("2606:4700:1:2::5"))
    assert is_own(ip_address("2606:4700:1:2:ffff::1")), "a neighbour that no router stands before"
    assert not is_own(ip_address("1.2.3.5"))
    assert not is_own(ip_address("2606:4700:1:3::5"))
    assert not may_be_read(ip_address("1.2.3.4"))


@pytest.mark.parametrize(
    ("host", "answers"),
    [
        *((f"[{text}]" if ":" in text else text, None) for text in FORBIDDEN_LITERALS if "%" not in text),
        ("2130706433", ["127.0.0.1"]),
        ("0x7f000001", ["127.0.0.1"]),
        ("0x7f.1", ["127.0.0.1"]),
        ("127.1", ["127.0.0.1"]),
        ("127.0.0.1.", ["127.0.0.1"]),
        ("localhost", []),
        ("LOCALHOST.", []),
        ("deep.localhost", []),
        ("intranet.example", ["10.1.2.3"]),
        ("mixed.example", ["1.1.1.1", "127.0.0.1"]),
        ("mixed6.example", ["2606:4700:4700::1111", "::ffff:127.0.0.1"]),
    ],
)
async def test_a_forbidden_host_is_refused_before_any_connection(
    host: str, answers: list[str] | None
) -> None:
    async with running_site(FORBIDDEN) as site:
        ascii_host = httpx.URL(f"http://{host}/").raw_host.decode()
        names = Names({} if answers is None else {ascii_host: [answers]})
        async with guarded_client(guard_for(names, may_be_read))() as client:
            with pytest.raises(FetchRefused, match="is on this machine or its network; fetch only reads"):
                await client.get(f"http://{host}:{site.port}/")
    assert site.connections == 0


@pytest.mark.parametrize(
    "host", ["0177.0.0.1", "127.0.0.1.1.", "ｌｏｃａｌｈｏｓｔ", "１２７.０.０.１", "127。0。0。1"]
)
async def test_a_host_that_only_looks_like_one_reaches_nothing(host: str) -> None:
    async with running_site(FORBIDDEN) as site, guarded_client(guard_for(Names(), may_be_read))() as client:
        with pytest.raises((httpx.InvalidURL, httpx.ConnectError, FetchRefused)):
            await client.get(f"http://{host}:{site.port}/")
    assert site.connections == 0


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://1.1.1.1/x", "data:,x", "gopher://1.1.1.1/", ""])
async def test_only_http_and_https_are_read(url: str) -> None:
    async with guarded_client(guard_for(Names()))() as client:
        with pytest.raises(FetchRefused, match="fetch only reads http and https pages"):
            await client.get(url)


async def test_a_refusal_names_the_address_and_the_name() -> None:
    guard = guard_for(Names({"intranet.example": [["10.1.2.3"]]}), may_be_read)
    with pytest.raises(FetchRefused) as refusal:
        await guard.addresses_of(httpx.URL("http://intranet.example/"))
    assert str(refusal.value) == (
        "The address 10.1.2.3 of intranet.example is on this machine or its network; "
        "fetch only reads public pages"
    )


async def test_a_name_that_is_not_known_is_the_webs_fault() -> None:
    async def refusing(host: str, port: int) -> Sequence[str]:
        raise UnicodeError("label empty or too long")

    for guard in (FetchGuard(), FetchGuard(resolve=refusing)):
        with pytest.raises(httpx.ConnectError, match="cannot be resolved"):
            await guard.addresses_of(httpx.URL("http://nowhere.invalid/"))
    with pytest.raises(httpx.ConnectError, match="has no address"):
        await guard_for(Names({"empty.example": [[]]})).addresses_of(httpx.URL("http://empty.example/"))


async def test_the_two_families_are_tried_in_turn_and_four_addresses_at_most() -> None:
    answers = ["2606:4700::1", "2606:4700::2", "2606:4700::1", "2606:4700::3", "1.1.1.1", "1.0.0.1"]
    guard = guard_for(Names({"many.example": [answers]}), is_public)
    found = await guard.addresses_of(httpx.URL("https://many.example/"))
    assert [str(address) for address in found] == ["2606:4700::1", "1.1.1.1", "2606:4700::2", "1.0.0.1"]
