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
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from vera_ccc_tools.ccc.places import Places
from vera_ccc_tools.system import locks
from vera_ccc_tools.system.files import identity
from vera_ccc_tools.system.tasks import Cancel

LOG_TAIL = 64 * 1024
LONGEST_START = 30.0
"""Seconds after which a daemon that does not listen never will; ccc itself waits as long."""
_NO_PROCESS_ID = 2**31
_SOCKET_PATH_LIMIT = 104 if sys.platform == "darwin" else 108


class Daemon:
    """The daemon of one user of ccc."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.pid_file = places.runtime / "daemon.pid"

    @property
    def is_up(self) -> bool:
        """Whether it listens. Its files alone do not say: a killed one leaves them behind."""
        pid = self.process_id
        if pid is None:
            return False
        if sys.platform != "win32":
            return _listens(self._socket)
        import psutil

        return bool(psutil.pid_exists(pid))

    def is_ready(self, executable: Path) -> bool:
        """Whether it listens, and began after the last change of ccc and of its settings.

        ccc's next client replaces one that did not, and two at once would start two.
        """
        changed = (self._places.global_settings, executable)
        return self.is_up and _modified(self.pid_file) >= max(map(_modified, changed))

    def await_start(self, until: float | None, cancel: Cancel) -> None:
        """Wait until it listens, which a client has started; to *until* (monotonic) at most."""
        latest = time.monotonic() + LONGEST_START
        while not self.is_up and time.monotonic() < min(latest, until or latest):
            cancel.check()
            cancel.wait(0.1)

    @property
    def process_id(self) -> int | None:
        """The process id that it left in its file."""
        try:
            pid = int(self.pid_file.read_bytes())
        except (OSError, ValueError):
            return None
        return pid if 0 < pid < _NO_PROCESS_ID else None

    @property
    def _socket(self) -> Path:
        """Where ccc binds: beside the log, or in the temporary directory where that is too long."""
        usual = self._places.runtime / "daemon.sock"
        if sys.platform == "win32" or len(os.fsencode(usual)) < _SOCKET_PATH_LIMIT:
            return usual
        written = os.fsencode(self._places.runtime)
        digest = hashlib.md5(written, usedforsecurity=False).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"ccc-{os.getuid()}-{digest}.sock"

    @property
    def last_words(self) -> str:
        """The last line of its log, or nothing."""
        try:
            with self._places.daemon_log.open("rb") as log:
                log.seek(0, os.SEEK_END)
                log.seek(max(0, log.tell() - LOG_TAIL))
                lines = log.read().decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        return next((line for line in reversed(lines) if line.strip()), "")

    def starting(self, cancel: Cancel) -> AbstractContextManager[bool]:
        """Be the only one of this user who starts it."""
        if not os.access(self._places.runtime, os.W_OK):
            return nullcontext(enter_result=True)  # ccc itself will say what is wrong with it
        return locks.held(self._places.runtime / ".vera-ccc-start.lock", None, cancel)


def _modified(path: Path) -> int:
    found = identity(path)
    return 0 if found is None else found.mtime


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
