"""Servers at a URL that cannot be used: a sentence says what to do, and gives nothing away."""

import datetime
import ipaddress
import logging
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from sophos_desktop.core.mcp_host.http_errors import lost_words, shown_url
from sophos_desktop.core.mcp_host.http_transport import HttpTransport
from sophos_desktop.core.mcp_host.stdio_transport import SentRequest
from tests.core.mcp_host.http_sessions import connected, initialized, refusal
from tests.support.mcp_servers.http_scripted import Answer, HttpScript, Received, Reply, scripted_http

TOKEN = {"Authorization": "Bearer very-secret-token"}


def answering(status: int, body: bytes = b"", **headers: str) -> Answer:
    """An answer that is the same for every request."""

    async def answer(_request: Received, reply: Reply) -> None:
        await reply.whole(status, body, **headers)

    return answer


@pytest.mark.parametrize(
    ("answer", "sentence", "remedy", "again"),
    [
        (answering(401), "It wants a token (HTTP 401)", '"Authorization": "Bearer ${NAME}"', False),
        (answering(403), "It forbids the access (HTTP 403)", '"headers"', False),
        (answering(404), "There is no tool server at http://127.0.0.1:", "/mcp", False),
        (answering(405), "It takes no messages at http://127.0.0.1:", "older HTTP+SSE", False),
        (
            answering(400, b'{"error": {"message": "No\\ngood."}}', content_type="application/json"),
            "It refused the message (HTTP 400: No good)",
            "",
            False,
        ),
        (answering(429), "It has been asked too often (HTTP 429)", "", True),
        (
            answering(500, b"out of \x1b[31mluck", content_type="text/plain; charset=utf-8"),
            "It failed (HTTP 500: out of [31mluck)",
            "",
            True,
        ),
        (
            answering(503, b"<html>down</html>", content_type="text/html"),
            "It failed (HTTP 503)",
            "",
            True,
        ),
        (
            answering(200, b"<html>welcome</html>", content_type="text/html"),
            "It answered with a web page, not with a message of the protocol",
            '"url"',
            False,
        ),
        (
            answering(200, b"{}", content_type="application/json"),
            "It answered with something that is no message of the protocol",
            '"url"',
            False,
        ),
        (answering(200), "It answered with something that is no message of the protocol", '"url"', False),
    ],
)
async def test_initialize_ends_with_a_sentence_that_says_what_to_do(
    answer: Answer, sentence: str, remedy: str, again: bool
) -> None:
    async with scripted_http(initialize=answer) as server:
        end = await refusal(server.url)
        assert end.sentence.startswith(sentence)
        assert remedy in end.remedy
        assert end.again is again
        assert server.kinds() == ["initialize"]


async def test_a_token_that_is_not_accepted_is_another_sentence_and_is_not_shown_when_repeated() -> None:
    body = b'{"message": "very-secret-token is no valid token"}'
    answer = answering(401, body, content_type="application/json")
    async with scripted_http(initialize=answer) as server:
        end = await refusal(server.url, TOKEN)
        sentence = "It does not accept the token that it got (HTTP 401: [hidden] is no valid token)"
        assert end.sentence == sentence


async def test_a_token_that_expires_in_a_session_refuses_the_call_and_ends_the_transport() -> None:
    async with scripted_http(tools_call=answering(401)) as server:
        async with initialized(server.url, TOKEN) as session:
            error = await session.failing_call()
            assert lost_words(error.error) is None
            assert "HTTP 401" in error.error.message
            end = await session.end()
            assert not end.again
        assert server.kinds().count("tools/call") == 1


async def test_a_call_that_is_refused_is_not_lost_and_the_session_goes_on() -> None:
    async with scripted_http(tools_call=answering(413)) as server, initialized(server.url) as session:
        error = await session.failing_call()
        assert (error.error.message, lost_words(error.error)) == ("It refused the message (HTTP 413)", None)
        del server.answers["tools/call"]
        assert await session.call(text="x") == "x"


