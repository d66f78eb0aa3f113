"""Run one executable to its end: bytes out, a deadline, a cancel, and the whole tree ended.

The only place of the project that starts executables for a call. A child is started without a
shell, with its standard input closed or from a file, in a session of its own (POSIX), so that its
whole process group can be ended at once. When this process dies, even by SIGKILL, `reaper.py` ends
the rest.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.system.pipes import HEAD_LIMIT, Output, Sink
from vera_ccc_tools.system.tasks import Cancel

if TYPE_CHECKING:
    import psutil

PIPE_GRACE = 0.5
"""Seconds that a pipe may stay open after its process has ended."""

_UNKNOWN = -9
"""The exit code of a process that was ended and, stuck in the kernel, has not ended yet."""

_POSIX = sys.platform != "win32"
if sys.platform == "win32":
    _CREATION_FLAGS = subprocess.CREATE_NO_WINDOW
else:
    _CREATION_FLAGS = 0
# Only programs that Windows starts without a shell: .cmd and .bat would need one.
_EXECUTABLE_SUFFIXES = ("",) if _POSIX else (".exe", ".com")


@dataclass(frozen=True, slots=True)
class Command:
    """What to run: an argument list, where, and with which environment.

    Attributes:
        argv: The executable (absolute) and its arguments.
        cwd: The directory to run it in.
        env: Its whole environment.
        head_limit: How many bytes of each stream are kept in memory.
        keep_rest: Whether what follows is kept in a file, which is the caller's from then on.
        given: What it reads on its standard input.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    head_limit: int = HEAD_LIMIT
    keep_rest: bool = False
    given: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child ended.

    Attributes:
        argv: The command that ran.
        ended: ``exit`` by itself, ``deadline`` or ``cancel`` when it was ended.
        returncode: Its exit status (negative: the signal); meaningless unless ``exit``.
        stdout, stderr: What it wrote.
        seconds: How long it ran.
        spared: Whether a process of its tree was left running on the caller's word.
    """

    argv: tuple[str, ...]
    ended: Literal["exit", "deadline", "cancel"]
    returncode: int
    stdout: Output
    stderr: Output
    seconds: float
    spared: bool = False


def run(
    command: Command,
    *,
    deadline: float | None,
    cancel: Cancel | None = None,
    spare: Callable[[Sequence[str]], bool] | None = None,
) -> Finished:
    """Run *command* to its end, or until *deadline* seconds have passed or *cancel* is pressed.

    *spare* is asked with the command line of each descendant when the tree is ended; those for
    which it says True are left running, with their own descendants.

    Raises:
        Failure: ``cannot_run`` when the executable cannot be started at all.
        Cancelled: *cancel* was pressed before it was.
    """
    cancel = cancel or Cancel()
    cancel.check()
    started = time.monotonic()
    child = _Child(command)
    ended: Literal["exit", "deadline", "cancel"] = "exit"
    spared = False
    try:
        with cancel.notifying(child.stop_waiting):
            child.stopped.wait(None if deadline is None else min(deadline, threading.TIMEOUT_MAX))
        if child.running:
            ended = "cancel" if cancel.pressed else "deadline"
            spared = child.end_tree(spare or _spare_nothing)
    except BaseException:  # Ctrl-C
        child.end_tree(spare or _spare_nothing)
        raise
    finally:
        returncode, stdout, stderr = child.close()
    seconds = time.monotonic() - started
    return Finished(command.argv, ended, returncode, stdout, stderr, seconds, spared)


def find_executable(
    name: str, *, environ: Mapping[str, str] | None = None, also: Sequence[Path] = ()
) -> Path | None:
    """Find *name* in the absolute directories of ``PATH``, then in *also*.

    Unlike `shutil.which`, empty and relative entries of ``PATH`` are passed over, and so is the
    current directory on Windows: a project must not be able to plant the executables we run.
    """
    environ = os.environ if environ is None else environ
    listed = [Path(entry) for entry in environ.get("PATH", "").split(os.pathsep) if entry]
    for directory in (*listed, *also):
        if not directory.is_absolute():
            continue
        for suffix in _EXECUTABLE_SUFFIXES:
            candidate = directory / f"{name}{suffix}"
            if is_executable(candidate):
                return candidate
    return None


def is_executable(path: Path) -> bool:
    """Whether *path* is a file that this user may run; what cannot even be looked at is none."""
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113 - Path's one raises


def _spare_nothing(_command: Sequence[str]) -> bool:
    return False


class _Child:
    """A started process with its two readers and one waiter."""

    def __init__(self, command: Command) -> None:
        self.stopped = threading.Event()
        self._exited = threading.Event()
        self._popen = _start(command)
        _reaper.opened(self._popen.pid)
        assert self._popen.stdout is not None
        assert self._popen.stderr is not None
        self._sinks = [
            Sink(pipe, command.head_limit, command.keep_rest)
            for pipe in (self._popen.stdout, self._popen.stderr)
        ]
        self._readers = [_thread(sink.drain) for sink in self._sinks]
        _thread(self._wait)

    def _wait(self) -> None:
        _wait_unreaped(self._popen)
        self._exited.set()
        self.stopped.set()

    def stop_waiting(self) -> None:
        self.stopped.set()

    @property
    def running(self) -> bool:
        return not self._exited.is_set()

    def end_tree(self, spare: Callable[[Sequence[str]], bool]) -> bool:
        """Kill the child and its descendants but the spared ones; say whether any was spared."""
        import psutil  # 33 ms that only a failing call has to pay

        doomed: list[psutil.Process] = []
        spared = False
        with suppress(psutil.Error):
            root = psutil.Process(self._popen.pid)
            if root.ppid() == os.getpid():
                doomed, spared = _split(root, spare)
        for process in doomed:
            with suppress(psutil.Error):
                process.kill()
        self._end_group()
        self._exited.wait(PIPE_GRACE)
        return spared

    def _end_group(self) -> None:
        # Until `close` reaps it the child keeps its id, so that this can hit no other group.
        with suppress(OSError):
            if sys.platform == "win32":
                if self.running:
                    self._popen.kill()
            elif _is_our_group(self._popen.pid):
                os.killpg(self._popen.pid, signal.SIGKILL)

    def close(self) -> tuple[int, Output, Output]:
        """Collect exit code and streams; pipes that outlive the process are soon given up."""
        until = time.monotonic() + PIPE_GRACE
        self._join_readers(until)
        if self.running or any(reader.is_alive() for reader in self._readers):
            self._end_group()
            for sink in self._sinks:
                sink.abandoned = True
            self._join_readers(until + PIPE_GRACE / 2)
        _reaper.closed(self._popen.pid)
        code = self._popen.wait() if self._exited.wait(PIPE_GRACE / 2) else _UNKNOWN
        stdout, stderr = (sink.output() for sink in self._sinks)
        return code, stdout, stderr

    def _join_readers(self, until: float) -> None:
        for reader in self._readers:
            reader.join(max(0.0, until - time.monotonic()))


def _wait_unreaped(popen: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a process, and leave its id taken where the system can do that."""
    if sys.platform != "win32" and hasattr(os, "waitid"):
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
            return
    popen.wait()


