"""What a child writes to one pipe: read to its end, kept within bounds, given up when told so."""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

HEAD_LIMIT = 16 * 1024 * 1024
"""Bytes of a stream that are kept in memory, unless the caller says otherwise."""
TAIL_LIMIT = 64 * 1024
"""Bytes of a longer stream's end that are kept in memory too: there a failure tells its cause."""
REST_LIMIT = 64 * 1024 * 1024
"""Bytes after the head that are kept in a file where the caller wants them; the others are lost."""

LARGE = 1024 * 1024
"""Bytes from which on a block of memory goes back to the system as soon as it is free."""

_BLOCK = 65536
_M_MMAP_THRESHOLD = -3  # as malloc.h has it
_LOOK_UP = 250
"""Milliseconds after which a silent pipe's reader looks whether it has been given up."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a child wrote to one stream: the head, and what is known of the rest.

    Attributes:
        head: The first bytes, at most the limit that the caller gave.
        total: How many bytes the child wrote in all.
        tail: The last bytes, where *head* is not all.
        rest: A file with what followed the head, or None where nothing did or none was wanted.
    """

    head: bytes = b""
    total: int = 0
    tail: bytes = b""
    rest: Path | None = None

    @property
    def whole(self) -> bool:
        return self.total == len(self.head)

    def discard_rest(self) -> None:
        """Remove the file of the rest, which nobody will read."""
        if self.rest is not None:
            with suppress(OSError):
                self.rest.unlink()


@dataclass(slots=True)
class Sink:
    """Reads one pipe to its end.

    Attributes:
        pipe: The reading end; closed at its end.
        limit: How many bytes are kept as the head.
        keep_rest: Whether what follows the head goes to a file.
        abandoned: Set from another thread, it ends the reading.
    """

    pipe: IO[bytes]
    limit: int
    keep_rest: bool
    abandoned: bool = False
    _head: bytearray = field(default_factory=bytearray)
    _tail: bytes = b""
    _total: int = 0
    _spill: IO[bytes] | None = None
    _spilled: int = 0

    def drain(self) -> None:
        """Read until the pipe ends or is given up."""
        with self.pipe:
            while not self.abandoned:
                if not _readable(self.pipe.fileno()):
                    continue
                block = os.read(self.pipe.fileno(), _BLOCK)
                if not block:
                    break
                self._take(block)

    def _take(self, block: bytes) -> None:
        self._total += len(block)
        if self._total > LARGE:
            _give_large_blocks_back()
        room = max(0, self.limit - len(self._head))
        self._head += block[:room]
        rest = block[room:]
        if rest:
            self._tail = (self._tail + rest)[-TAIL_LIMIT:]
        if rest and self.keep_rest:
            self._save(rest[: REST_LIMIT - self._spilled])

    def _save(self, rest: bytes) -> None:
        # A full disk costs the rest, not the call; a sink that was given up is closed already.
        with suppress(OSError, ValueError):
            if self._spill is None:
                self._spill = tempfile.NamedTemporaryFile(prefix="vera-ccc-", delete=False)  # noqa: SIM115
            self._spill.write(rest)
            self._spilled += len(rest)

    def output(self) -> Output:
        """What has been read so far; to be asked once, at the end."""
        rest = None
        if self._spill is not None:
            rest = Path(self._spill.name)
            with suppress(OSError):
                self._spill.close()
        return Output(bytes(self._head), self._total, self._tail, rest)


@functools.cache
def _give_large_blocks_back() -> None:
    """Have the C library map large blocks one by one, once a stream needs such.

    glibc would learn from the first ones to keep them, up to 64 MB for each of many threads.
    """
    if sys.platform == "linux":
        import ctypes  # 5 ms that only a long stream has to pay

        with suppress(AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE)


def _readable(descriptor: int) -> bool:
    """Wait a moment for data or the end; on Windows the read itself waits."""
    if sys.platform == "win32":
        return True
    import select  # absent on Windows in this form

    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    return bool(poll.poll(_LOOK_UP))