# Redirects.


@pytest.mark.parametrize("status", [307, 308])
async def test_redirects_within_the_server_are_followed_with_message_and_headers(status: int) -> None:
    async with scripted_http() as server:

        async def to_slash(request: Received, reply: Reply) -> None:
            if request.target == "/mcp":
                await reply.whole(status, location="/mcp/")
            else:
                await server.honest(request, reply)

        server.answers["*"] = to_slash
        async with initialized(server.url, TOKEN) as session:
            assert await session.call(text="moved") == "moved"
        moved = [request for request in server.received if request.target == "/mcp/"]
        assert [request.kind for request in moved if request.kind != "GET"] == [
            "initialize",
            "notifications/initialized",
            "tools/call",
            "DELETE",
        ]
        assert {request.headers["authorization"] for request in moved} == {"Bearer very-secret-token"}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_to_another_server_is_followed(status: int) -> None:
    async with scripted_http() as other, scripted_http() as server:
        server.answers["initialize"] = answering(status, location=f"{other.url}?token=leak")
        end = await refusal(server.url, TOKEN)
        assert end.sentence == "It redirects to another server, which is not followed"
        assert other.url in end.remedy
        assert "leak" not in end.words
        assert not end.again
        assert other.connections == 0


@pytest.mark.parametrize("location", ["https://{place}", "http://localhost:{port}/mcp", "//{place}:1/mcp"])
async def test_another_scheme_host_or_port_is_another_server(location: str) -> None:
    async with scripted_http() as server:
        place, port = server.url.split("/")[2], server.url.split("/")[2].partition(":")[2]
        target = location.format(place=place.partition(":")[0] if ":1" in location else place, port=port)
        server.answers["initialize"] = answering(307, location=target)
        assert "another server" in (await refusal(server.url, TOKEN)).sentence
        assert server.kinds() == ["initialize"]


async def test_a_redirect_that_would_lose_the_message_is_refused() -> None:
    async with scripted_http(initialize=answering(302, location="/login")) as server:
        end = await refusal(server.url)
        assert end.sentence.startswith("It redirects so that the message would be lost (HTTP 302 to http://")
        assert len(server.received) == 1


async def test_redirects_are_followed_five_times_at_most() -> None:
    async with scripted_http(initialize=answering(307, location="/mcp")) as server:
        assert (await refusal(server.url)).sentence == "It redirects more than 5 times"
        assert len(server.received) == 6


async def test_a_call_that_is_redirected_away_is_refused_and_the_session_goes_on() -> None:
    async with scripted_http() as server, initialized(server.url) as session:
        server.answers["tools/call"] = answering(307, location="http://tools.invalid/mcp")
        error = await session.failing_call()
        assert "another server" in error.error.message
        assert lost_words(error.error) is None
        del server.answers["tools/call"]
        assert await session.call(text="x") == "x"


# Addresses, headers, proxies, certificates.


@pytest.mark.parametrize(
    "url", ["", "mcp", "ftp://host/mcp", "http://", "http://[::1/mcp", "file:///etc/passwd"]
)
async def test_an_address_that_is_none_is_said(url: str) -> None:
    end = await refusal(url)
    assert end.sentence == 'Its "url" is no address that begins with http:// or https://'
    assert not end.again


async def test_a_name_that_does_not_exist_is_said() -> None:
    end = await refusal("http://tools.invalid:8080/mcp")
    assert end.sentence == "The name of tools.invalid:8080 cannot be found"
    assert end.again


@pytest.mark.parametrize(
    ("name", "value"), [("X Y", "value-1"), ("X-Key", "secret\r\nX: y"), ("X-Key", "сек-рет")]
)
async def test_a_header_that_cannot_be_sent_is_named_without_its_value(name: str, value: str) -> None:
    async with scripted_http() as server:
        end = await refusal(server.url, {name: value})
        assert end.sentence == f'The header "{name}" has characters that cannot be sent'
        assert value not in end.words
        assert server.connections == 0


