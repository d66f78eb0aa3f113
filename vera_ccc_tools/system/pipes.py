"""What a child writes to one pipe: read to its end, its head and tail kept, given up on request."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import IO

HEAD_LIMIT = 16 * 1024 * 1024
"""Bytes of a stream that are kept from its beginning, unless the caller says otherwise."""
TAIL_LIMIT = 64 * 1024
"""Bytes of a longer stream's end that are kept too: there a failing program names its cause."""

_BLOCK = 65536
_LOOK_UP = 250
"""Milliseconds after which a silent pipe's reader looks whether it has been given up."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a child wrote to one stream.

    Attributes:
        head: The first bytes, at most the limit that the caller gave.
        total: How many bytes the child wrote in all.
        tail: The last bytes, where *head* is not all.
    """

    head: bytes = b""
    total: int = 0
    tail: bytes = b""

    @property
    def whole(self) -> bool:
        return self.total == len(self.head)


@dataclass(slots=True)
class Sink:
    """Reads one pipe to its end, and closes it.

    Attributes:
        pipe: The reading end.
        limit: How many bytes are kept as the head.
        abandoned: Set from another thread, it ends the reading.
    """

    pipe: IO[bytes]
    limit: int
    abandoned: bool = False
    _head: bytearray = field(default_factory=bytearray)
    _tail: bytes = b""
    _total: int = 0

    def drain(self) -> None:
        """Read until the pipe ends or is given up."""
        with self.pipe:
            while not self.abandoned:
                if not _readable(self.pipe.fileno()):
                    continue
                block = os.read(self.pipe.fileno(), _BLOCK)
                if not block:
                    break
                self._total += len(block)
                room = max(0, self.limit - len(self._head))
                self._head += block[:room]
                if len(block) > room:
                    self._tail = (self._tail + block[room:])[-TAIL_LIMIT:]

    def output(self) -> Output:
        """What has been read so far."""
        return Output(bytes(self._head), self._total, self._tail)


def _readable(descriptor: int) -> bool:
    """Wait a moment for data or the end; on Windows the read itself waits."""
    if sys.platform == "win32":
        return True
    import select  # absent on Windows in this form

    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    return bool(poll.poll(_LOOK_UP))
