"""ccc's daemon, as its files show it: whether it is up, and what it said last.

A client of ccc that finds no daemon starts one, and a daemon that starts takes the socket from
the one before it. Two clients at once therefore leave two daemons, one of which nobody reaches
any more. So the first call on a cold machine goes alone.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from vera_ccc_tools.ccc import project
from vera_ccc_tools.system.tasks import Cancel

if TYPE_CHECKING:
    import filelock

LOG_TAIL = 64 * 1024
LONGEST_BIRTH = 60.0
"""Seconds after which a daemon that does not listen will never do so; ccc itself waits for 30."""
LONGEST_LOSS = 15.0
"""Seconds after which a client that has no daemon will not start one any more."""
_NO_PROCESS_ID = 2**31
_SOCKET_PATH_LIMIT = 104 if sys.platform == "darwin" else 108


def is_up(environ: Mapping[str, str]) -> bool:
    """Whether a daemon listens. Its files alone do not tell: a killed one leaves them behind."""
    pid = process_id(environ)
    if pid is None:
        return False
    if sys.platform != "win32":
        return _listens(_socket_path(environ))
    import psutil

    return bool(psutil.pid_exists(pid))


_asked: set[tuple[int, ...]] = set()
"""The ages, as `_ages` gives them, at which a client has spoken to the daemon."""


def is_current(environ: Mapping[str, str], executable: Path) -> bool:
    """Whether the daemon that is up began after the last change of ccc and of its settings.

    ccc's next client replaces one that did not, and two at once would start two.
    """
    born, *changed = ages = _ages(environ, executable)
    return not born or born >= max(changed) or ages in _asked


def was_asked(environ: Mapping[str, str], executable: Path) -> None:
    """Remember that a client has spoken to the daemon, and left it as it is."""
    _asked.add(_ages(environ, executable))


def _ages(environ: Mapping[str, str], executable: Path) -> tuple[int, ...]:
    """When the daemon began and its settings and *executable* changed (ns), 0 where unknown."""
    pid_file = project.runtime_directory(environ) / "daemon.pid"
    return tuple(map(_changed, (pid_file, project.global_settings_path(environ), executable)))


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def await_birth(environ: Mapping[str, str], until: float | None, cancel: Cancel) -> None:
    """Wait, while a daemon is on its way, until it listens; to *until* (monotonic) at most.

    A client that has lost its daemon, or replaces one of another version, starts the next by
    itself: as long as clients run, that is waited for too.
    """
    patient = time.monotonic() + LONGEST_LOSS
    while not is_up(environ) and _is_being_born(environ, clients=time.monotonic() < patient):
        if until is not None and time.monotonic() >= until:
            return
        cancel.check()
        cancel.wait(0.1)


def _is_being_born(environ: Mapping[str, str], *, clients: bool) -> bool:
    """Whether a process is to become the daemon of *environ*, or a client may start one."""
    import psutil

    directory = project.runtime_directory(environ)
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            line = process.cmdline()
            born = "run-daemon" in line and time.time() - process.create_time() < LONGEST_BIRTH
            if (born or (clients and _is_client(line))) and (
                project.runtime_directory(process.environ()) == directory
            ):
                return True
    return False


def _is_client(line: Sequence[str]) -> bool:
    commands = {"search", "index", "status", "doctor"}
    return any(
        re.fullmatch(r"(?:.*[/\\])?ccc(?:\.exe)?", word) and following in commands
        for word, following in pairwise(line)
    )


def _listens(path: Path) -> bool:
    """Whether anybody listens at a socket; ccc's daemon takes a caller without a word well."""
    if sys.platform == "win32":
        return False
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(0)
        try:
            probe.connect(os.fsencode(path))
        except BlockingIOError:
            return True  # too busy to take the call, as one that is stopped
        except OSError:
            return False
    return True


def process_id(environ: Mapping[str, str]) -> int | None:
    """The process id that the daemon left in its file."""
    try:
        written = (project.runtime_directory(environ) / "daemon.pid").read_bytes()
        pid = int(written)
    except (OSError, ValueError):
        return None
    return pid if 0 < pid < _NO_PROCESS_ID else None


def _socket_path(environ: Mapping[str, str]) -> Path:
    """Where ccc binds: beside the log, or in the temporary directory where that is too long."""
    directory = project.runtime_directory(environ)
    usual = directory / "daemon.sock"
    if sys.platform == "win32" or len(os.fsencode(usual)) < _SOCKET_PATH_LIMIT:
        return usual
    digest = hashlib.md5(os.fsencode(directory), usedforsecurity=False).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"ccc-{os.getuid()}-{digest}.sock"


def last_words(environ: Mapping[str, str]) -> str:
    """The last line of the daemon's log, or nothing."""
    try:
        with project.daemon_log_path(environ).open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - LOG_TAIL))
            lines = log.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line for line in reversed(lines) if line.strip()), "")


@contextmanager
def starting(environ: Mapping[str, str], until: float | None, cancel: Cancel) -> Iterator[bool]:
    """Be the only one of this user who starts the daemon of *environ*.

    Gives False when the others were not done at *until* (monotonic time).
    """
    lock = _start_lock(environ)
    mine = lock is None or _acquired(lock, until, cancel)
    try:
        yield mine
    finally:
        if lock is not None and lock.is_locked:
            lock.release()


def _start_lock(environ: Mapping[str, str]) -> filelock.FileLock | None:
    import filelock

    directory = project.runtime_directory(environ)
    if not os.access(directory, os.W_OK):
        return None  # ccc itself will say what is wrong with it
    return filelock.FileLock(directory / ".vera-ccc-start.lock", thread_local=False)


def _acquired(lock: filelock.FileLock, until: float | None, cancel: Cancel) -> bool:
    import filelock

    while until is None or time.monotonic() < until:
        cancel.check()
        try:
            lock.acquire(timeout=0.1, poll_interval=0.02)
        except filelock.Timeout:
            continue
        except OSError:
            return True  # a full disk: better two daemons than no answer
        return True
    return False
