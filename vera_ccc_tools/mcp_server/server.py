"""The MCP server: the SDK's low-level one, with our table of tools.

The SDK speaks the protocol, keeps standard output to itself and answers what is malformed; calls
run side by side in threads, and a call that the client cancels is stopped.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from vera_ccc_tools import __version__
from vera_ccc_tools.errors import Failure, Front, InvalidArgument
from vera_ccc_tools.mcp_server import table
from vera_ccc_tools.mcp_server.state import ServerState
from vera_ccc_tools.phrases import tell
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel
from vera_ccc_tools.system.text import clean, fit
from vera_ccc_tools.tools.answer import Answer

NAME = "cce"
INSTRUCTIONS = (
    "Find, expand, widen: context_search finds compact chunks of this project's code by meaning, "
    "expand_chunk(chunk_id) reads one of them in full, related_context(chunk_id) follows the "
    "import graph. Once you have a chunk_id, expand it rather than searching again."
)
MAX_CALLS = 32
"""Calls that run at a time; further ones wait for their turn."""
END_SECONDS = 10.0
"""Seconds that the threads of calls have to end at the end; what they run is ended by then."""
MAX_LINES = 100_000
"""Lines of an answer. Hosts count what they take in tokens, so only the bytes are held low."""
Context = ServerRequestContext[Any, Any]


def main(directory: Path) -> int:
    """Serve the project around *directory* on standard input and output until that closes."""
    # The SDK's reader sits in a thread that Ctrl-C does not wake: it would be waited for for ever.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(_serve, ServerState(directory))
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client has gone, as clients do
    _end()
    return 0


def _end() -> None:
    """Leave what is stuck behind, such as a read of a dead file system: Python waits for ever."""
    until = time.monotonic() + END_SECONDS
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                os._exit(0)


async def _serve(state: ServerState) -> None:
    server = build_server(state)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


def build_server(state: ServerState) -> Server[Any]:
    """A server of the nine tools; when it ends, so does what *state* has running."""
    calls = _Calls(state)

    @asynccontextmanager
    async def lifespan(_server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        try:
            yield {}
        finally:
            state.close()

    return Server(
        NAME,
        version=__version__,
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=calls.list,
        on_call_tool=calls.call,
    )


class _Calls:
    """The two requests that a server of tools answers."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._limiter: anyio.CapacityLimiter | None = None

    async def list(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        self._state.prepare()
        return ListToolsResult(
            tools=[
                Tool(
                    name=each.name,
                    title=each.title,
                    description=each.description,
                    input_schema=each.schema,
                    annotations=ToolAnnotations(
                        read_only_hint=not each.writes,
                        destructive_hint=False,
                        idempotent_hint=not each.repeats,
                        open_world_hint=False,
                    ),
                )
                for each in table.TOOLS
            ]
        )

    async def call(self, _context: Context, params: CallToolRequestParams) -> CallToolResult:
        def run(cancel: Cancel) -> Answer:
            call = Call(self._state.directory, cancel, front=Front.MCP)
            return table.call(self._state, params.name, params.arguments, call)

        try:
            answer = await self._in_thread(run)
        except InvalidArgument as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        except Failure as failure:
            answer = Answer(tell(failure, Front.MCP), failed=True)
        except Exception as error:  # noqa: BLE001 - one of the fronts where bugs are caught
            traceback.print_exc()
            answer = Answer(f"{params.name} failed by a bug of its own: {error!r}", failed=True)
        text = fit(clean(answer.text), max_lines=MAX_LINES)
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=answer.failed)

    async def _in_thread(self, run: Callable[[Cancel], Answer]) -> Answer:
        """Run a call beside the others; when the client cancels it, it is stopped."""
        if self._limiter is None:  # not the SDK's, which needs one to read what comes next
            self._limiter = anyio.CapacityLimiter(MAX_CALLS)
        cancel = Cancel()
        try:
            return await anyio.to_thread.run_sync(
                run, cancel, abandon_on_cancel=True, limiter=self._limiter
            )
        except anyio.get_cancelled_exc_class():
            # In a thread: pressing ends processes, and the next message should not wait for it.
            threading.Thread(target=cancel.press, daemon=True).start()
            raise
