"""The SDK's own MCP client, with a server of ours behind it, for tests that are not async."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, TextContent, Tool

SECONDS = 60.0
"""The bound of each request."""


class Connected:
    """A client in its session."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def result(self, name: str, **arguments: Any) -> CallToolResult:
        result = self._portal.call(self.client.call_tool, name, arguments, SECONDS)
        assert isinstance(result, CallToolResult)
        return result

    def text(self, name: str, **arguments: Any) -> str:
        """What a call answers, which has to be no error."""
        result = self.result(name, **arguments)
        assert not result.is_error, result
        return text_of(result)

    def error(self, name: str, **arguments: Any) -> str:
        """What a call answers, which has to be an error of the tool."""
        result = self.result(name, **arguments)
        assert result.is_error, result
        return text_of(result)

    def tools(self) -> list[Tool]:
        return self._portal.call(self.client.list_tools).tools


def text_of(result: CallToolResult) -> str:
    """The one text of a result."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@contextmanager
def connected(environ: Mapping[str, str], directory: Path) -> Iterator[Connected]:
    """A server in a process of its own, which has to end by itself when the session does."""
    command = ["-m", "vera_ccc_tools", "mcp", "--dir", str(directory)]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(environ))
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):
        yield Connected(portal, client)
