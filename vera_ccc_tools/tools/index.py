"""The tools ``ccc_index`` and ``ccc_init``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from vera_ccc_tools.ccc import faults, project
from vera_ccc_tools.ccc.client import Ccc, Progress, Query, Status
from vera_ccc_tools.errors import Do, Failure, Front, Step
from vera_ccc_tools.phrases import named, say
from vera_ccc_tools.refresh import index_runs
from vera_ccc_tools.refresh.index_runs import Target
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel, Task, running
from vera_ccc_tools.system.text import counted
from vera_ccc_tools.tools import fresh, making
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import IndexArguments, InitArguments
from vera_ccc_tools.tools.session import Session

PROGRESS_PERIOD = 1.0
"""Seconds between two looks at an index run: ccc prints none on a pipe, so its status is asked."""
GLANCE = 0.7
"""Seconds that a last look may take at an index run that has outlasted its deadline."""


def index(session: Session, call: Call, arguments: IndexArguments) -> Answer:
    """Build the index, or bring it up to date.

    A git repository without project settings is initialized at its root first.

    Raises:
        Failure: When there is no ccc, no project to index, the home directory is the project, or
            ccc fails.
    """
    ccc = session.ccc()
    root = session.root_of(call.cwd) or _repository(call.cwd)
    project.check_root(root, call.cwd)
    if not project.is_file(project.settings_path(root)):
        making.check_place(root)

    def run(cancel: Cancel) -> Answer:
        return _index(session, ccc, root, replace(call, cancel=cancel))

    if arguments.background:
        return _in_background(session, root, "ccc_index", run, call.front)
    return run(call.cancel)


def _repository(cwd: Path) -> Path:
    """The git root to initialize for *cwd*, by ccc's rule: below the home directory."""
    root = project.find_repository(cwd)
    if root is None:
        raise Failure(
            "not_initialized",
            f"{cwd} belongs to no ccc project and lies in no git repository.",
            Step(Do.INIT),
        )
    return root


def _index(session: Session, ccc: Ccc, root: Path, call: Call) -> Answer:
    started = time.monotonic()
    created = not project.is_file(project.settings_path(root))
    is_first = not session.places.is_indexed(root)
    if created:
        # Forced, since the root is decided: a parent that is a project does not matter here.
        making.make(ccc, root, force=True, model=None, cancel=call.cancel)
    else:
        making.hide_index(session.environment, root, call.cancel)
    try:
        with _reporting(ccc, root, call) as seen:
            status, notes = _run_index(session, Target(ccc, root, call))
    except Failure as failure:
        if failure.code != "timeout":
            raise
        return _outlasted(root, seen.latest or _glance(ccc, root, call), failure, call.front)
    seconds = time.monotonic() - started
    check_indexed(root, status, ccc)
    status = replace(status, progress=_run(status.progress, seen, is_first=is_first))
    lines = [f"Initialized {root} for ccc."] if created else []
    lines += [_indexed(root, status, seconds, ccc), *[f"Note: {note}" for note in notes]]
    return Answer("\n".join(lines), _details(root, status, seconds))


def _run_index(session: Session, target: Target) -> tuple[Status, tuple[str, ...]]:
    """Bring the index up to date; what ccc says of it, and what the caller should read."""
    root, ccc = target.root, target.ccc
    before = fresh.look(session, target)
    session.refresher(root).forget()
    status = ccc.index(root, cancel=target.call.cancel)
    if not ccc.places.is_indexed(root):
        raise Failure(
            "index_open_elsewhere",
            f"The index of {root} was deleted while ccc's daemon had it open, and the daemon "
            "goes on with what is deleted.",
            Step(Do.RESTART_DAEMON),
        )
    fresh.remember(session, target, before, status.progress)
    return status, before.notes


def check_indexed(root: Path, status: Status, ccc: Ccc) -> None:
    """Tell an index run that ended well, as ccc says, and has nothing in the index, as failed."""
    progress = status.progress
    errors = 0 if progress is None else progress.errors
    if progress is not None and errors and not progress.added + progress.reprocessed:
        ccc.search(root, Query("any", 1))  # says so where the model has another size by now
    if errors and not status.files:
        raise Failure(
            "nothing_indexed",
            f"None of {counted(errors, 'file')} of {root} could be indexed; "
            f"{ccc.places.daemon_log} says why.",
            Step(Do.DOCTOR),
        )


