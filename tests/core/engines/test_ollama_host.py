"""Every form of OLLAMA_HOST that Ollama takes; the cases are those of its own test, seen from a client."""

import pytest

from sophos_desktop.core.engines.ollama_host import parse_host
from sophos_desktop.foundation.loopback import is_loopback


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("1.2.3.4", "http://1.2.3.4:11434"),
        (":1234", "http://127.0.0.1:1234"),
        ("1.2.3.4:1234", "http://1.2.3.4:1234"),
        ("example.com", "http://example.com:11434"),
        ("example.com:1234", "http://example.com:1234"),
        (":0", "http://127.0.0.1:0"),
        (":66000", "http://127.0.0.1:11434"),
        (":-1", "http://127.0.0.1:11434"),
        ("box:", "http://box:11434"),
        ("box:http", "http://box:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("[::]", "http://[::1]:11434"),
        ("::1", "http://[::1]:11434"),
        ("::", "http://[::1]:11434"),
        ("[::1]:1337", "http://[::1]:1337"),
        ("[fe80::2]:99999", "http://[fe80::2]:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:1234", "http://127.0.0.1:1234"),
        (" 1.2.3.4 ", "http://1.2.3.4:11434"),
        ('"1.2.3.4"', "http://1.2.3.4:11434"),
        ('" 1.2.3.4 "', "http://1.2.3.4:11434"),
        ("'1.2.3.4'", "http://1.2.3.4:11434"),
        ("http://1.2.3.4", "http://1.2.3.4:80"),
        ("http://1.2.3.4:4321", "http://1.2.3.4:4321"),
        ("https://1.2.3.4", "https://1.2.3.4:443"),
        ("https://1.2.3.4:66000", "https://1.2.3.4:443"),
        ("HTTPS://example.com/", "https://example.com:443"),
        ("https://example.com/ollama", "https://example.com:443/ollama"),
        ("example.com:56789/a/b/", "http://example.com:56789/a/b"),
        ("http://me:secret@box:1234/x", "http://me:secret@box:1234/x"),
        ("ollama.com", "https://ollama.com:443"),
    ],
)
def test_a_host_is_read_as_ollama_reads_it(text: str, url: str) -> None:
    assert parse_host(text) == url


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:11434", True),
        ("http://127.8.9.1:1", True),
        ("http://[::1]:11434/x", True),
        ("http://LOCALHOST:1", True),
        ("http://app.localhost", True),
        ("http://192.168.1.2:11434", False),
        ("http://localhost.example.com", False),
        ("http://[::1", False),
        ("nonsense", False),
    ],
)
def test_only_this_machine_is_local(url: str, local: bool) -> None:
    assert is_loopback(url) is local
