"""The ``ccc`` executable: one method for each command, typed results, failures with a cause.

Nothing else of the project knows ccc's arguments or reads its words. Measured at 0.2.42.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vera_ccc_tools import daemon, faults, process, project
from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.output import clean
from vera_ccc_tools.streams import Output

DEADLINES = {"status": 2.0, "search": 60.0, "index": 600.0, "init": 120.0, "doctor": 120.0}
"""Seconds that each command may take, unless ``VERA_CCC_TIMEOUT_…`` says otherwise."""
_WITHOUT_DAEMON = {"version", "init"}


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk that ccc found.

    Attributes:
        file_path: Relative to the project's root, with forward slashes.
        language: ccc's name of it, in lower case (``python``).
        content: The chunk's lines, verbatim.
        start_line, end_line: Counted from 1, both included.
        score: Cosine similarity to the query; 1 is the same direction.
    """

    file_path: str
    language: str
    content: str
    start_line: int
    end_line: int
    score: float


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


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an index run is, in files."""

    listed: int
    added: int
    deleted: int
    reprocessed: int
    unchanged: int
    errors: int

    @property
    def done(self) -> int:
        return self.added + self.reprocessed + self.unchanged + self.errors


@dataclass(frozen=True, slots=True)
class Status:
    """What ccc says of a project's index.

    Attributes:
        exists: Whether there is an index at all.
        files, chunks: How much it holds.
        languages: Name and number of chunks, most first.
        progress: Of the index run that is going on now, or None.
    """

    exists: bool
    files: int = 0
    chunks: int = 0
    languages: tuple[tuple[str, int], ...] = ()
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What ``ccc doctor`` printed, and its failed checks (its exit code does not tell)."""

    text: str
    failed: tuple[str, ...]


def deadline_of(command: str, environ: Mapping[str, str]) -> float | None:
    """The seconds that *command* may take, None for no limit.

    Raises:
        Failure: ``bad_setting`` when the environment variable is no number of seconds.
    """
    variable = f"VERA_CCC_TIMEOUT_{command.upper()}"
    text = environ.get(variable, "").strip()
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


def is_daemon(command_line: Sequence[str]) -> bool:
    """Whether a process is ccc's daemon, which outlives the client that started it."""
    return "run-daemon" in command_line