def _run(progress: Progress | None, seen: _Seen, *, is_first: bool) -> Progress | None:
    """What this call has changed; None where that is not known.

    ccc counts its own last run only, and a daemon that has just loaded the project has made one
    before that, which leaves the last nothing to do.
    """
    if progress is None or _is_change(progress):
        return progress
    if is_first:
        return replace(progress, added=progress.unchanged, unchanged=0)
    before = None if seen.latest is None else seen.latest.progress
    return None if before is not None and _is_change(before) else progress


def _is_change(progress: Progress) -> bool:
    return any((progress.added, progress.reprocessed, progress.deleted))


def _indexed(root: Path, status: Status, seconds: float, ccc: Ccc) -> str:
    held = f"{counted(status.files, 'file')}, {counted(status.chunks, 'chunk')}"
    lines = [f"Indexed {root}: {held} ({seconds:.1f} s)."]
    if status.progress is not None:
        lines.append(f"This run: {_changes(status.progress)}.{_blank(status)}")
        if status.progress.errors:
            lines.append(index_runs.failed(status.progress.errors, ccc))
    if status.languages:
        chunks = ", ".join(f"{name} {count:,}" for name, count in status.languages)
        lines.append(f"Chunks by language: {chunks}.")
    return "\n".join(lines)


def _blank(status: Status) -> str:
    """Why the index holds fewer files than the run went through: these have no chunks."""
    run = status.progress
    if run is None or run.errors or run.done <= status.files:
        return ""
    count = run.done - status.files
    they = "it is" if count == 1 else "they are"
    verb = "holds" if count == 1 else "hold"
    return f" {counted(count, 'file')} {verb} nothing to index: {they} empty, or no text."


def _changes(progress: Progress) -> str:
    parts = [
        (progress.added, "added"),
        (progress.reprocessed, "changed"),
        (progress.deleted, "deleted"),
        (progress.unchanged, "unchanged"),
    ]
    return ", ".join(f"{count:,} {word}" for count, word in parts if count) or "no files"


def _details(root: Path, status: Status, seconds: float) -> dict[str, Any]:
    return {
        "root": str(root),
        "files": status.files,
        "chunks": status.chunks,
        "languages": dict(status.languages),
        "changes": None if status.progress is None else asdict(status.progress),
        "elapsed_ms": {"total": round(seconds * 1000, 1)},
    }


def _outlasted(root: Path, status: Status | None, failure: Failure, front: Front) -> Answer:
    """Tell of an index run that outlasts its client: the daemon goes on with it."""
    if status is None:
        raise failure
    if status.progress is None:
        text = f"{failure.message} The index is there now. {say(Step(Do.SEARCH), front)}"
        return Answer(text, {"root": str(root), "indexing": False})
    done = status.progress.done
    text = (
        f"Indexing {root} goes on in ccc's daemon: {counted(done, 'file')} done so far. "
        f"{failure.message} {say(Step(Do.FOLLOW), front)}"
    )
    return Answer(text, {"root": str(root), "indexing": True, "files_done": done})


def _glance(ccc: Ccc, root: Path, call: Call) -> Status | None:
    """What the index holds, where ccc says so at once."""
    with suppress(Failure), running(lambda own: ccc.status(root, cancel=own)) as asked:
        if asked.wait(GLANCE, call.cancel):
            return asked.result(call.cancel)
    return None


@dataclass(slots=True)
class _Seen:
    """What was last seen of an index run; None when ccc does not say."""

    latest: Status | None = None


@contextmanager
def _reporting(ccc: Ccc, root: Path, call: Call) -> Iterator[_Seen]:
    """Tell the caller now and then how an index run goes, while the block runs it."""
    seen = _Seen()
    report = Task(lambda stop: _report(ccc, root, call, stop, seen))
    try:
        yield seen
    finally:
        report.cancel.press()
        report.wait(None, Cancel())


def _report(ccc: Ccc, root: Path, call: Call, stop: Cancel, seen: _Seen) -> None:
    started, begun = time.monotonic(), False
    call.progress(*_progress(None, 0.0))
    while not stop.wait(PROGRESS_PERIOD):
        progress = None
        if ccc.daemon.is_up:  # asking another one would start a second
            try:
                seen.latest = ccc.status(root, cancel=stop)
                progress = seen.latest.progress
            except Failure:
                seen.latest = None
        begun = begun or progress is not None
        if progress is not None or not begun:
            call.progress(*_progress(progress, time.monotonic() - started))


