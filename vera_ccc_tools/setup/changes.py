"""Files of a project as they are and as they shall be; each is written whole, or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.setup import blocks
from vera_ccc_tools.system.files import replace

_TEMPORARY = ".vera-ccc-init-"


@dataclass(frozen=True, slots=True)
class Change:
    """A file, relative to the project; its bytes before and after, None for no file."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def differs(self) -> bool:
        return self.before != self.after

    @property
    def action(self) -> str:
        """What is done, in one word."""
        if not self.differs:
            return "unchanged"
        if self.before is None:
            return "created"
        return "deleted" if self.after is None else "updated"


class ProjectFiles:
    """The files in *directory*, each read once."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._read: dict[str, bytes | None] = {}

    def data(self, name: str) -> bytes | None:
        """The bytes of the file *name*, or None when it is not there.

        Raises:
            Failure: ``cannot_read``.
        """
        if name not in self._read:
            self._read[name] = _read(self.directory / name, name)
        return self._read[name]

    def text(self, name: str) -> str | None:
        """The text of the file *name*, or None when it is not there.

        Raises:
            Failure: ``cannot_read`` or ``not_utf8``.
        """
        data = self.data(name)
        return None if data is None else blocks.decode(data, name)

    def identity(self, name: str) -> tuple[int, int]:
        """What the file *name* is known by: links and letter cases resolved."""
        found = (self.directory / name).stat()
        return found.st_dev, found.st_ino

    def change(self, name: str, text: str | None) -> Change:
        """The change that makes *text* of the file *name*."""
        return Change(name, self.data(name), None if text is None else text.encode())


def apply(directory: Path, changes: Iterable[Change]) -> None:
    """Write what differs, one file after the other, once all of them look writable.

    A link stays a link, a mode stays as it is. A directory that becomes empty goes too.

    Raises:
        Failure: ``cannot_write``, or ``file_changed`` when another program has written one since
            it was read; the message names what was written before that.
    """
    due = [change for change in changes if change.differs]
    for change in due:
        _check(_target(directory, change), change)
    for at, change in enumerate(due):
        target = _target(directory, change)
        try:
            _write(target, change)
        except OSError as error:
            raise _cannot_write(target, change, error, due[:at]) from error
        parent = (directory / change.path).parent
        # Behind a link it is a directory of the user's.
        if change.after is None and target.parent == parent != directory:
            with suppress(OSError):
                parent.rmdir()


def _target(directory: Path, change: Change) -> Path:
    """The file itself where the path is a link."""
    return Path(os.path.realpath(directory / change.path))


def _check(target: Path, change: Change) -> None:
    if _read(target, change.path) != change.before:
        raise Failure(
            "file_changed",
            f"{change.path} was changed by another program during init.",
            "Run init again.",
        )
    place = target
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK):
        denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        raise _cannot_write(target, change, denied, ())


def _write(target: Path, change: Change) -> None:
    if change.after is None:
        target.unlink()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    replace(target, change.after, _TEMPORARY)


def _cannot_write(target: Path, change: Change, error: OSError, done: Sequence[Change]) -> Failure:
    written = ", ".join(each.path for each in done)
    before = f" Before that {written} was written." if written else ""
    return Failure(
        "cannot_write",
        f"{change.path} cannot be written: {error.strerror or error}.{before}",
        f"Make {shorten(str(target.parent))} writable, then run init again.",
    )


def _read(path: Path, name: str) -> bytes | None:
    try:
        # To read a pipe is to wait, and a device is nothing to be replaced.
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")  # noqa: TRY301
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Failure(
            "cannot_read",
            f"{name} cannot be read: {error.strerror or error}.",
            "Correct that, then run init again.",
        ) from error
