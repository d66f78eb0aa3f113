"""Run one executable to its end: bytes out, a deadline, a cancel, and the whole tree ended.

The only place of the project that starts executables for a call. A child is started without a
shell, with its standard input closed, in a session of its own (POSIX), so that its whole process
group can be ended at once. When this process dies, even by SIGKILL, `reaper.py` ends the rest.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from vera_ccc_tools.errors import Failure, shorten

if TYPE_CHECKING:
    import psutil

HEAD_LIMIT = 16 * 1024 * 1024
"""Bytes of a stream that are kept in memory, unless the caller says otherwise."""
SPILL_LIMIT = 64 * 1024 * 1024
"""Bytes of a stream beyond the head that are kept in a file; what comes after is dropped."""
PIPE_GRACE = 1.0
"""Seconds that a pipe may stay open after its process has ended."""

_POSIX = os.name == "posix"
# Only programs that Windows starts without a shell: .cmd and .bat would need one.
_EXECUTABLE_SUFFIXES = ("",) if _POSIX else (".exe", ".com")


class Cancel:
    """A call's stop button, pressed at most once and from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pressed = threading.Event()
        self._callbacks: list[Callable[[], None]] = []

    def press(self) -> None:
        """Stop what runs under this button; later calls under it do not start."""
        with self._lock:
            self._pressed.set()
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    @property
    def pressed(self) -> bool:
        return self._pressed.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until pressed, at most *seconds*; say whether it was."""
        return self._pressed.wait(seconds)

    def check(self) -> None:
        """Raise `Failure` ``cancelled`` when pressed."""
        if self.pressed:
            raise Failure("cancelled", "The call was cancelled.")

    @contextmanager
    def notifying(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call *callback* when the button is pressed inside the block, or was before it."""
        with self._lock:
            self._callbacks.append(callback)
        if self.pressed:
            callback()
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)


@dataclass(frozen=True, slots=True)
class Command:
    """What to run: an argument list, where, and with which environment.

    Attributes:
        argv: The executable (absolute) and its arguments.
        cwd: The directory to run it in.
        env: Its whole environment.
        head_limit: How many bytes of each stream are kept in memory.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    head_limit: int = HEAD_LIMIT


@dataclass(frozen=True, slots=True)
class Output:
    """What a child wrote to one stream: the head, and where the rest is.

    Attributes:
        head: The first bytes, at most the limit that the caller gave.
        total: How many bytes the child wrote in all.
        rest: A file with what followed the head, or None where nothing did.
    """

    head: bytes = b""
    total: int = 0
    rest: Path | None = None

    @property
    def whole(self) -> bool:
        return self.total == len(self.head)


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
        Failure: ``cannot_run`` when the executable cannot be started at all, ``cancelled`` when
            *cancel* was pressed before it was.
    """
    cancel = cancel or Cancel()
    cancel.check()
    started = time.monotonic()
    child = _Child(command)
    with cancel.notifying(child.stop_waiting):
        child.finished.wait(deadline)
    ended: Literal["exit", "deadline", "cancel"] = "exit"
    spared = False
    if child.running:
        ended = "cancel" if cancel.pressed else "deadline"
        spared = child.end_tree(spare or _spare_nothing)
    stdout, stderr = child.close()
    seconds = time.monotonic() - started
    return Finished(command.argv, ended, child.popen.returncode, stdout, stderr, seconds, spared)


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
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return candidate
    return None


def _spare_nothing(_command: Sequence[str]) -> bool:
    return False