@dataclass(frozen=True)
class Ccc:
    """An installed ccc.

    Attributes:
        executable: Its absolute path.
        environ: The environment that it is given, UTF-8 forced.
    """

    executable: Path
    environ: Mapping[str, str] = field(repr=False)

    @classmethod
    def locate(cls, environ: Mapping[str, str] | None = None) -> Ccc:
        """Find ccc: ``VERA_CCC_EXECUTABLE``, ``PATH``, ``~/.local/bin`` (pipx, uv).

        Raises:
            Failure: ``ccc_missing`` when there is none, or not where the variable says.
        """
        environ = dict(os.environ if environ is None else environ)
        named = environ.get("VERA_CCC_EXECUTABLE")
        found = _named(named) if named else _searched(environ)
        return cls(found, _forced(environ))

    def version(self, *, cancel: process.Cancel | None = None) -> str:
        """The installed version, such as ``0.2.42``."""
        done = self._run(["version"], Path(self.executable.anchor), "status", cancel)
        return clean(_text(done.stdout)).strip()

    def init(
        self, directory: Path, *, force: bool, model: str | None, cancel: process.Cancel | None
    ) -> str:
        """Make *directory* a project; give back what ccc says of it."""
        options = ["--force"] if force else []
        if model is not None:
            options.append(f"--litellm-model={model}")
        done = self._run(["init", *options], directory, "init", cancel)
        return clean(_text(done.stdout)).strip()

    def index(self, root: Path, *, cancel: process.Cancel | None = None) -> Status:
        """Bring the index up to date, from nothing if need be; blocks until ccc is done."""
        done = self._run(["index"], root, "index", cancel)
        status, progress = _status(_text(done.stdout)), _last_progress(done)
        return Status(status.exists, status.files, status.chunks, status.languages, progress)

    def search(
        self,
        root: Path,
        query: Query,
        *,
        cancel: process.Cancel | None = None,
        refreshed: Callable[[Progress | None], None] | None = None,
    ) -> tuple[Hit, ...]:
        """Search the index of the project at *root*, best first.

        *refreshed* is told how the index run of a query with ``refresh`` ended.
        """
        page = [f"--limit={query.limit}", f"--offset={query.offset}"]
        filters = [f"--lang={language}" for language in query.languages]
        if query.path_glob is not None:
            filters.append(f"--path={query.path_glob}")
        refresh = ["--refresh"] if query.refresh else []
        arguments = ["search", "--json", *page, *filters, *refresh, "--", query.text]
        done = self._run(arguments, root, "search", cancel)
        if refreshed is not None:
            refreshed(_last_progress(done))
        return _hits(done)

    def status(self, root: Path, *, cancel: process.Cancel | None = None) -> Status:
        """What the index holds. Starts an index run when the daemon has not loaded the project."""
        return _status(_text(self._run(["status"], root, "status", cancel).stdout))

    def loaded_projects(self, *, cancel: process.Cancel | None = None) -> dict[str, bool]:
        """The roots that the daemon has loaded, and whether each is being indexed; loads none."""
        done = self._run(["daemon", "status"], Path(self.executable.anchor), "status", cancel)
        rows = re.findall(r"^  (.+) \[(indexing|idle)\]$", _text(done.stdout), re.MULTILINE)
        return {root: state == "indexing" for root, state in rows}

    def doctor(
        self, directory: Path, *, verbose: bool, cancel: process.Cancel | None = None
    ) -> Diagnosis:
        """Run ccc's own checks. They need a project for the ones about it only."""
        options = ["--verbose"] if verbose else []
        done = self._run(["doctor", *options], directory, "doctor", cancel)
        return _diagnosis(clean(_text(done.stdout)), clean(_text(done.stderr)))

    def _run(
        self, arguments: list[str], cwd: Path, setting: str, cancel: process.Cancel | None
    ) -> process.Finished:
        seconds = deadline_of(setting, self.environ)
        until = None if seconds is None else time.monotonic() + seconds
        cancel = cancel or process.Cancel()
        if arguments[0] not in _WITHOUT_DAEMON and not daemon.is_up(self.environ):
            self._start_daemon(arguments[0], until, cancel)
        command = process.Command((str(self.executable), *arguments), cwd, self.environ)
        done = process.run(command, deadline=_left(until), cancel=cancel, spare=is_daemon)
        if done.ended == "cancel":
            raise Failure("cancelled", f"`ccc {arguments[0]}` was cancelled.")
        if done.ended == "deadline":
            assert seconds is not None
            raise _too_late(arguments[0], setting, seconds, spared=done.spared)
        if done.returncode != 0 and not _is_json_failure(done):
            raise _failed(arguments[0], done)
        return done

    def _start_daemon(self, command: str, until: float | None, cancel: process.Cancel) -> None:
        """Let one client start the daemon while the others wait; see `daemon.py`."""
        if not project.global_settings_path(self.environ).is_file():
            return  # the command itself says so, without a daemon
        with daemon.starting(self.environ, until, cancel) as mine:
            if not mine:
                raise _starting(command)
            if daemon.is_up(self.environ):
                return
            argv = (str(self.executable), "daemon", "status")
            first = process.Command(argv, Path(self.executable.anchor), self.environ)
            done = process.run(first, deadline=_left(until), cancel=cancel, spare=is_daemon)
        if done.ended == "deadline" and done.spared:
            raise _starting(command)


def _named(path: str) -> Path:
    executable = Path(path).expanduser()
    if executable.is_absolute() and os.access(executable, os.X_OK) and executable.is_file():
        return executable
    raise Failure(
        "ccc_missing",
        f"VERA_CCC_EXECUTABLE is {shorten(path)}, which is no absolute path of an executable.",
        "Set it to ccc's path, or unset it to use the ccc on PATH.",
    )


def _searched(environ: Mapping[str, str]) -> Path:
    home = environ.get("HOME") or environ.get("USERPROFILE")
    also = [Path(home) / ".local" / "bin"] if home else []
    found = process.find_executable("ccc", environ=environ, also=also)
    if found is None:
        raise Failure(
            "ccc_missing",
            "CocoIndex Code (`ccc`) is not installed: no `ccc` in the directories of PATH.",
            f"{faults.INSTALL} Use rg meanwhile.",
        )
    return found


def _forced(environ: Mapping[str, str]) -> dict[str, str]:
    # Plain tracebacks on one line each, no colours, no 80-column boxes to read around.
    plain = {"_TYPER_STANDARD_TRACEBACK": "1", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "1000"}
    utf8 = {"PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"}
    unset = {"FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"}
    kept = {name: value for name, value in environ.items() if name not in unset}
    return {**kept, **utf8, **plain}


def _text(stream: Output) -> str:
    return stream.head.decode("utf-8", "replace")


def _too_late(command: str, setting: str, seconds: float, *, spared: bool) -> Failure:
    if spared:
        return _starting(command)
    return Failure(
        "timeout",
        f"`ccc {command}` did not answer within {seconds:g} s.",
        "If it stays so, ask the user to run `ccc daemon restart` in a terminal; "
        f"VERA_CCC_TIMEOUT_{setting.upper()} sets the limit. Use rg meanwhile.",
    )


