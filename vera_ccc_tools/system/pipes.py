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
        blocks: The first bytes, at most the limit that the caller gave. Pieces of this size go
            back to the system when they are freed, which the memory of a flood as one does not.
        total: How many bytes the child wrote in all.
        tail: The last bytes, where *blocks* are not all.
    """

    blocks: tuple[bytes, ...] = ()
    total: int = 0
    tail: bytes = b""

    @property
    def head(self) -> bytes:
        """The first bytes in one."""
        return b"".join(self.blocks)

    @property
    def whole(self) -> bool:
        return self.total == sum(map(len, self.blocks))


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
    _blocks: list[bytes] = field(default_factory=list)
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
                room = max(0, self.limit - self._total)
                self._total += len(block)
                if room:
                    self._blocks.append(block[:room])
                if len(block) > room:
                    self._tail = (self._tail + block[room:])[-TAIL_LIMIT:]

    def output(self) -> Output:
        """What has been read so far."""
        return Output(tuple(self._blocks), self._total, self._tail)


def _readable(descriptor: int) -> bool:
    """Wait a moment for data or the end; on Windows the read itself waits."""
    if sys.platform == "win32":
        return True
    import select  # absent on Windows in this form

    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    return bool(poll.poll(_LOOK_UP))