def _progress(progress: Progress | None, seconds: float) -> tuple[str, dict[str, float]]:
    """How far an index run is, in a line and in numbers."""
    numbers = {"done": 0.0, "listed": 0.0, "seconds": round(seconds, 1)}
    if progress is None or not progress.done:
        text = f"Indexing: no file is done yet (the model is loaded first), {seconds:.0f} s"
        return text, numbers
    numbers |= {"done": progress.done, "listed": progress.listed}
    done = counted(progress.done, "file")
    rate = progress.done / seconds
    pace = f"{rate:.{0 if rate >= 10 else 1}f} files/s"
    return f"Indexing: {done} done ({_changes(progress)}), {pace}, {seconds:.0f} s", numbers


def init(session: Session, call: Call, arguments: InitArguments) -> Answer:
    """Make the caller's directory a ccc project.

    Raises:
        Failure: When there is no ccc, the directory lies inside a project or repository and
            *force* is not given, or ccc fails.
    """
    ccc = session.ccc()
    root = call.cwd
    _check_home(root)
    if not arguments.force:
        _check_parents(session, root)

    def run(cancel: Cancel) -> Answer:
        return _init(session, ccc, replace(call, cancel=cancel), arguments)

    if arguments.background:
        return _in_background(session, root, "ccc_init", run, call.front)
    answer = run(call.cancel)
    notes = session.sync(root, call, always=True).notes
    text = "\n".join([answer.text, *[f"Note: {note}" for note in notes]])
    return Answer(text, answer.details, answer.failed)


def _check_home(cwd: Path) -> None:
    if project.holds_home(cwd) and not project.is_file(project.settings_path(cwd)):
        raise Failure(
            "home_directory",
            f"{cwd} is or holds the home directory: all of it would be indexed.",
            Step(Do.INIT_ELSEWHERE, cwd),
        )


def _check_parents(session: Session, cwd: Path) -> None:
    if project.is_file(project.settings_path(cwd)):
        return
    above = session.root_of(cwd)
    if above is not None:
        project.check_root(above, cwd)
        raise Failure(
            "parent_project",
            f"{cwd} lies inside the ccc project {above}, and is searched with it.",
            Step(Do.INIT_FORCED),
        )
    repository = project.find_repository(cwd)
    if repository not in (None, cwd):
        raise Failure(
            "parent_project",
            f"{cwd} lies inside the git repository {repository}.",
            Step(Do.INDEX_OR_INIT_FORCED),
        )
    making.check_place(cwd)


def _init(session: Session, ccc: Ccc, call: Call, arguments: InitArguments) -> Answer:
    existed = project.is_file(project.settings_path(call.cwd))
    said = making.make(
        ccc, call.cwd, force=arguments.force, model=arguments.litellm_model, cancel=call.cancel
    )
    done = f"{call.cwd} is a ccc project already." if existed else f"Initialized {call.cwd}."
    following = (
        f"Its index exists. {say(Step(Do.SEARCH), call.front)}"
        if session.places.is_indexed(call.cwd)
        else say(Step(Do.INDEX), call.front)
    )
    details = {"root": str(call.cwd), "created": not existed}
    if "[FAIL]" in said:
        return Answer(_model_failed(done, said, session, call.front), details, failed=True)
    return Answer(f"{done} {following}", details)


def _model_failed(done: str, said: str, session: Session, front: Front) -> str:
    """What to say when ccc has stored a model that it cannot use; it takes no other one then."""
    path = session.places.global_settings
    known = faults.recognise(said)
    cause = known.message if known else "ccc could not use the embedding model that it was given."
    return f"{done} But {cause}\n{say(Step(Do.CORRECT_MODEL, path), front)}\n\n{said}"


def _in_background(session: Session, root: Path, tool: str, run: Any, front: Front) -> Answer:
    job = session.start(root, tool, run)
    name, seconds = named(job.tool, front), job.age()
    if job.tool != tool or seconds > 1.0:
        text = f"{name} already runs in the background for {root}, since {seconds:.0f} s."
    else:
        text = f"{name} runs in the background for {root}."
    text += f" {say(Step(Do.FOLLOW), front)}"
    return Answer(text, {"root": str(root), "background": True})
