"""Append-only logs in ``.cce``: one JSON object a line, whatever crashed or writes at once.

An entry is one write to a file opened for appending, so that entries of several processes never
mix. A line that a crash or a full disk cut short stays alone: the next entry begins a new line.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vera_ccc_tools.errors import Failure, shorten

DIRECTORY = ".cce"
PATIENCE = 1.0
"""Seconds to wait for another writer. It needs a millisecond, unless it was stopped midway."""

_POLL = 0.005
# A pipe must not hold us up, and a link lead nowhere; Windows has none of the three.
_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_BINARY: int = getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Entries:
    """What a log holds.

    Attributes:
        entries: The objects, oldest first.
        broken: How many lines are no JSON object and were skipped.
    """

    entries: tuple[dict[str, Any], ...]
    broken: int


class Journal:
    """One log; any number of threads and processes may have it open."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add *entry* as a line of its own.

        Raises:
            Failure: ``cannot_write`` with the reason, ``not_a_log`` where something else is there.
        """
        with self.exclusive():
            self.write(entry)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other writers away, to look and then `write`.

        After `PATIENCE` seconds, or where the file system has no locks, it goes on without: a
        write is whole by itself, and a reader has to bear a doubled entry rather than lose one.

        Raises:
            Failure: As `append`.
        """
        from filelock import FileLock, Timeout

        self._prepare()
        lock = FileLock(self._path.with_name(f".{self._path.name}.lock"))
        try:
            with suppress(Timeout, NotImplementedError):
                lock.acquire(timeout=PATIENCE, poll_interval=_POLL)
        except OSError as error:
            raise self._cannot("write", error) from error
        try:
            yield
        finally:
            with suppress(OSError):
                lock.release()

    def write(self, entry: Mapping[str, Any]) -> None:
        """`append`, for who holds `exclusive`."""
        text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        # Half a surrogate pair becomes the escape that JSON has for it.
        line = text.encode("utf-8", "backslashreplace") + b"\n"
        try:
            descriptor = self._open(os.O_RDWR | os.O_APPEND | os.O_CREAT)
            try:
                data = line if _ends_a_line(descriptor) else b"\n" + line
                written = os.write(descriptor, data)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise self._cannot("write", error) from error
        if written < len(data):
            raise self._failure("write", f"only {written} of {len(data)} bytes went in")

    def read(self) -> Entries:
        """Read the log; one that is not there is empty.

        Raises:
            Failure: ``cannot_read`` with the reason, ``not_a_log`` as `append`.
        """
        self._refuse_links()
        entries, broken = [], 0
        try:
            with os.fdopen(self._open(os.O_RDONLY), "rb") as file:
                for line in file:
                    entry = _entry(line)
                    if entry is not None:
                        entries.append(entry)
                    elif line.strip():
                        broken += 1
        except FileNotFoundError:
            pass
        except OSError as error:
            raise self._cannot("read", error) from error
        return Entries(tuple(entries), broken)

    def _prepare(self) -> None:
        self._refuse_links()
        try:
            self._path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise self._cannot("write", error) from error

    def _refuse_links(self) -> None:
        """A repository may bring a link that leads out of it."""
        for path in (self._path.parent, self._path):
            if path.is_symlink():
                raise _not_a_log(path, "is a symbolic link")

    def _open(self, flags: int) -> int:
        descriptor = os.open(self._path, flags | _CAREFUL | _BINARY, 0o666)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise _not_a_log(self._path, "is no regular file")
        return descriptor

    def _cannot(self, do: str, error: OSError) -> Failure:
        return self._failure(do, error.strerror or str(error))

    def _failure(self, do: str, reason: str) -> Failure:
        past = {"write": "written", "read": "read"}[do]
        return Failure(
            f"cannot_{do}",
            f"{shorten(str(self._path), 200)} cannot be {past}: {reason}.",
            f"Let {shorten(str(self._path.parent), 200)} be a directory that you may {do}"
            f"{', on a disk with free space' if do == 'write' else ''}.",
        )


def timestamp() -> str:
    """The time now as the logs write it: ISO 8601, UTC, whole seconds, ``Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _ends_a_line(descriptor: int) -> bool:
    """Whether the file is empty or its last byte ends a line."""
    if not os.lseek(descriptor, 0, os.SEEK_END):
        return True
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) == b"\n"


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _not_a_log(path: Path, problem: str) -> Failure:
    return Failure(
        "not_a_log",
        f"{shorten(str(path), 200)} {problem}.",
        "Remove it; it is made again where it is needed.",
    )
