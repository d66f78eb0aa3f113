"""Python environments in the user's cache directory, each made once and whole or not at all.

For `bootstrap.py`, whose rules hold here too: the standard library only, and readable by Python
3.8. This is the one module besides `process.py` that starts executables, since an old Python cannot
read that one.
"""

from __future__ import annotations

import binascii
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from vera_ccc_tools.errors import Failure

TYPE_CHECKING = False  # `typing` takes 2 ms to import
if TYPE_CHECKING:
    import subprocess

INSTALL_SECONDS = 900.0
"""The deadline of one step of an installation; ccc comes with half a gigabyte of packages."""
LOCK_SECONDS = 1200.0
"""How long to wait for another process that makes the same environment."""

_POSIX = os.name == "posix"
BIN = "bin" if _POSIX else "Scripts"
EXE = "" if _POSIX else ".exe"
# Where an interpreter is though PATH, as an editor started by a desktop has it, does not say so.
_USUAL_PLACES = ("/opt/homebrew/bin", "/usr/local/bin", "/usr/bin") if _POSIX else ()
# What a user has set for their own installations would lead ours astray.
_MISLEADING = (
    "PIP_PREFIX",
    "PIP_REQUIRE_VIRTUALENV",
    "PIP_TARGET",
    "PIP_USER",
    "PYTHONHOME",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "__PYVENV_LAUNCHER__",
)


_ONCE = "Try again when the package index can be reached; it is needed only this once."


def say(text: str) -> None:
    """Tell the user something, on standard error: standard output belongs to the verb."""
    with suppress(OSError, AttributeError):  # there is none when it was closed
        sys.stderr.write(f"vera-ccc-tools: {text}\n")
        sys.stderr.flush()


def home() -> Path:
    """The user's home directory; for a user without one the root, as containers have it."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.sep)


def cache_directory() -> Path:
    """Where this project keeps what it can make again."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or home() / "AppData" / "Local"
    else:
        library = home() / "Library" / "Caches"
        usual = library if sys.platform == "darwin" else home() / ".cache"
        base = os.environ.get("XDG_CACHE_HOME") or usual
    return Path(base) / "vera-ccc-tools"


def directory_for(name: str, parts: Sequence[str]) -> Path:
    """The directory of what *parts* determine, on this kind of machine."""
    # Not `platform` and `hashlib`: they take 11 ms to import, at every start.
    machine = "windows"
    if sys.platform != "win32":
        machine = os.uname().machine
    digest = binascii.crc32("\n".join([machine, *parts]).encode())
    return cache_directory() / f"{name}-{digest:08x}"


def python_of(directory: Path) -> Path:
    """The interpreter of the environment in *directory*."""
    return directory / BIN / f"python{EXE}"