def _is_our_group(group: int) -> bool:
    """Whether a child of this process leads the group.

    To kill group 1 would be to kill everything, and a test's stand-in for a process has such ids.
    """
    import psutil

    if sys.platform == "win32" or group <= 1:
        return False
    try:
        return psutil.Process(group).ppid() == os.getpid() and os.getpgid(group) == group
    except (psutil.Error, OSError):
        return False


def _split(
    root: psutil.Process, spare: Callable[[Sequence[str]], bool]
) -> tuple[list[psutil.Process], bool]:
    """Walk the tree below *root*: the processes to end, and whether one was spared."""
    import psutil

    doomed, spared = [], False
    todo = [root]
    while todo:
        process = todo.pop()
        with suppress(psutil.Error):
            if process is not root and spare(process.cmdline()):
                spared = True
                continue
            todo.extend(process.children())
        doomed.append(process)
    return doomed, spared


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


class _Reaper:
    """The handle of this process's `reaper.py`, started with the first child."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[int] = set()
        self._popen: subprocess.Popen[bytes] | None = None

    def opened(self, group: int) -> None:
        with self._lock:
            self._open.add(group)
            self._tell(f"+{group}\n")

    def closed(self, group: int) -> None:
        with self._lock:
            self._open.discard(group)
            self._tell(f"-{group}\n")

    def _tell(self, line: str) -> None:
        if not _POSIX:
            return
        with suppress(OSError):  # without it a call still works
            if self._popen is None or self._popen.poll() is not None:
                self._popen = self._launch()
                line = "".join(f"+{group}\n" for group in self._open)
            assert self._popen.stdin is not None
            self._popen.stdin.write(line.encode())

    def _launch(self) -> subprocess.Popen[bytes]:
        if self._popen is not None and self._popen.stdin is not None:
            self._popen.stdin.close()
        program = Path(__file__).with_name("reaper.py")
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )


_reaper = _Reaper()
