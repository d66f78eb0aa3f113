"""The tool ``ccc_doctor``: our own checks from the outside in, then ccc's."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vera_ccc_tools.ccc import faults, project
from vera_ccc_tools.ccc.client import Ccc, Query
from vera_ccc_tools.errors import Do, Failure, Front, Step
from vera_ccc_tools.phrases import say
from vera_ccc_tools.system import process
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.text import clean, clean_line, counted
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import DoctorArguments
from vera_ccc_tools.tools.session import SYNC_SWITCH, Session, how_to_begin

_CCC, _PYTHON, _SETTINGS, _DAEMON = _NEEDED = (
    "ccc",
    "SQLite extensions",
    "global settings",
    "daemon",
)
"""The checks without which ccc's own ones cannot work, or would wait in vain."""
_PATIENCE = {"VERA_CCC_TIMEOUT_STATUS": "15"}
"""A status may be late; whether there is any answer at all is worth more time."""
OLDEST_GIT = (2, 18)
"""The first that knows all options of the question that the sync asks."""
LEAST_FREE = 64 * 1024
"""Bytes of a disk that count as none: less than any index needs to grow."""
MOST_NAMED = 5
"""Files that are named where there are many."""
_EXTENSIONS = "import sqlite3; print(hasattr(sqlite3.Connection, 'enable_load_extension'))"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at.

    Attributes:
        name: What was looked at.
        ok: Whether it is as it should be.
        seen: What was seen.
        step: What to do when it is not.
    """

    name: str
    ok: bool
    seen: str
    step: Step | str = ""

    def text(self, front: Front) -> str:
        """What was seen, and on a line of its own what to do."""
        step = "" if self.ok else say(self.step, front)
        remedy = f"\n    → {step}" if step else ""
        return f"{'✓' if self.ok else '✗'} {self.name}: {self.seen}{remedy}"


def doctor(session: Session, call: Call, arguments: DoctorArguments) -> Answer:
    """Say what is wrong, the first cause again at the end; failed when anything is."""
    checks = _told(call, _outer_checks(session, call))
    report = ""
    if all(check.ok for check in checks if check.name in _NEEDED):
        own, report = _own_checks_of_ccc(session, call, verbose=arguments.verbose)
        checks += own
    checks += _told(call, _inner_checks(session, call))
    root = session.root_of(call.cwd)
    if root is not None and all(check.ok for check in checks) and session.places.is_indexed(root):
        checks += _told(call, iter([_checked("search", lambda: _search(session, call, root))]))
    failed = [check for check in checks if not check.ok]
    lines = [check.text(call.front) for check in checks]
    if report:
        lines += ["", "What `ccc doctor` says:", report]
    verdict = f"First problem: {failed[0].text(call.front)[2:]}" if failed else "No problem found."
    text = "\n".join([*lines, "", verdict])
    if failed:
        text = f"{counted(len(failed), 'check')} failed. {verdict}\n\n{text}"
    details = {"checks": [{"name": check.name, "ok": check.ok} for check in checks]}
    return Answer(text, details, failed=bool(failed))


def _told(call: Call, checks: Iterator[Check]) -> list[Check]:
    done = []
    for check in checks:
        done.append(check)
        call.progress(f"Checked {check.name}", {})
    return done


def _outer_checks(session: Session, call: Call) -> Iterator[Check]:
    """The machine: what every project needs, before ccc looks at its model."""
    yield _checked(_CCC, lambda: _ccc(session, call))
    installed = _is_installed(session)
    if installed:
        yield _checked(_PYTHON, lambda: _extensions(session, call))
    yield _checked("git", lambda: _git(session, call))
    yield _global_settings(session)
    if installed:
        yield _checked(_DAEMON, lambda: _daemon(session, call))


def _inner_checks(session: Session, call: Call) -> Iterator[Check]:
    """The project."""
    root = session.root_of(call.cwd)
    yield _checked("project", lambda: _project(session, call.cwd, root))
    if root is not None and not project.holds_home(root):
        yield _checked("ignore rules", lambda: _sync_state(session, call, root))


def _patient(session: Session) -> Ccc:
    found = session.ccc()
    return Ccc(found.executable, Environment({**found.environment.variables, **_PATIENCE}))


def _is_installed(session: Session) -> bool:
    try:
        session.ccc()
    except Failure:
        return False
    return True


def _checked(name: str, look: Callable[[], Check]) -> Check:
    try:
        return look()
    except Failure as failure:
        return Check(name, ok=False, seen=failure.message, step=failure.step)


def _ccc(session: Session, call: Call) -> Check:
    ccc = _patient(session)
    version = ccc.version(cancel=call.cancel)
    numbers = tuple(int(each) for each in re.findall(r"\d+", version)[:3])
    seen = f"{ccc.executable}, version {version}"
    return Check(_CCC, numbers >= (0, 2, 39), seen, faults.UPGRADE)


def _extensions(session: Session, call: Call) -> Check:
    name = _PYTHON
    python = interpreter(session.ccc().executable)
    if python is None:
        return Check(name, ok=True, seen="ccc's Python was not found, so this was not looked at")
    command = process.Command(
        (str(python), "-c", _EXTENSIONS), python.parent, session.environment.variables
    )
    done = process.run(command, deadline=10.0, cancel=call.cancel)
    able = done.stdout.head.strip() == b"True"
    seen = f"ccc's Python {python} {'can' if able else 'cannot'} load them"
    return Check(name, able, seen, faults.named("no_sqlite_extensions").step)


def interpreter(executable: Path) -> Path | None:
    """The Python that a console script runs on: its first line's, or the one beside it."""
    try:
        with executable.open("rb") as script:
            first = script.readline(1000)
    except OSError:
        return None
    named = re.match(rb"#!\s*(/\S*python\S*)\s*$", first)
    beside = executable.resolve().parent
    candidates = [Path(os.fsdecode(named[1]))] if named else []
    candidates += [beside / "python", beside / "python3", beside / "python.exe"]
    return next((each for each in candidates if project.is_file(each)), None)


