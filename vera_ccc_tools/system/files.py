"""Files distinguished, read without waiting, and replaced whole: readers see the old or the new."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

_NEW_MODE = 0o644
# Opening a pipe would wait for its writer; Windows has neither flag.
_CAREFUL = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Identity(NamedTuple):
    """What distinguishes one state of a file from another; times in ns."""

    mode: int
    size: int
    mtime: int
    ctime: int
    inode: int


def identity(path: Path | str | bytes, *, follow: bool = True) -> Identity | None:
    """The present state of what is at *path*, or None when nothing is there."""
    try:
        return identity_of(os.stat(path, follow_symlinks=follow))  # noqa: PTH116 - bytes too
    except (OSError, ValueError):
        return None


def identity_of(found: os.stat_result) -> Identity:
    """The state of a file that was looked at already."""
    return Identity(
        found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
    )


def opened(path: Path) -> BinaryIO:
    """The file at *path*, for reading.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | _CAREFUL)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file")
    return os.fdopen(descriptor, "rb")


def beside(target: Path, data: bytes, prefix: str) -> Path:
    """Write *data* durably to a temporary file beside *target*, with its mode and owner.

    The file's name begins with *prefix* and ends in ``.tmp``. *target* is no link.

    Raises:
        OSError: When it cannot be written; there is then no such file.
    """
    descriptor, name = tempfile.mkstemp(prefix=prefix, suffix=".tmp", dir=target.parent)
    path = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            _copy_access(target, path)
        else:
            path.chmod(_NEW_MODE)
        if path.read_bytes() != data:
            raise OSError(errno.EIO, "what was written reads back differently")  # noqa: TRY301
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def replace(path: Path, data: bytes, prefix: str) -> None:
    """Replace the file at *path*, or make it, by way of `beside`.

    Raises:
        OSError: When it cannot be written; it is then as it was.
    """
    temporary = beside(path, data, prefix)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make the names in *directory* durable, where the system can."""
    if os.name != "posix":
        return
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _copy_access(source: Path, target: Path) -> None:
    found = source.stat()
    if hasattr(os, "chown"):
        with suppress(OSError):  # only a privileged user may give a file away
            os.chown(target, found.st_uid, found.st_gid)
    target.chmod(found.st_mode & 0o7777)
