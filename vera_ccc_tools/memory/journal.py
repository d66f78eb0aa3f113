"""Append-only logs in ``.cce``: one JSON object a line, through crashes and writes at once.

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
_WORDS = {
    "write": ("written", "a directory that you may write, on a disk with free space"),
    "read": ("read", "a directory that you may read"),
}
# Without it every search of a project that does not ignore the directory changes what git says,
# and the next search takes the index for stale.
_IGNORE = b"# The logs of this machine alone.\n*.jsonl\n.*\n"
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
        write is whole by itself, and a reader has to accept a doubled entry rather than lose one.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self._path.with_name(f".{self._path.name}.lock"))
        with self._telling("write"):
            self._prepare()
            with suppress(Timeout, NotImplementedError):
                lock.acquire(timeout=PATIENCE, poll_interval=_POLL)
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
        with self._telling("write"):
            descriptor = self._open(os.O_RDWR | os.O_APPEND | os.O_CREAT)
            try:
                data = line if _ends_a_line(descriptor) else b"\n" + line
                written = os.write(descriptor, data)
            finally:
                os.close(descriptor)
        if written < len(data):
            raise self._failure("write", f"only {written} of {len(data)} bytes went in")

    def read(self, last: int | None = None) -> Entries:
        """Read the log, or the whole lines in its *last* bytes; one that is not there is empty.

        Raises:
            Failure: ``cannot_read`` with the reason, ``not_a_log`` as `append`.
        """
        entries, broken = [], 0
        with self._telling("read"), suppress(FileNotFoundError):
            self._refuse_links()
            with os.fdopen(self._open(os.O_RDONLY), "rb") as file:
                if last is not None and (size := file.seek(0, os.SEEK_END)) > last:
                    file.seek(size - last - 1)
                    file.readline()
                else:
                    file.seek(0)
                for line in file:
                    entry = _entry(line)
                    if entry is not None:
                        entries.append(entry)
                    elif line.strip():
                        broken += 1
        return Entries(tuple(entries), broken)

    def _prepare(self) -> None:
        self._refuse_links()
        if self._path.exists():
            return
        self._path.parent.mkdir(exist_ok=True)
        with suppress(FileExistsError), (self._path.parent / ".gitignore").open("xb") as file:
            file.write(_IGNORE)

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

    @contextmanager
    def _telling(self, do: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._failure(do, error.strerror or str(error)) from error

    def _failure(self, do: str, reason: str) -> Failure:
        done, wanted = _WORDS[do]
        return Failure(
            f"cannot_{do}",
            f"{shorten(str(self._path), 200)} cannot be {done}: {reason}.",
            f"Make {shorten(str(self._path.parent), 200)} {wanted}.",
        )


def timestamp() -> str:
    """The time now as the logs write it: ISO 8601, UTC, whole seconds, ``Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _ends_a_line(descriptor: int) -> bool:
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
