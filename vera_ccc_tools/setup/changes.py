"""Files of a project as they are and as they shall be; all are written, or none.

One init at a time reads and writes, and it clears away what a killed one has left.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vera_ccc_tools.boot import environments
from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.setup import blocks
from vera_ccc_tools.system.files import beside, replace, sync_directory

LOCK_SECONDS = 30.0
"""How long to wait for another init, which holds its lock for some milliseconds."""
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


class Files:
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

    def target(self, name: str) -> Path:
        """The file itself where *name* is a link."""
        return Path(os.path.realpath(self.directory / name))

    def identity(self, name: str) -> tuple[int, int]:
        """What the file *name* is known by, whatever links or letter cases lead to it."""
        found = (self.directory / name).stat()
        return found.st_dev, found.st_ino

    def change(self, name: str, text: str | None) -> Change:
        """The change that makes *text* of the file *name*."""
        return Change(name, self.data(name), None if text is None else text.encode())


@contextmanager
def exclusive() -> Iterator[None]:
    """Keep other inits of this user away, to read, plan and `apply`.

    The lock is no file of the project, where git would see it. Where there is no place for it, or
    no locks, it goes on without: each file is looked at again before it is written.

    Raises:
        Failure: ``init_locked`` after `LOCK_SECONDS`.
    """
    from filelock import FileLock, Timeout

    path = environments.cache_directory() / "init.lock"
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=LOCK_SECONDS)
    except Timeout as error:
        raise Failure(
            "init_locked",
            f"Another init has held {shorten(str(path))} for {LOCK_SECONDS:g} s.",
            "Try again when it is done.",
        ) from error
    except (OSError, NotImplementedError):
        pass
    try:
        yield
    finally:
        with suppress(OSError):
            lock.release()


def apply(files: Files, changes: Iterable[Change]) -> None:
    """Write what differs: all texts beside their places first, so that little can fail after.

    A link stays a link, a mode stays as it is. A directory that becomes empty goes too. For who
    holds `exclusive`.

    Raises:
        Failure: ``cannot_write``, or ``file_changed`` when another program wrote one meanwhile;
            all files are as they were.
    """
    steps = [_Step(change, files.target(change.path)) for change in changes if change.differs]
    for step in steps:
        for left in step.target.parent.glob(f"{_TEMPORARY}*.tmp"):
            _quietly(left.unlink)
    with ExitStack() as undo:
        prepared = []
        for step in steps:
            with step.telling():
                prepared.append(step.prepare(undo))
        for step, temporary in zip(steps, prepared, strict=True):
            with step.telling():
                step.commit(temporary, undo)
        undo.pop_all()
    for step in steps:
        parent = (files.directory / step.change.path).parent
        # Behind a link it is a directory of the user's.
        if step.change.after is None and step.target.parent == parent != files.directory:
            _quietly(parent.rmdir)


@dataclass(frozen=True, slots=True)
class _Step:
    """One change, and the file that it is about where its path is a link."""

    change: Change
    target: Path

    def prepare(self, undo: ExitStack) -> Path | None:
        """Write the text after the change beside its place."""
        for directory in reversed([*_missing(self.target.parent)]):
            directory.mkdir()
            undo.callback(_quietly, directory.rmdir)
        place = self.target if self.change.before is not None else self.target.parent
        if not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if self.change.after is None:
            return None
        temporary = beside(self.target, self.change.after, _TEMPORARY)
        undo.callback(_quietly, temporary.unlink)
        return temporary

    def commit(self, temporary: Path | None, undo: ExitStack) -> None:
        """Put the text in its place, if that is still as it was read."""
        if _read(self.target, self.change.path) != self.change.before:
            raise Failure(
                "file_changed",
                f"{self.change.path} was changed by another program during init.",
                "Run init again.",
            )
        if temporary is None:
            self.target.unlink()
        else:
            temporary.replace(self.target)
        undo.callback(_quietly, self.restore)
        sync_directory(self.target.parent)

    def restore(self) -> None:
        if _read(self.target, self.change.path) != self.change.after:
            return  # it has been written since
        if self.change.before is None:
            self.target.unlink()
        else:
            replace(self.target, self.change.before, _TEMPORARY)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Tell a system's error as a failure of this file."""
        try:
            yield
        except OSError as error:
            raise Failure(
                "cannot_write",
                f"{self.change.path} cannot be written: {error.strerror or error}.",
                f"Make {shorten(str(self.target.parent))} writable, then run init again.",
            ) from error


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


def _missing(directory: Path) -> Iterator[Path]:
    while not directory.exists():
        yield directory
        directory = directory.parent


def _quietly(function: Callable[[], object]) -> None:
    with suppress(OSError, Failure):
        function()
