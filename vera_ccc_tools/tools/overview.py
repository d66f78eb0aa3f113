"""The index of a project at a glance: is there one, how large, is it being built, is it fresh?

`status.py` says it to a model; the command line and Pi's views show it to a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from vera_ccc_tools.ccc import project
from vera_ccc_tools.ccc.client import Progress, Status
from vera_ccc_tools.errors import Do, Failure, Front, Step
from vera_ccc_tools.phrases import say
from vera_ccc_tools.refresh.index_runs import Target
from vera_ccc_tools.system import text
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import fresh
from vera_ccc_tools.tools.session import Job, Session, how_to_begin

State = Literal["ready", "indexing", "empty", "unindexed", "none", "unavailable"]
NOTHING = Status(exists=False)


@dataclass(frozen=True, slots=True)
class Overview:
    """What was seen.

    Attributes:
        state: ``none``: no ccc project here; ``unindexed``: a project without an index;
            ``indexing``: a run goes on that changes more than a tenth of the index;
            ``unavailable``: ccc is missing or fails, or the home directory is the project, as
            *failure* says.
        root: The project's root; None where there is none.
        status: What ccc says of the index; nothing where it was not asked.
        job: The background command of this session that runs, or ran last.
        failure: Why ccc could not be asked, or was not.
    """

    state: State
    root: Path | None
    status: Status = NOTHING
    job: Job | None = None
    failure: Failure | None = None


def look(session: Session, call: Call) -> Overview:
    """Look at the project around the caller's directory, without starting an index run.

    A project that has no index is not touched, and no process is started for it. ccc loads one
    that has an index by an index run of its own, so the sync comes first.

    Raises:
        Cancelled: Nothing else.
    """
    root = session.root_of(call.cwd)
    job = _job(session, call.cwd, root)
    try:
        ccc = session.ccc()
        if root is None:
            return Overview("none", None, job=job)
        project.check_root(root, call.cwd)
        if not session.places.is_indexed(root) and not _is_begun(session, job):
            return Overview("unindexed", root, job=job)
        session.sync(root, call, always=False)
        status = ccc.status(root, cancel=call.cancel)
    except Failure as failure:
        return Overview("unavailable", root, job=job, failure=failure)
    return Overview(_state(status), root, status, job)


def _job(session: Session, cwd: Path, root: Path | None) -> Job | None:
    """The background command for here; a project that is being made has no root yet."""
    places = (root, cwd, project.find_repository(cwd))
    jobs = (session.job(place) for place in places if place is not None)
    return next((job for job in jobs if job is not None), None)


def _is_begun(session: Session, job: Job | None) -> bool:
    """Whether the first index run goes on, on our behalf, in a daemon that can be asked."""
    return _indexes(job) and session.daemon.is_up


def _indexes(job: Job | None) -> bool:
    return job is not None and not job.done and job.tool == "ccc_index"


def _state(status: Status) -> State:
    if _grows(status):
        return "indexing"
    if not status.exists:
        return "unindexed"
    return "ready" if status.chunks else "empty"


def _grows(status: Status) -> bool:
    """Whether an index run is going on that changes more than a tenth of the index."""
    if status.progress is None:
        return False
    changed = status.progress.added + status.progress.reprocessed
    return status.files == 0 or changed * 10 > status.files


def to_json(session: Session, call: Call) -> dict[str, Any]:
    """The overview as plain values: the result of the worker's method ``overview``.

    ``state``, ``root`` (or None), ``files``, ``chunks``, ``languages`` (chunks by name),
    ``progress`` (listed, done, added, reprocessed, unchanged, deleted, errors: in files; None
    when no index run goes on), ``job`` (tool, running, line; None when there was none),
    ``message`` and ``hint`` (for a person; the hint may be empty), and ``fresh``: whether the
    index matches the disk, by a look at git against the last refresh of this session; None where
    that is not known. While a background ``ccc_index`` runs, the state is ``indexing``, whatever
    the index holds already. ``repository`` is the git root that ``ccc_index`` would make a project
    of (or None), ``init`` what ``ccc_init`` would find: a project in the directory itself
    (``done``), one or a repository above it (``within``), or neither (``free``); ``has_model``
    whether the user has chosen an embedding model, and ccc takes no other one.

    Raises:
        Cancelled: The call was.
    """
    seen = look(session, call)
    state: State = "indexing" if _indexes(seen.job) else seen.state
    message, step = _said(seen, state, call.cwd)
    return {
        "state": state,
        "root": None if seen.root is None else text.clean_line(str(seen.root)),
        "files": seen.status.files,
        "chunks": seen.status.chunks,
        "languages": dict(seen.status.languages),
        "progress": _progress(seen.status.progress),
        "job": _job_to_json(seen.job, call.front),
        "fresh": _is_fresh(session, call, seen.root) if state == "ready" else None,
        "message": text.clean_line(message),
        "hint": text.clean_line(say(step, call.front)),
        **_found_by_init(session, call.cwd, seen.root),
    }


def _found_by_init(session: Session, cwd: Path, root: Path | None) -> dict[str, Any]:
    repository = project.find_repository(cwd)
    above = root or repository
    init = "done" if root == cwd else "free" if above in (None, cwd) else "within"
    return {
        "repository": None if repository is None else text.clean_line(str(repository)),
        "init": init,
        "has_model": project.is_file(session.places.global_settings),
    }


def _is_fresh(session: Session, call: Call, root: Path | None) -> bool | None:
    """Whether the index is as the disk is, where a refresh of this session lets git say."""
    if root is None or not session.refresher(root).knows:
        return None
    seen, sync_due = fresh.look_again(session, Target(session.ccc(), root, call))
    return session.refresher(root).is_fresh(seen, sync_due=sync_due)


def _said(seen: Overview, state: State, cwd: Path) -> tuple[str, Step | str]:
    """One sentence for a person, and the next step."""
    size = f"{text.counted(seen.status.files, 'file')}, {text.counted(seen.status.chunks, 'chunk')}"
    if state == "indexing":
        return f"The index is being built: {size} so far.", "Searches may miss what is not in yet."
    if seen.failure is not None:
        return seen.failure.message, seen.failure.step
    if state == "none":
        return "This directory belongs to no ccc project.", how_to_begin(cwd)
    if state == "unindexed":
        return "This project has no index yet.", Step(Do.INDEX)
    if state == "empty":
        empty = "The index is empty: no file matched, or none could be read."
        return empty, Step(Do.DOCTOR)
    return f"The index holds {size}.", ""


def _progress(progress: Progress | None) -> dict[str, int] | None:
    if progress is None:
        return None
    return {
        "listed": progress.listed,
        "done": progress.done,
        "added": progress.added,
        "reprocessed": progress.reprocessed,
        "unchanged": progress.unchanged,
        "deleted": progress.deleted,
        "errors": progress.errors,
    }


def _job_to_json(job: Job | None, front: Front) -> dict[str, Any] | None:
    if job is None:
        return None
    return {
        "tool": job.tool,
        "running": not job.done,
        "failed": job.failed,
        "line": text.clean_line(job.line(front)),
    }
