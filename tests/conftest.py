"""Every test runs under the guards of tests/support (silence, leaks, network)."""

from tests.support.guard_plugin import (  # noqa: F401 - pytest finds hooks and fixtures here by name
    data_dir,
    environ,
    expected_logs,
    guards,
    pytest_configure,
    pytest_runtest_setup,
    pytest_terminal_summary,
    pytest_unconfigure,
)
