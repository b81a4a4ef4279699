"""For the tests of the painted transcript."""

import pytest
from PySide6.QtWidgets import QApplication

from tests.shell.transcript.viewing import conversation, settle, shown


@pytest.fixture(scope="session", autouse=True)
def window_system(application: QApplication) -> None:
    """Paint once before any test's guards look: Qt opens descriptors for that which it keeps for good."""
    with shown(conversation(3)):
        settle()
