"""Requests through the guarded client: real sockets on loopback."""

import datetime
import gzip
import ssl
import tracemalloc
import zlib
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from sophos_desktop.core.mcp_host.servers.fetch_addresses import FetchRefused
from sophos_desktop.core.mcp_host.servers.fetch_upstream import guarded_client
from tests.core.mcp_host.fetch.site import (
    FORBIDDEN,
    PUBLIC,
    Names,
    answer,
    guard_for,
    is_pretended_public,
    redirect,
    running_site,
)


async def test_the_connection_goes_to_the_checked_address_and_the_host_header_stays() -> None:
    names = Names({"site.example": [[PUBLIC]]})
    async with running_site() as site, guarded_client(guard_for(names))() as client:
        site.pages["/page"] = answer("hello")
        response = await client.get(site.url("/page", "site.example"))
        assert response.text == "hello"
        assert site.requests == [("/page", f"site.example:{site.port}")]
    assert names.asked == ["site.example"], "a second look-up could give another address"


async def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    names = Names({"site.example": [["127.0.0.3", PUBLIC]]})
    guard = guard_for(names, lambda address: is_pretended_public(address) or str(address) == "127.0.0.3")
    async with running_site() as site, guarded_client(guard)() as client:
        site.pages["/"] = answer("hello")
        assert (await client.get(site.url("/", "site.example"))).text == "hello"


async def test_a_name_that_is_rebound_to_loopback_is_refused_at_the_next_request() -> None:
    names = Names({"site.example": [[PUBLIC], [FORBIDDEN]]})
    async with running_site() as site, running_site(FORBIDDEN) as inner:
        site.pages["/robots.txt"] = answer("")
        async with guarded_client(guard_for(names))() as client:
            await client.get(site.url("/robots.txt", "site.example"))
            with pytest.raises(FetchRefused, match=r"127\.0\.0\.1 of site\.example"):
                await client.get(inner.url("/", "site.example"))
    assert (site.connections, inner.connections) == (1, 0)


@pytest.mark.parametrize("host", [FORBIDDEN, "localhost", "inner.example", "[::1]", "[::ffff:127.0.0.1]"])
async def test_a_redirect_to_a_forbidden_address_is_refused(host: str) -> None:
    names = Names({"inner.example": [[FORBIDDEN]]})
    async with running_site() as site, running_site(FORBIDDEN) as inner:
        site.pages["/"] = redirect("/on")
        site.pages["/on"] = redirect(inner.url("/secret", host))
        async with guarded_client(guard_for(names))() as client:
            with pytest.raises(FetchRefused, match="fetch only reads public pages") as refusal:
                await client.get(site.url("/"), follow_redirects=True)
        assert f"({site.url('/')} redirects to http://" in str(refusal.value)
    assert inner.connections == 0


async def test_a_redirect_to_a_file_is_refused() -> None:
    async with running_site() as site, guarded_client(guard_for(Names()))() as client:
        site.pages["/"] = redirect("file:///etc/passwd")
        with pytest.raises(FetchRefused, match="only reads http and https"):
            await client.get(site.url("/"), follow_redirects=True)


async def test_redirects_are_bounded() -> None:
    async with running_site() as site, guarded_client(guard_for(Names()))() as client:
        site.pages["/"] = redirect("/")
        with pytest.raises(httpx.TooManyRedirects):
            await client.get(site.url("/"), follow_redirects=True)
        assert len(site.requests) == 6


async def test_no_connection_serves_two_names() -> None:
    names = Names({"one.example": [[PUBLIC]], "two.example": [[PUBLIC]]})
    async with running_site() as site, guarded_client(guard_for(names))() as client:
        site.pages["/"] = redirect(site.url("/two", "two.example")).replace(b"Connection: close\r\n", b"")
        site.pages["/two"] = answer("two")
        response = await client.get(site.url("/", "one.example"), follow_redirects=True)
        assert (response.text, site.connections) == ("two", 2)


async def test_a_large_body_is_cut() -> None:
    async with running_site() as site, guarded_client(guard_for(Names(), body_bytes=100_000))() as client:
        site.pages["/fits"] = answer("x" * 100_000)
        site.pages["/large"] = answer("x" * 3_000_000)
        assert len((await client.get(site.url("/fits"))).content) == 100_000
        assert len((await client.get(site.url("/large"))).content) == 100_000