def _git(session: Session, call: Call) -> Check:
    git = session.environment.executable("git")
    if git is None:
        return Check("git", ok=False, seen="not found on PATH", step="Install git.")
    command = process.Command((str(git), "--version"), call.cwd, session.environment.variables)
    done = process.run(command, deadline=10.0, cancel=call.cancel)
    version = clean(done.stdout.head.decode("utf-8", "replace")).strip()
    repository = project.find_git_root(call.cwd)
    where = f"repository {repository}" if repository else "no repository here"
    numbers = tuple(int(each) for each in re.findall(r"\d+", version)[:2])
    able = done.returncode == 0 and numbers >= OLDEST_GIT
    oldest = ".".join(map(str, OLDEST_GIT))
    remedy = f"Install git {oldest} or later: an older one cannot be asked for what it ignores."
    return Check("git", able, f"{git}, {version}, {where}", remedy)


def _global_settings(session: Session) -> Check:
    path = session.places.global_settings
    step = faults.named("no_global_settings").step
    there = project.is_file(path)
    seen = str(path) if there else f"{path} does not exist"
    return Check("global settings", there, seen, step)


def _project(session: Session, cwd: Path, root: Path | None) -> Check:
    if root is None:
        return Check("project", ok=False, seen=f"{cwd} belongs to none", step=how_to_begin(cwd))
    project.check_root(root, cwd)
    for code, is_so in (("read_only", _is_read_only), ("disk_full", _is_full)):
        if is_so(root):
            fault = faults.named(code)
            return Check("project", ok=False, seen=f"{root}: {fault.cause}", step=fault.step)
    if not session.places.is_indexed(root):
        return Check("project", ok=False, seen=f"{root} has no index", step=Step(Do.INDEX))
    return Check("project", ok=True, seen=f"{root}, indexed")


def _search(session: Session, call: Call, root: Path) -> Check:
    found = session.ccc().search(root, Query("any", 1), cancel=call.cancel).hits
    seen = "answers" if found else "answers, and finds nothing"
    return Check("search", ok=True, seen=seen)


def _is_read_only(root: Path) -> bool:
    return not os.access(root / project.DIRECTORY, os.W_OK)


def _is_full(root: Path) -> bool:
    return shutil.disk_usage(root).free < LEAST_FREE


def _sync_state(session: Session, call: Call, root: Path) -> Check:
    if session.sync_is_off:
        return Check("ignore rules", ok=True, seen=f"the sync is turned off by {SYNC_SWITCH}")
    report = session.syncer().sync(root, cancel=call.cancel, dry_run=True, tracked_ignored=True)
    if report.warnings:
        seen = " ".join(report.warnings)
        return Check("ignore rules", ok=False, seen=seen, step=Step(Do.TURN_SYNC_OFF, SYNC_SWITCH))
    due = len(report.added) + len(report.removed)
    seen = "ccc's exclusions equal git's"
    if due:
        seen = f"{counted(due, 'entry', 'entries')} will change at the next search"
    if report.tracked_ignored:
        seen += f"; {_hidden(report.tracked_ignored)}"
    return Check("ignore rules", ok=True, seen=seen)


def _hidden(paths: Sequence[str]) -> str:
    """Name files that ccc leaves out by its own reading of the ignore files, which comes first."""
    named = ", ".join(clean_line(path) for path in paths[:MOST_NAMED])
    more = f" and {len(paths) - MOST_NAMED:,} more" if len(paths) > MOST_NAMED else ""
    files = counted(len(paths), "tracked file")
    return f"{files} will not be found, since an ignore rule matches: {named}{more}"


def _daemon(session: Session, call: Call) -> Check:
    if not project.is_file(session.places.global_settings):
        return Check(_DAEMON, ok=True, seen="not asked: without global settings it does not work")
    was_up = session.daemon.is_up
    loaded = _patient(session).loaded_projects(cancel=call.cancel)
    state = "answers" if was_up else "was started, and answers"
    seen = f"{state}; {counted(len(loaded), 'project')} loaded"
    return Check(_DAEMON, ok=True, seen=seen)


def _own_checks_of_ccc(session: Session, call: Call, *, verbose: bool) -> tuple[list[Check], str]:
    try:
        found = session.ccc().doctor(call.cwd, verbose=verbose, cancel=call.cancel)
    except Failure as failure:
        return [Check("ccc doctor", ok=False, seen=failure.message, step=failure.step)], ""
    checks = [_failed_check(each) for each in found.failed]
    return checks or [Check("ccc doctor", ok=True, seen="all its checks passed")], found.text


def _failed_check(words: str) -> Check:
    known = faults.recognise(words)
    if known is None:
        return Check("ccc doctor", ok=False, seen=words, step=Step(Do.DOCTOR_VERBOSE))
    said = known.message if words[:100] in known.message else f"{known.message} ({words})"
    return Check("ccc doctor", ok=False, seen=said, step=known.step)
