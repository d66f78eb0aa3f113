"""One sync of a project at a time: inside this process, and between processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.sync import sidecar
from vera_ccc_tools.system.tasks import Cancel

LOCK_DEADLINE = 30.0
"""Seconds to wait for another process that syncs the same project."""
_POLL = 0.05


@contextmanager
def held(lock: threading.Lock, cancel: Cancel) -> Iterator[None]:
    """Hold a lock of this process; whoever has it is bounded by git's deadlines."""
    while not lock.acquire(timeout=_POLL):
        cancel.check()
    try:
        cancel.check()
        yield
    finally:
        lock.release()


@contextmanager
def file_lock(path: Path, cancel: Cancel) -> Iterator[bool]:
    """Hold the lock between processes; yields whether it had to be waited for."""
    # Only a sync that writes pays for this import.
    from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

    lock: BaseFileLock = FileLock(path)
    until = time.monotonic() + LOCK_DEADLINE
    waited = False
    while True:
        try:
            lock.acquire(timeout=0)
            break
        except Timeout:
            waited = True
        except NotImplementedError:  # a file system without locks: the file's existence is one
            lock = SoftFileLock(path.with_suffix(".soft"))
            continue
        except OSError as error:
            raise sidecar.cannot_write(path, error) from error
        cancel.check()
        if time.monotonic() > until:
            raise Failure(
                "sync_locked",
                f"Another process has held {shorten(str(path))} for {LOCK_DEADLINE:g} s.",
                "Try again when it is done.",
            )
        cancel.wait(_POLL)
    try:
        yield waited
    finally:
        with suppress(OSError):
            lock.release()
