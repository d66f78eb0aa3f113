"""Locks whose wait ends with a call's cancel, and between processes within a bound."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vera_ccc_tools.system.tasks import Cancel

_POLL = 0.02


@contextmanager
def held(path: Path, seconds: float | None, cancel: Cancel | None = None) -> Iterator[bool]:
    """Hold the lock file *path*, whose directory exists, for the block.

    Gives False when others had it for *seconds* (None waits without a bound). Where no lock can
    be had at all (a file system without locks, a directory that is read-only or full) the block
    runs without one: its own writes fail by themselves if they have to.

    Raises:
        Cancelled: While it waits.
    """
    from filelock import FileLock, Timeout  # only who writes pays for this import

    cancel = cancel or Cancel()
    until = math.inf if seconds is None else time.monotonic() + seconds
    lock = FileLock(path, thread_local=False)
    mine = False
    while not mine:
        cancel.check()
        try:
            lock.acquire(timeout=0)
            mine = True
        except Timeout:
            if time.monotonic() >= until:
                break
            cancel.wait(_POLL)
        except (OSError, NotImplementedError):  # filelock's word for a system without locks
            mine = True
    try:
        yield mine
    finally:
        with suppress(OSError):
            lock.release()


@contextmanager
def turn(lock: threading.Lock, cancel: Cancel) -> Iterator[None]:
    """Hold a lock of this process for the block.

    Raises:
        Cancelled: While it waits, or before.
    """
    while not lock.acquire(timeout=_POLL):
        cancel.check()
    try:
        cancel.check()
        yield
    finally:
        lock.release()