def _starting(command: str) -> Failure:
    return Failure(
        "daemon_starting",
        f"`ccc {command}` has no answer yet: ccc's daemon was not running, and is starting now.",
        "Try again in a few seconds; use rg meanwhile.",
    )


def _left(until: float | None) -> float | None:
    return None if until is None else max(0.0, until - time.monotonic())


def _failed(command: str, done: process.Finished) -> Failure:
    said = clean(f"{_text(done.stderr)}\n{_text(done.stdout)}")
    known = faults.recognise(said)
    if known is not None:
        return known
    cause = last_cause(said) or f"it ended with exit code {done.returncode} and no word"
    return Failure("ccc_failed", f"`ccc {command}` failed: {cause}", "Call ccc_doctor to see why.")


def last_cause(text: str) -> str:
    """The real cause in what a failing ccc printed: the last line that is no decoration.

    A boxed or plain traceback ends with it, and ccc appends the daemon's own traceback to it.
    """
    lines = [line.strip(" │╭╮╰╯─") for line in text.split("\n")]
    causes = [line for line in lines if re.match(r"([\w.]+(Error|Exception|Exit)|Error)\b:?", line)]
    told = causes or [line for line in lines if line]
    return shorten_line(told[-1]) if told else ""


def shorten_line(line: str, limit: int = 500) -> str:
    """A line of at most *limit* characters."""
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _is_json_failure(done: process.Finished) -> bool:
    return "--json" in done.argv and _answer(done.stdout.head) is not None


def _answer(stdout: bytes) -> dict[str, Any] | None:
    """ccc's one line of JSON, among whatever else may have come out on the same stream."""
    for line in reversed(stdout.split(b"\n")):
        start = line.find(b'{"type":"search"')
        if start < 0:
            continue
        try:
            answer = json.loads(line[start:])
        except ValueError:
            continue
        if isinstance(answer, dict):
            return answer
    return None


def _hits(done: process.Finished) -> tuple[Hit, ...]:
    answer = _answer(done.stdout.head)
    if answer is None:
        printed = shorten(_text(done.stdout)[:2000], 200)
        raise Failure(
            "bad_output",
            f"`ccc search` ended well, but gave no result that can be read; it printed {printed}.",
            "Call ccc_doctor; use rg meanwhile.",
        )
    if not answer.get("success"):
        message = clean(str(answer.get("message") or "it did not say why"))
        raise faults.recognise(message) or Failure(
            "ccc_failed", f"`ccc search` failed: {last_cause(message)}", "Call ccc_doctor."
        )
    return tuple(_hit(row) for row in answer["results"])


def _hit(row: Mapping[str, Any]) -> Hit:
    return Hit(
        str(row["file_path"]),
        str(row["language"]),
        str(row["content"]),
        int(row["start_line"]),
        int(row["end_line"]),
        float(row["score"]),
    )


def _last_progress(done: process.Finished) -> Progress | None:
    """The line with which an index run ends, on stderr."""
    lines = re.findall(r"^Indexing: (.+)$", _text(done.stderr), re.MULTILINE)
    return _progress(lines[-1]) if lines else None


def _progress(text: str) -> Progress | None:
    numbers = re.search(
        r"(\d+) files listed \| (\d+) added, (\d+) deleted, (\d+) reprocessed,"
        r" (\d+) unchanged, error: (\d+)",
        text,
    )
    return Progress(*map(int, numbers.groups())) if numbers else None


def _status(text: str) -> Status:
    chunks = re.search(r"^ *Chunks: *(\d+)", text, re.MULTILINE)
    files = re.search(r"^ *Files: *(\d+)", text, re.MULTILINE)
    languages = re.findall(r"^ {4}(\S.*): (\d+) chunks$", text, re.MULTILINE)
    running = re.search(r"^Indexing in progress: .*$", text, re.MULTILINE)
    return Status(
        exists=chunks is not None,
        files=int(files[1]) if files else 0,
        chunks=int(chunks[1]) if chunks else 0,
        languages=tuple((name, int(count)) for name, count in languages),
        progress=_progress(running[0]) if running else None,
    )


def _diagnosis(stdout: str, stderr: str) -> Diagnosis:
    kept = [line for line in stdout.splitlines() if "Other env vars in daemon:" not in line]
    failed = re.findall(r"^\s*\[(?:FAIL|ERROR)\] (.+)$", stdout, re.MULTILINE)
    errors = re.findall(r"^\s*ERROR: (.+)$", stderr, re.MULTILINE)
    text = "\n".join(kept).strip("\n")
    if stderr.strip():
        text = f"{text}\n\n  Errors\n{stderr.rstrip()}"
    return Diagnosis(text, tuple(dict.fromkeys(errors or failed)))
