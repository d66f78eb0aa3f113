"""The ``ccc`` executable: one method for each command, typed results, failures with a cause.

Nothing else of the project knows ccc's arguments; `replies.py` reads its words. Measured at
0.2.42.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from vera_ccc_tools.ccc import project, replies
from vera_ccc_tools.ccc.daemon import Daemon
from vera_ccc_tools.ccc.places import Places
from vera_ccc_tools.ccc.replies import Diagnosis, Hit, Progress, SearchReply, Status
from vera_ccc_tools.errors import Do, Failure, Step, shorten
from vera_ccc_tools.system import files, pipes, process, secrets
from vera_ccc_tools.system.environment import Environment, is_executable
from vera_ccc_tools.system.pipes import Output
from vera_ccc_tools.system.tasks import Cancel, Cancelled, running
from vera_ccc_tools.system.text import clean

__all__ = ["Ccc", "Diagnosis", "Hit", "Progress", "Query", "SearchReply", "Status", "deadline_of"]

DEADLINES = {
    "status": 2.0,
    "search": 60.0,
    "index": 600.0,
    "init": 120.0,
    "doctor": 120.0,
    "words": 4.0,
}
"""Seconds that each command may take, unless ``VERA_CCC_TIMEOUT_…`` says otherwise; ``words`` is
how long a search waits for ccc before it answers by words."""
LEAST = 0.5
"""Seconds that a command gets in any case, however long its call has run already."""
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_WITHOUT_DAEMON = {"version", "init"}
_SETTINGS_LIMIT = 256 * 1024
"""Bytes of the user's settings that are looked through for keys."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for, in ccc's own terms.

    Attributes:
        text: The question; never taken for an option.
        limit, offset: The page of ccc's order.
        languages: ccc's names; none means all.
        path_glob: An SQLite ``GLOB`` over the paths from the root, in which ``*`` crosses ``/``.
        refresh: Whether ccc brings the index up to date first.
    """

    text: str
    limit: int
    offset: int = 0
    languages: tuple[str, ...] = ()
    path_glob: str | None = None
    refresh: bool = False


def deadline_of(command: str, environment: Environment) -> float | None:
    """The seconds that *command* may take, None for no limit.

    Raises:
        Failure: ``bad_setting`` when the environment variable is no number of seconds.
    """
    variable = f"VERA_CCC_TIMEOUT_{command.upper()}"
    text = environment.get(variable).strip()
    if not text:
        return DEADLINES[command]
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise Failure(
            "bad_setting",
            f"{variable} is {shorten(text)}, which is no number of seconds.",
            f"Set it to a number such as {DEADLINES[command]:g}, or 0 for no limit.",
        )
    return seconds or None


_DAEMON = "run-daemon"
"""The word in the command line of ccc's daemon, which outlives the client that started it."""
_UNREACHED = "Failed to connect to daemon after starting it"
"""What a client says that found the socket of a dead daemon: it tries for 5 s only."""
START_SECONDS = 45.0
"""How long the client that starts the daemon may take; it waits for 30 s itself."""

MOST_AT_ONCE = 8
"""ccc processes of this one at a time; each takes a processor for a tenth of a second."""
_PLACES = threading.BoundedSemaphore(MOST_AT_ONCE)


