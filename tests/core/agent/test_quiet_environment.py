"""No variable of the environment can make the import of a library fail."""

import os
import subprocess
import sys

import pytest

from tests.support.sources import ROOT


@pytest.mark.parametrize(
    "odd",
    [
        {"OLLAMA_HOST": "::1"},
        {"OLLAMA_HOST": "http://[bad"},
        {"OLLAMA_HOST": "127.0.0.1:abc"},
        {"all_proxy": "socks5://127.0.0.1:1"},
        {"http_proxy": "::bad", "ALL_PROXY": "bad://"},
    ],
)
def test_the_agent_is_imported_whatever_the_environment_says(odd: dict[str, str]) -> None:
    code = "import os, sophos_desktop.core.agent.ollama_chat; print(os.environ.get('OLLAMA_HOST'))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **odd},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout.strip()) == (0, str(odd.get("OLLAMA_HOST"))), done.stderr
