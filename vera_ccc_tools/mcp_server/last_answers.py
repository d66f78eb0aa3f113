"""What was asked before the input closed is still answered.

The SDK drops the calls that are under way when its input ends. A shell that pipes requests in, as
people do to try a server, would not see their answers. So the end is held back until they are out.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId

PATIENCE = 5.0
"""Seconds that calls under way have to end once nothing more can be asked."""
Message = SessionMessage | Exception
Streams = tuple[ObjectReceiveStream[Message], ObjectSendStream[SessionMessage]]


class Writer(Protocol):
    """Takes messages to the client."""

    async def send(self, item: SessionMessage, /) -> None: ...

    async def aclose(self) -> None: ...


@asynccontextmanager
async def answered(reader: AsyncIterable[Message], writer: Writer) -> AsyncIterator[Streams]:
    """The two streams for a server, whose input ends when all is answered or time is up."""
    pending = _Pending()
    asks, asked = anyio.create_memory_object_stream[Message]()
    answers, told = anyio.create_memory_object_stream[SessionMessage]()

    async def read() -> None:
        async with asks:
            async for message in reader:
                pending.ask(message)
                with suppress(anyio.BrokenResourceError):
                    await asks.send(message)
            with anyio.move_on_after(PATIENCE):
                await pending.none()

    async def write() -> None:
        try:
            async for message in told:
                await writer.send(message)
                pending.tell(message)
        finally:
            await writer.aclose()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield asked, answers


class _Pending:
    """The requests that were asked and not yet answered."""

    def __init__(self) -> None:
        self._asked: set[RequestId] = set()
        self._changed = anyio.Event()

    def ask(self, item: Message) -> None:
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(message, JSONRPCRequest):
            self._asked.add(message.id)
        elif isinstance(message, JSONRPCNotification):
            self._drop(message)

    def _drop(self, message: JSONRPCNotification) -> None:
        """Expect no answer to what is cancelled."""
        request = (message.params or {}).get("requestId")
        if message.method == "notifications/cancelled" and isinstance(request, str | int):
            self._asked.discard(request)

    def tell(self, item: SessionMessage) -> None:
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            if item.message.id is not None:
                self._asked.discard(item.message.id)
            self._changed.set()

    async def none(self) -> None:
        """Wait until there is none left."""
        while self._asked:
            self._changed = anyio.Event()
            await self._changed.wait()
