"""ccc's daemon, as its files show it: whether it is up, and what it said last.

A client of ccc that finds no daemon starts one, and a daemon that starts takes the socket from
the one before it. Two clients at once therefore leave two daemons, one of which nobody reaches
any more. So the first call on a cold machine goes alone.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from vera_ccc_tools.ccc import project
from vera_ccc_tools.system import locks
from vera_ccc_tools.system.files import identity
from vera_ccc_tools.system.tasks import Cancel

LOG_TAIL = 64 * 1024
LONGEST_START = 30.0
"""Seconds after which a daemon that does not listen never will; ccc itself waits as long."""
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


def is_ready(environ: Mapping[str, str], executable: Path) -> bool:
    """Whether a daemon listens that began after the last change of ccc and of its settings.

    ccc's next client replaces one that did not, and two at once would start two.
    """
    changed = (project.global_settings_path(environ), executable)
    born = _modified(project.runtime_directory(environ) / "daemon.pid")
    return is_up(environ) and born >= max(map(_modified, changed))


def _modified(path: Path) -> int:
    found = identity(path)
    return 0 if found is None else found.mtime


def await_start(environ: Mapping[str, str], until: float | None, cancel: Cancel) -> None:
    """Wait until a daemon listens that a client has started; to *until* (monotonic) at most."""
    latest = time.monotonic() + LONGEST_START
    while not is_up(environ) and time.monotonic() < min(latest, until or latest):
        cancel.check()
        cancel.wait(0.1)


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


def starting(environ: Mapping[str, str], cancel: Cancel) -> AbstractContextManager[bool]:
    """Be the only one of this user who starts the daemon of *environ*."""
    directory = project.runtime_directory(environ)
    if not os.access(directory, os.W_OK):
        return nullcontext(enter_result=True)  # ccc itself will say what is wrong with it
    return locks.held(directory / ".vera-ccc-start.lock", None, cancel)