def packages_of(directory: Path) -> Path:
    """Where the packages of an environment of this very Python's version are."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return directory.joinpath(*(("lib", version) if _POSIX else ("Lib",)), "site-packages")


def find(names: Iterable[str]) -> Iterator[str]:
    """The executables of these *names*, in the absolute directories of PATH and the usual places.

    Unlike `shutil.which` it never looks in the current directory: a project must not be able to
    plant an executable that we run.
    """
    listed = [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    places = [Path(entry) for entry in (*listed, *_USUAL_PLACES)]
    for name in names:
        for place in places:
            path = place / (name + EXE)
            if place.is_absolute() and path.is_file() and os.access(str(path), os.X_OK):
                yield str(path)


def passes(python: str, test: str) -> bool:
    """Whether the program *test* exits with 0 in the interpreter *python*."""
    import subprocess

    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            [python, "-I", "-c", test],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
        return done.returncode == 0
    return False


# --- made once, whole or not at all --------------------------------------------------------------


def is_whole(directory: Path) -> bool:
    """Whether it was finished, and the Python that it links to was not removed since."""
    environment = (directory / "pyvenv.cfg").is_file()
    return _mark(directory).is_file() and (not environment or python_of(directory).is_file())


def _mark(directory: Path) -> Path:
    return directory / ".complete"


def prepare(directory: Path, build: Callable[[Builder], None], title: str) -> None:
    """Have *build* fill *directory*, once, however many ask at a time.

    A directory counts only when its mark has been written, which is last, so that one whose
    making was killed is made again. The lock ends with the process that holds it and the programs
    that it has started: no stale one is left, and no orphaned pip writes into the next try.

    Raises:
        Failure: it cannot be made; the log's end is in the message.
    """
    if is_whole(directory):
        return
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with _locked(directory.with_name(f"{directory.name}.lock"), title) as lock:
            if not is_whole(directory):
                say(f"making {title}, once, in {directory} …")
                _make(directory, build, lock)
    except OSError as error:
        raise Failure(
            "cannot_prepare",
            f"Cannot make {title} in {directory}: {error.strerror or error}.",
            "Make room or give write access there, or set XDG_CACHE_HOME to another directory.",
        ) from error


def _make(directory: Path, build: Callable[[Builder], None], lock: int) -> None:
    import shutil

    if directory.exists():
        shutil.rmtree(directory)
    directory.mkdir()
    with _ending_in_order():
        build(Builder(directory, lock))
    _mark(directory).touch()


class Builder:
    """Fills one directory by running programs, each with a deadline and its output in a log.

    Attributes:
        directory: The directory to fill.
        log: What the programs print; a file beside the directory.
    """

    def __init__(self, directory: Path, lock: int) -> None:
        self.directory = directory
        self.log = directory.with_name(f"{directory.name}.log")
        self.log.write_bytes(b"")
        self._lock = lock

    def environment(self, python: str, needed: Sequence[str]) -> None:
        """Make a virtual environment of *python* with the requirements *needed*.

        Raises:
            Failure: ``no_venv`` when *python* cannot make one, ``cannot_prepare`` when pip fails.
        """
        try:
            self.run([python, "-m", "venv", str(self.directory)], "venv")
        except Failure as failure:
            raise Failure(
                "no_venv",
                f"{python} cannot make a virtual environment: {failure.message}",
                "Install its modules venv and ensurepip (on Debian and Ubuntu the package "
                "python3-venv), or name another Python in VERA_CCC_PYTHON.",
            ) from failure
        pip = [str(python_of(self.directory)), "-m", "pip", "--disable-pip-version-check"]
        self.run([*pip, "install", "--no-input", *needed], "pip")

    def run(self, argv: Sequence[str], what: str, environ: Mapping[str, str] | None = None) -> None:
        """Run *argv* to its end, with its input closed and its output in the log.

        Raises:
            Failure: ``cannot_prepare`` when it fails or outlasts its deadline.
        """
        import subprocess

        with self.log.open("ab") as log:
            child = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=_plain(os.environ if environ is None else environ),
                cwd=str(self.directory),
                start_new_session=_POSIX,
                pass_fds=(self._lock,) if _POSIX else (),
            )
            _running.add(child)
            try:
                returncode = child.wait(INSTALL_SECONDS)
            except subprocess.TimeoutExpired:
                returncode = None
            finally:
                _end(child)
                _running.discard(child)
        if returncode:
            raise Failure("cannot_prepare", f"{what} failed: {self._tail()}", _ONCE)
        if returncode is None:
            raise Failure("cannot_prepare", f"{what} did not end: {self._tail()}", _ONCE)

    def _tail(self) -> str:
        """The log's last lines that say something, and where the rest is."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return f"{' | '.join(lines[-3:])} (all of it is in {self.log})."


def _plain(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name not in _MISLEADING}


_running: set[subprocess.Popen[bytes]] = set()


def end_running() -> None:
    """End every program that a thread of this process waits for; its `prepare` fails."""
    for child in list(_running):
        _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a program that still runs, with what it has started."""
    if child.poll() is not None:
        return
    if sys.platform != "win32":
        import signal

        with suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let a polite signal unwind this process, so that the program it waits for ends with it."""
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _locked(path: Path, title: str) -> Iterator[int]:
    """Hold the lock *path*, which the system lets go of when its holder dies.

    Raises:
        Failure: ``busy`` when another process holds it for too long.
    """
    import time

    started = time.monotonic()
    descriptor = os.open(str(path), os.O_RDWR | os.O_CREAT, 0o600)
    told = False
    try:
        while not _try_lock(descriptor):
            waited = time.monotonic() - started
            if waited > LOCK_SECONDS:
                raise Failure(
                    "busy", f"Another process has been making {title} for {waited:.0f} s."
                )
            if waited > 1 and not told:
                told = True
                say(f"waiting for another process that makes {title} …")
            time.sleep(0.1)
        yield descriptor
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