@dataclass(slots=True)
class _Sink:
    """Reads one pipe to its end: a head in memory, the rest in a file, both bounded."""

    pipe: IO[bytes]
    limit: int
    head: bytearray = field(default_factory=bytearray)
    total: int = 0
    spill: IO[bytes] | None = None
    spilled: int = 0
    abandoned: bool = False

    def drain(self) -> None:
        with self.pipe:
            while not self.abandoned:
                if not _readable(self.pipe.fileno()):
                    continue
                block = os.read(self.pipe.fileno(), 65536)
                if not block:
                    break
                self._take(block)

    def _take(self, block: bytes) -> None:
        self.total += len(block)
        room = max(0, self.limit - len(self.head))
        self.head += block[:room]
        rest = block[room:][: SPILL_LIMIT - self.spilled]
        if not rest:
            return
        with suppress(OSError):  # a full disk costs the rest, not the call
            if self.spill is None:
                self.spill = tempfile.NamedTemporaryFile(prefix="vera-ccc-", delete=False)  # noqa: SIM115
            self.spill.write(rest)
            self.spilled += len(rest)

    def output(self) -> Output:
        rest = None
        if self.spill is not None:
            with suppress(OSError):
                self.spill.close()
            rest = Path(self.spill.name)
        return Output(bytes(self.head), self.total, rest)


def _readable(descriptor: int) -> bool:
    """Wait a moment for data or the end; on Windows the read itself waits."""
    if not _POSIX:
        return True
    import select  # absent on Windows in this form

    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    return bool(poll.poll(250))


class _Child:
    """A started process with its two readers and one waiter."""

    def __init__(self, command: Command) -> None:
        self.finished = threading.Event()
        self.popen = _start(command)
        _reaper.opened(self.popen.pid)
        assert self.popen.stdout is not None
        assert self.popen.stderr is not None
        self._sinks = [
            _Sink(self.popen.stdout, command.head_limit),
            _Sink(self.popen.stderr, command.head_limit),
        ]
        self._readers = [_thread(sink.drain) for sink in self._sinks]
        self._waiter = _thread(self._wait)

    def _wait(self) -> None:
        self.popen.wait()
        self.finished.set()

    def stop_waiting(self) -> None:
        self.finished.set()

    @property
    def running(self) -> bool:
        return self.popen.poll() is None

    def end_tree(self, spare: Callable[[Sequence[str]], bool]) -> bool:
        """Kill the child and its descendants but the spared ones; say whether any was spared."""
        import psutil  # 33 ms that only a failing call has to pay

        doomed: list[psutil.Process] = []
        spared = False
        with suppress(psutil.Error):
            root = psutil.Process(self.popen.pid)
            doomed, spared = _split(root, spare)
        for process in doomed:
            with suppress(psutil.Error):
                process.kill()
        with suppress(OSError):
            self.popen.kill()
        self._end_group()
        self._waiter.join()
        return spared

    def _end_group(self) -> None:
        if _POSIX:
            with suppress(OSError):
                os.killpg(self.popen.pid, signal.SIGKILL)

    def close(self) -> tuple[Output, Output]:
        """Collect both streams; a pipe that outlives its process is given up after a moment."""
        until = time.monotonic() + PIPE_GRACE
        for reader in self._readers:
            reader.join(max(0.0, until - time.monotonic()))
        if any(reader.is_alive() for reader in self._readers):
            self._end_group()
            for sink in self._sinks:
                sink.abandoned = True
        _reaper.closed(self.popen.pid)
        stdout, stderr = (sink.output() for sink in self._sinks)
        return stdout, stderr


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
        return subprocess.Popen(
            command.argv,
            cwd=command.cwd,
            env=dict(command.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=_POSIX,
            creationflags=0 if _POSIX else subprocess.CREATE_NO_WINDOW,  # type: ignore[attr-defined]
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        where = f"{shorten(command.argv[0])} in {shorten(str(command.cwd))}"
        raise Failure("cannot_run", f"Cannot run {where}: {reason}.") from error


def _thread(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


class _Reaper:
    """The handle of this process's `reaper.py`, started with the first child."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._popen: subprocess.Popen[bytes] | None = None

    def opened(self, group: int) -> None:
        self._tell(f"+{group}\n")

    def closed(self, group: int) -> None:
        self._tell(f"-{group}\n")

    def _tell(self, line: str) -> None:
        if not _POSIX:
            return
        with self._lock, suppress(OSError):  # without it a call still works
            if self._popen is None:
                self._popen = self._launch()
            assert self._popen.stdin is not None
            self._popen.stdin.write(line.encode())

    def _launch(self) -> subprocess.Popen[bytes]:
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