@dataclass(frozen=True)
class Ccc:
    """An installed ccc.

    Attributes:
        executable: Its absolute path.
        environment: What it is given, UTF-8 forced.
        since: When (monotonic) the call began whose searches share one deadline; None where
            each has its own.
    """

    executable: Path
    environment: Environment = field(repr=False)
    since: float | None = None

    @classmethod
    def locate(cls, environment: Environment) -> Ccc:
        """Find ccc: ``VERA_CCC_EXECUTABLE``, ``PATH``, ``~/.local/bin`` (pipx, uv).

        Raises:
            Failure: ``ccc_missing`` when there is none, or not where the variable says.
        """
        named = environment.get("VERA_CCC_EXECUTABLE")
        found = _named(named) if named else _searched(environment)
        return cls(found, _forced(environment))

    @cached_property
    def places(self) -> Places:
        return Places(self.environment)

    @cached_property
    def daemon(self) -> Daemon:
        return Daemon(self.places)

    def in_call(self, since: float) -> Ccc:
        """This ccc for the commands of one call, which began at *since*."""
        return replace(self, since=since)

    def version(self, *, cancel: Cancel | None = None) -> str:
        """The installed version, such as ``0.2.42``."""
        done = self._run(["version"], Path(self.executable.anchor), "status", cancel)
        return self._said(_text(done.stdout)).strip()

    def init(
        self, directory: Path, *, force: bool, model: str | None, cancel: Cancel | None
    ) -> str:
        """Make *directory* a project; give back what ccc says of it."""
        options = ["--force"] if force else []
        if model is not None:
            options.append(f"--litellm-model={model}")
        done = self._run(["init", *options], directory, "init", cancel)
        return self._said(_text(done.stdout)).strip()

    def index(self, root: Path, *, cancel: Cancel | None = None) -> Status:
        """Bring the index up to date, from nothing if need be; blocks until ccc is done."""
        done = self._run(["index"], root, "index", cancel)
        status = replies.status(_text(done.stdout))
        progress = replies.last_progress(_end(done.stderr))
        return Status(status.exists, status.files, status.chunks, status.languages, progress)

    def search(
        self,
        root: Path,
        query: Query,
        *,
        cancel: Cancel | None = None,
    ) -> SearchReply:
        """Search the index of the project at *root*."""
        page = [f"--limit={query.limit}", f"--offset={query.offset}"]
        filters = [f"--lang={language}" for language in query.languages]
        if query.path_glob is not None:
            filters.append(f"--path={query.path_glob}")
        refresh = ["--refresh"] if query.refresh else []
        arguments = ["search", "--json", *page, *filters, *refresh, "--", query.text]
        done = self._run(arguments, root, "search", cancel)
        run = replies.last_progress(_end(done.stderr)) if query.refresh else None
        return SearchReply(self._hits(done), run)

    def status(self, root: Path, *, cancel: Cancel | None = None) -> Status:
        """What the index holds. Starts an index run when the daemon has not loaded the project."""
        done = self._run(["status"], root, "status", cancel)
        return replies.status(_text(done.stdout))

    def loaded_projects(self, *, cancel: Cancel | None = None) -> dict[str, bool]:
        """The roots that the daemon has loaded, and whether each is being indexed; loads none."""
        done = self._run(["daemon", "status"], Path(self.executable.anchor), "status", cancel)
        rows = re.findall(r"^  (.+) \[(indexing|idle)\]$", _text(done.stdout), re.MULTILINE)
        return {root: state == "indexing" for root, state in rows}

    def doctor(self, directory: Path, *, verbose: bool, cancel: Cancel | None = None) -> Diagnosis:
        """Run ccc's own checks. They need a project for the ones about it only."""
        options = ["--verbose"] if verbose else []
        done = self._run(["doctor", *options], directory, "doctor", cancel)
        return replies.diagnosis(self._said(_text(done.stdout)), self._said(_end(done.stderr)))

    def _run(
        self, arguments: list[str], cwd: Path, setting: str, cancel: Cancel | None
    ) -> process.Finished:
        since = self.since if setting == "search" else None
        deadline = Deadline.of(setting, self.environment, since)
        cancel = cancel or Cancel()
        try:
            return self._once(arguments, cwd, deadline, cancel)
        except Failure as failure:
            if failure.code != "daemon_lost" or arguments[0] == "init":
                raise
            if _UNREACHED in failure.message:
                self.daemon.await_start(deadline.at, cancel)
        try:  # nothing is done twice by asking the next daemon again
            return self._once(arguments, cwd, deadline, cancel)
        except Failure as failure:
            raise self._with_last_words(failure) from failure

    def _once(
        self, arguments: list[str], cwd: Path, deadline: Deadline, cancel: Cancel
    ) -> process.Finished:
        young = False
        if arguments[0] not in _WITHOUT_DAEMON and not self.daemon.is_ready(self.executable):
            young = self._start_daemon(arguments[0], deadline, cancel)
        with _place(deadline, cancel, arguments[0]):
            done = process.run(
                self._command(arguments, cwd), deadline=deadline.left(), cancel=cancel
            )
        if done.ended == "cancel":
            raise Cancelled
        if done.ended == "deadline":
            raise deadline.missed(arguments[0], starting=young and deadline.setting == "status")
        self._check(arguments, done)
        return done

    def _command(self, arguments: list[str], cwd: Path) -> process.Command:
        return process.Command(
            (str(self.executable), *arguments), cwd, self.environment.variables, spared=_DAEMON
        )

    def _check(self, arguments: list[str], done: process.Finished) -> None:
        """Raise what a command that ended by itself failed of."""
        if done.returncode == 0 and done.stdout.whole:
            return
        if (
            "--json" not in arguments
            or not done.stdout.whole
            or replies.search_answer(_text(done.stdout)) is None
        ):
            raise self._failed(arguments[0], done)

    def _hits(self, done: process.Finished) -> tuple[Hit, ...]:
        try:
            return replies.hits(_text(done.stdout))
        except Failure as failure:
            raise Failure(failure.code, self._said(failure.message), failure.step) from failure

    def _failed(self, command: str, done: process.Finished) -> Failure:
        said = self._said(f"{_end(done.stdout)}\n{_end(done.stderr)}")
        if not said.strip():
            said = f"it ended with exit code {done.returncode} and no word"
        failure = replies.failure(command, said)
        if done.returncode == 0:
            message = f"`ccc {command}` printed {done.stdout.total:,} bytes, more than can be read."
            failure = Failure("too_much_output", message, failure.step)
        if failure.code == "model_unreachable":
            return self.behind_proxy(failure)
        return self._with_last_words(failure) if failure.code == "daemon_failed" else failure

    def behind_proxy(self, failure: Failure) -> Failure:
        """Name the proxy that a request to a server on this machine goes to by mistake."""
        local = re.search(
            r"//(127(?:\.\d+){3}|localhost|\[::1\])[:/\s\"']", self._global_settings()
        )
        names = [case for name in _PROXIES for case in (name, name.lower())]
        proxy = next((name for name in names if self.environment.get(name)), None)
        spared = self.environment.get("NO_PROXY") + self.environment.get("no_proxy")
        if local is None or proxy is None or local[1] in spared or spared == "*":
            return failure
        return Failure(
            "modelbehind_proxy",
            f"{failure.message} {proxy} is set and NO_PROXY does not name {local[1]}, so that "
            "the request goes to the proxy.",
            Step(Do.NO_PROXY, local[1]),
        )

    def _said(self, text: str) -> str:
        """What ccc printed, as it may be shown: clean, and without the user's keys."""
        keys = secrets.own_keys(self._global_settings(), self.environment.variables)
        return secrets.mask(replies.without_log(clean(text)), keys)

    def _with_last_words(self, failure: Failure) -> Failure:
        if failure.code not in ("daemon_lost", "daemon_failed"):
            return failure
        words = shorten(self._said(self.daemon.last_words), 300)
        said = f"{failure.message} {self.places.daemon_log} ends: {words}"
        return Failure(failure.code, said, failure.step)

    def _global_settings(self) -> str:
        """The text of the user's settings, as far as it can be read."""
        with suppress(OSError), files.opened(self.places.global_settings) as file:
            return file.read(_SETTINGS_LIMIT).decode("utf-8", "replace")
        return ""

    def _start_daemon(self, command: str, deadline: Deadline, cancel: Cancel) -> bool:
        """Let one client start the daemon while the others wait; see `daemon.py`.

        Gives whether there was anything to start.
        """
        if not project.is_file(self.places.global_settings):
            return False  # the command itself says so, without a daemon
        with running(self._first_call, outlives=True) as task:
            if not task.wait(deadline.left(), cancel):
                raise deadline.missed(command, starting=True)
            done = task.result(cancel)
        if done is not None and done.ended != "exit":
            raise deadline.missed(command, starting=False)
        if done is not None and done.returncode != 0 and command != "doctor":
            raise self._failed(command, done)  # nor would it come up for the command itself
        return True

    def _first_call(self, cancel: Cancel) -> process.Finished | None:
        """Have a client start the daemon, unless another one did meanwhile.

        Not to be cancelled: the daemon would come up with nobody holding the lock until it has.
        """
        with self.daemon.starting(cancel):
            if self.daemon.is_ready(self.executable):
                return None
            first = self._command(["daemon", "status"], Path(self.executable.anchor))
            until = time.monotonic() + START_SECONDS
            done = process.run(first, deadline=START_SECONDS)
            if _UNREACHED in _end(done.stderr):
                self.daemon.await_start(until, Cancel())
            return done


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a call has to be over.

    Attributes:
        setting: The variable's last word, such as ``search``.
        seconds: How long it may take in all, None for no limit.
        at: In monotonic time, None for never.
    """

    setting: str
    seconds: float | None
    at: float | None

    @classmethod
    def of(cls, setting: str, environment: Environment, since: float | None) -> Deadline:
        seconds, now = deadline_of(setting, environment), time.monotonic()
        if seconds is None:
            return cls(setting, None, None)
        least = min(seconds, LEAST)
        return cls(setting, seconds, max((now if since is None else since) + seconds, now + least))

    def left(self) -> float | None:
        return None if self.at is None else max(0.0, self.at - time.monotonic())

    def missed(self, command: str, *, starting: bool) -> Failure:
        if starting:
            return Failure(
                "daemon_starting",
                f"`ccc {command}` has no answer yet: ccc's daemon was not running, and is "
                "starting now.",
                Step(Do.SOON),
            )
        return Failure(
            "timeout",
            f"`ccc {command}` did not answer within {self.seconds:g} s.",
            Step(Do.WAIT_OR_RESTART, f"VERA_CCC_TIMEOUT_{self.setting.upper()}"),
        )


@contextmanager
def _place(deadline: Deadline, cancel: Cancel, command: str) -> Iterator[None]:
    """Hold one of the places for a ccc process; the wait for it counts."""
    if command == "index":  # it only waits, and may do so for minutes
        yield
        return
    while not _PLACES.acquire(timeout=0.05):
        cancel.check()
        if deadline.left() == 0.0:
            raise deadline.missed(command, starting=False)
    try:
        yield
    finally:
        _PLACES.release()


def _named(path: str) -> Path:
    executable = Path(os.path.expanduser(path))  # noqa: PTH111 - Path's one raises
    if executable.is_absolute() and is_executable(executable):
        return executable
    raise Failure(
        "ccc_missing",
        f"VERA_CCC_EXECUTABLE is {shorten(path)}, which is no absolute path of an executable.",
        "Set it to ccc's path, or unset it to use the ccc on PATH.",
    )


def _searched(environment: Environment) -> Path:
    home = environment.get("HOME") or environment.get("USERPROFILE")
    found = environment.executable("ccc", [Path(home) / ".local" / "bin"] if home else [])
    if found is None:
        raise Failure(
            "ccc_missing",
            "CocoIndex Code (`ccc`) is not installed: no `ccc` on PATH or in ~/.local/bin.",
            Step(Do.INSTALL_CCC),
        )
    return found


def _forced(environment: Environment) -> Environment:
    # Plain tracebacks on one line each, no colours, no 80-column boxes to read around.
    plain = {"_TYPER_STANDARD_TRACEBACK": "1", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "1000"}
    utf8 = {"PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"}
    unset = {"FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"}
    given = environment.variables.items()
    kept = {name: value for name, value in given if name not in unset}
    return Environment({**kept, **utf8, **plain})


def _text(stream: Output) -> str:
    return stream.head.decode("utf-8", "replace")


def _end(stream: Output) -> str:
    """The last words of a stream, among which a failing command gives its cause."""
    return (stream.tail or stream.head[-pipes.TAIL_LIMIT :]).decode("utf-8", "replace")