async def test_line_breaks_around_a_headers_value_are_left_out_and_our_own_headers_are_not_replaced() -> None:
    async with scripted_http() as server:
        headers = {"X-Key": " from-a-file\n", "Content-Type": "text/plain", "Mcp-Session-Id": "mine"}
        async with initialized(server.url, headers):
            pass
        sent = server.received[0].headers
        assert (sent["x-key"], sent["content-type"]) == ("from-a-file", "application/json")
        assert "mcp-session-id" not in sent


async def test_user_name_and_password_go_to_the_server_and_nowhere_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with scripted_http() as server:
        url = server.url.replace("127.0.0.1", "me:pass-word-1@127.0.0.1") + "?key=query-secret#part"
        with caplog.at_level(logging.INFO):
            async with initialized(url, TOKEN) as session:
                said = repr(session.transport) + repr(vars(session.transport)["_client"])
        assert server.received[0].headers["authorization"].startswith("B")
        assert server.received[0].target == "/mcp?key=query-secret"
        assert "pass-word-1" not in caplog.text + said
        assert "very-secret-token" not in caplog.text + said
        assert "query-secret" not in said
        assert shown_url(url) == server.url


async def test_a_server_on_this_machine_is_reached_past_any_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scripted_http() as proxy, scripted_http() as server:
        _set_proxy(monkeypatch, proxy)
        async with initialized(server.url) as session:
            assert await session.call(text="direct") == "direct"
        assert proxy.connections == 0


async def test_other_servers_are_reached_through_the_environments_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scripted_http() as proxy:
        _set_proxy(monkeypatch, proxy)
        async with initialized("http://tools.invalid/mcp") as session:
            assert await session.call(text="by proxy") == "by proxy"
        assert {request.target for request in proxy.received} == {"http://tools.invalid/mcp"}


async def test_a_proxy_that_does_not_connect_is_said_and_nothing_was_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scripted_http(CONNECT=answering(502)) as proxy:
        _set_proxy(monkeypatch, proxy)
        async with connected("https://tools.invalid/mcp") as session:
            sent = SentRequest()
            await session.failing_call(sent)
            assert sent.request_id is None
            assert (await session.end()).sentence == "The proxy did not connect to tools.invalid"


async def test_a_proxy_that_cannot_be_used_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "gopher://me:pass-word@proxy.invalid")
    end = await refusal("http://tools.invalid/mcp")
    assert end.sentence == "The environment's proxy cannot be used"
    assert "pass-word" not in end.words


async def test_certificates_are_checked_and_an_own_authority_can_be_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with scripted_http(tls=_certified(tmp_path)) as server:
        end = await refusal(server.url, TOKEN)
        assert end.sentence.startswith("The certificate of 127.0.0.1:")
        assert "self-signed" in end.sentence
        assert "SSL_CERT_FILE" in end.remedy
        assert not end.again
        assert server.received == []
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        async with initialized(server.url) as session:
            assert await session.call(text="safe") == "safe"


async def test_https_to_a_server_without_tls_is_said() -> None:
    async with scripted_http() as server:
        end = await refusal(server.url.replace("http:", "https:"))
        assert "does not speak TLS" in end.sentence
        assert "http://" in end.remedy
        assert server.received == []


def test_a_transport_shows_neither_headers_nor_password() -> None:
    transport = HttpTransport("https://me:pass-word-1@host/mcp?key=k", TOKEN, note=print)
    assert repr(transport) == "HttpTransport(https://host/mcp)"


def _set_proxy(monkeypatch: pytest.MonkeyPatch, proxy: HttpScript) -> None:
    address = proxy.url.removesuffix("/mcp")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, address)


def _certified(folder: Path) -> ssl.SSLContext:
    """A server's context with a fresh certificate, which is left in `certificate.pem`."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(encoding))
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context
