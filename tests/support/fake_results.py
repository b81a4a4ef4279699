"""Whole results of tool calls, for the fake core."""

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.specs import ToolResult
from tests.support.fake_deletions import FakeDeletions


class FakeResults(FakeDeletions):
    """Results by call; `asked` is what was read."""

    def __init__(self) -> None:
        super().__init__()
        self.results: dict[str, ToolResult] = {}
        self.asked: list[str] = []

    async def tool_result(self, conversation_id: str, tool_call_id: str) -> ToolResult:
        """As the test set it."""
        self.asked.append(tool_call_id)
        if tool_call_id not in self.results:
            raise SophosError(ErrorCode.NOT_FOUND, "There is no such result")
        return self.results[tool_call_id]
