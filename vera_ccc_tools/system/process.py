"""Run one executable to its end: bytes out, a deadline, a cancel, and what it started ended.

The only place of the project that starts executables for a call. A child is started without a
shell, with its standard input closed or from a file. On POSIX it leads a session and so a process
group of its own, which is ended as a whole; what has left the group, as ccc's daemon does, lives
on. On Windows the tree of its descendants is ended. When this process dies, even by SIGKILL,
`reaper.py` ends the groups that are left.
"""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.system.pipes import HEAD_LIMIT, Output, Sink
from vera_ccc_tools.system.tasks import Cancel

PIPE_GRACE = 0.5
"""Seconds that a pipe may stay open after its process has ended."""

_UNKNOWN = -9
"""The exit code of a process that was ended and, stuck in the kernel, has not ended yet."""

_POSIX = sys.platform != "win32"
if sys.platform == "win32":
    _CREATION_FLAGS = subprocess.CREATE_NO_WINDOW
else:
    _CREATION_FLAGS = 0


@dataclass(frozen=True, slots=True)
class Command:
    """What to run: an argument list, where, and with which environment.

    Attributes:
        argv: The executable (absolute) and its arguments.
        cwd: The directory to run it in.
        env: Its whole environment.
        head_limit: How many bytes of each stream are kept, besides its end.
        given: What it reads on its standard input.
        spared: A word in the command line of a descendant that is not ended with it (Windows; on
            POSIX such a one has a session of its own).
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    head_limit: int = HEAD_LIMIT
    given: bytes = field(default=b"", repr=False)
    spared: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child ended.

    Attributes:
        argv: The command that ran.
        ended: ``exit`` by itself, ``deadline`` or ``cancel`` when it was ended.
        returncode: Its exit status (negative: the signal); meaningless unless ``exit``.
        stdout, stderr: What it wrote.
        seconds: How long it ran.
    """

    argv: tuple[str, ...]
    ended: Literal["exit", "deadline", "cancel"]
    returncode: int
    stdout: Output
    stderr: Output
    seconds: float


def run(command: Command, *, deadline: float | None, cancel: Cancel | None = None) -> Finished:
    """Run *command* to its end, or until *deadline* seconds have passed or *cancel* is pressed.

    Raises:
        Failure: ``cannot_run`` when the executable cannot be started at all.
        Cancelled: *cancel* was pressed before it was.
    """
    cancel = cancel or Cancel()
    cancel.check()
    started = time.monotonic()
    child = _Child(command)
    ended: Literal["exit", "deadline", "cancel"] = "exit"
    try:
        with cancel.notifying(child.woken.set):
            child.woken.wait(None if deadline is None else min(deadline, threading.TIMEOUT_MAX))
        if child.running:
            ended = "cancel" if cancel.pressed else "deadline"
    finally:  # Ctrl-C comes by here too
        returncode, stdout, stderr = child.close()
    seconds = time.monotonic() - started
    return Finished(command.argv, ended, returncode, stdout, stderr, seconds)


class _Child:
    """A started process with its two readers and one waiter."""

    def __init__(self, command: Command) -> None:
        self.woken = threading.Event()
        self._exited = threading.Event()
        self._spared = command.spared
        self._popen = _start(command)
        _announce(f"+{self._popen.pid}\n")
        assert self._popen.stdout is not None
        assert self._popen.stderr is not None
        self._sinks = [
            Sink(pipe, command.head_limit) for pipe in (self._popen.stdout, self._popen.stderr)
        ]
        self._readers = [_thread(sink.drain) for sink in self._sinks]
        _thread(self._wait)

    def _wait(self) -> None:
        _wait_unreaped(self._popen)
        self._exited.set()
        self.woken.set()

    @property
    def running(self) -> bool:
        return not self._exited.is_set()

    def close(self) -> tuple[int, Output, Output]:
        """End it if it runs; collect exit code and streams, soon giving up pipes that stay open."""
        if self.running:
            self._end()
        if not self._read_until(PIPE_GRACE):
            self._end()
            for sink in self._sinks:
                sink.abandoned = True
            self._read_until(PIPE_GRACE / 2)
        _announce(f"-{self._popen.pid}\n")
        code = self._popen.wait() if self._exited.wait(PIPE_GRACE / 2) else _UNKNOWN
        stdout, stderr = (sink.output() for sink in self._sinks)
        return code, stdout, stderr

    def _read_until(self, seconds: float) -> bool:
        """Wait for the ends of both pipes, and say whether they came."""
        until = time.monotonic() + seconds
        for reader in self._readers:
            reader.join(max(0.0, until - time.monotonic()))
        return not any(reader.is_alive() for reader in self._readers)

    def _end(self) -> None:
        if sys.platform == "win32":
            if self.running:
                _end_tree(self._popen.pid, self._spared)
        elif self._popen.pid > 1:  # a test's stand-in has 0: our own group
            # Until `close` reaps the child its id is taken, so that this can hit no other group.
            with suppress(OSError):
                os.killpg(self._popen.pid, signal.SIGKILL)


def _wait_unreaped(popen: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a process, and leave its id taken where the system can do that."""
    if sys.platform != "win32" and hasattr(os, "waitid"):
        with suppress(OSError):
            os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
            return
    popen.wait()


def _end_tree(pid: int, spared: str) -> None:
    """Kill a process and its descendants but those with the word *spared*, and what is below."""
    import psutil

    with suppress(psutil.Error):
        process = psutil.Process(pid)
        children = process.children()
        process.kill()
        for child in children:
            with suppress(psutil.Error):
                if not spared or spared not in child.cmdline():
                    _end_tree(child.pid, spared)


def _start(command: Command) -> subprocess.Popen[bytes]:
    try:
        with _standard_input(command.given) as stdin:
            return subprocess.Popen(
                command.argv,
                cwd=command.cwd,
                env=dict(command.env),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=_POSIX,
                creationflags=_CREATION_FLAGS,
            )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        where = f"{shorten(command.argv[0])} in {shorten(str(command.cwd))}"
        raise Failure("cannot_run", f"Cannot run {where}: {reason}.") from error


@contextmanager
def _standard_input(given: bytes) -> Iterator[int | BinaryIO]:
    """A file rather than a pipe, which a child that does not read would let run full."""
    if not given:
        yield subprocess.DEVNULL
        return
    import tempfile

    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        yield file


def _thread(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


_reaper_lock = threading.Lock()


def _announce(line: str) -> None:
    """Let `reaper.py` know of the start or the end of a process group."""
    if _POSIX:
        with _reaper_lock, suppress(OSError):  # without it a call still works
            stdin = _reaper().stdin
            assert stdin is not None
            stdin.write(line.encode())


@functools.cache
def _reaper() -> subprocess.Popen[bytes]:
    """This process's reaper, started with the first child."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(__file__).with_name("reaper.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,
    )