async def test_a_body_packed_to_a_thousandth_is_cut_without_being_unpacked() -> None:
    packed = gzip.compress(bytes(100_000_000), 6)
    guard = guard_for(Names(), body_bytes=1_000_000)
    async with running_site() as site, guarded_client(guard)() as client:
        site.pages["/"] = answer(packed, content_encoding="gzip")
        tracemalloc.start()
        try:
            response = await client.get(site.url("/"))
            peak_bytes = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert len(response.content) == 1_000_000
    assert peak_bytes < 10_000_000


async def test_a_packed_body_is_unpacked_and_one_that_is_damaged_is_an_error() -> None:
    async with running_site() as site, guarded_client(guard_for(Names()))() as client:
        site.pages["/good"] = answer(gzip.compress("héllo".encode()), content_encoding="gzip")
        site.pages["/bad"] = answer(b"no gzip", content_encoding="gzip")
        assert (await client.get(site.url("/good"))).text == "héllo"
        with pytest.raises(httpx.DecodingError, match="not what its header says"):
            await client.get(site.url("/bad"))


@pytest.mark.parametrize("packing", ["gzip, gzip", "br", "zstd", "deflate"])
async def test_a_packing_that_was_not_asked_for_is_refused(packing: str) -> None:
    async with running_site() as site, guarded_client(guard_for(Names()))() as client:
        site.pages["/"] = answer(zlib.compress(b"x"), content_encoding=packing)
        with pytest.raises(FetchRefused, match=f'packed as "{packing}"'):
            await client.get(site.url("/"))


async def test_a_body_that_does_not_come_to_its_end_is_given_up() -> None:
    guard = guard_for(Names(), request_seconds=0.3)
    async with running_site() as site, guarded_client(guard)() as client:
        site.pages["/"] = None
        # Upstream's own time-out counts from one piece to the next: a slow drip would never reach it.
        with pytest.raises(FetchRefused, match=r"did not answer completely within 0\.3 seconds"):
            await client.get(site.url("/"), timeout=30)


async def test_the_time_is_counted_over_all_redirects() -> None:
    guard = guard_for(Names(), request_seconds=1.0)
    async with running_site() as site, guarded_client(guard)() as client:
        site.pages["/"] = redirect("/slow")
        site.pages["/slow"] = None
        with pytest.raises(FetchRefused, match=r"slow did not answer completely"):
            await client.get(site.url("/"), follow_redirects=True, timeout=30)


async def test_a_proxy_is_the_users_word_and_the_address_is_checked_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = Names({"site.example": [[PUBLIC]], "inner.example": [["10.0.0.1"]]})
    async with running_site(FORBIDDEN) as proxy:
        proxy.pages["http://site.example/page"] = answer("through the proxy")
        client_class = guarded_client(guard_for(names))
        async with client_class(proxy=proxy.url("")) as client:
            assert (await client.get("http://site.example/page")).text == "through the proxy"
            with pytest.raises(FetchRefused, match=r"10\.0\.0\.1 of inner\.example"):
                await client.get("http://inner.example/page")
        monkeypatch.setenv("http_proxy", proxy.url(""))
        async with client_class() as client:
            assert (await client.get("http://site.example/page")).text == "through the proxy"
        monkeypatch.setenv("no_proxy", "site.example")
        async with client_class() as client:
            with pytest.raises(httpx.ConnectError):
                await client.get("http://site.example:1/page")
    assert len(proxy.requests) == 2


async def test_tls_asks_for_the_name_and_believes_only_a_certificate_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = _certified(tmp_path, "site.example")
    asked: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    names = Names({"site.example": [[PUBLIC]], "other.example": [[PUBLIC]]})
    async with running_site(tls=context) as site, guarded_client(guard_for(names))() as client:
        site.pages["/"] = answer("secret")
        assert (await client.get(f"https://site.example:{site.port}/")).text == "secret"
        with pytest.raises(httpx.ConnectError, match="certificate"):
            await client.get(f"https://other.example:{site.port}/")
    assert asked == ["site.example", "other.example"]


def _certified(folder: Path, name: str) -> ssl.SSLContext:
    """A server's context with a fresh certificate, which is left in `certificate.pem`."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context
