"""A search on an index that is up to date, without waiting where nothing changed.

A plain search starts at once, git is asked beside it whether anything changed since the last
refresh, and only if so the search is thrown away and repeated with ``--refresh``. A refresh that
takes long goes on in the background, while searches are answered from what the index holds.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Protocol

from vera_ccc_tools.ccc.client import Hit, Progress
from vera_ccc_tools.errors import Failure, Front
from vera_ccc_tools.refresh.index_runs import (
    PATIENCE,
    Target,
    ends_soon,
    failed,
    is_first,
    renewing,
    status_of,
    still_indexing,
)
from vera_ccc_tools.refresh.refresher import Look
from vera_ccc_tools.system.locks import turn
from vera_ccc_tools.system.tasks import Cancel, Cancelled, Task, running
from vera_ccc_tools.tools.session import Session

LATER_ANSWER = 15.0
"""Seconds within which a call answers while the index is renewed. Plain searches go on meanwhile,
but ccc's daemon asks the embedding model for one thing at a time, and loads a project by an index
run that searches wait for."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of results.

    Attributes:
        hits: As many as were asked for, or fewer; one more where a chunk's pieces stay together.
        ends: The offset behind each, where a page that goes on from it begins.
        more: Whether there are further ones.
        by: ``meaning``, ``both`` or ``words``: what led to them.
        cut: Whether ccc had further hits that were not looked at.
        run: How the index run ended that ccc was asked for first.
    """

    hits: tuple[Hit, ...]
    ends: tuple[int, ...] = ()
    more: bool = False
    by: str = "meaning"
    cut: bool = False
    run: Progress | None = None


class Fetch(Protocol):
    """Runs the ccc searches of one call, the first with ``--refresh`` where *refresh* says so."""

    def __call__(self, cancel: Cancel, *, refresh: bool) -> Page: ...


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, and on which index.

    Attributes:
        page: What *fetch* gave.
        refreshed: Whether ccc was asked to refresh its index for it.
        reason: Why it was, or why it could not be waited for; empty where nothing changed.
        notes: Lines that the caller should read.
        looked: Seconds that the look at git took; it may have gone on beside the search.
        stale: Whether an index run went on meanwhile, so that the latest edits may be missing.
        instead: Why ccc could not be asked, where the words answer alone.
    """

    page: Page
    refreshed: bool
    reason: str = ""
    notes: tuple[str, ...] = ()
    looked: float = 0.0
    stale: bool = False
    instead: Failure | None = None


def look(session: Session, target: Target) -> Look:
    """Sync the exclusions of a project, and see whether its index is as the disk is."""
    asked = time.monotonic()
    synced = session.sync(target.root, target.call, always=True)
    return session.refresher(target.root).look(target, synced, asked)


def look_again(session: Session, target: Target) -> tuple[Look, bool]:
    """Look without writing anything; also whether a sync is due."""
    asked = time.monotonic()
    synced = session.foresee(target.root, target.call)
    return session.refresher(target.root).look(target, synced, asked), synced.due


def remember(session: Session, target: Target, before: Look, run: Progress | None) -> None:
    """Take the index for fresh after a *run* that began at *before*, unless it seems otherwise."""
    after, _ = look_again(session, target)
    session.refresher(target.root).remember(before, after, run)


def search(session: Session, target: Target, fetch: Fetch) -> Found:
    """Search an index that is as the disk is, or say in a note that it is not."""
    job, refresher = session.job(target.root), session.refresher(target.root)
    if job is not None and not job.done:
        return _beside(session, target, fetch, job.line(Front.MODEL))
    while True:
        going = refresher.going_on
        if going is not None and not going.wait(PATIENCE - going.age(), target.call.cancel):
            return _beside(session, target, fetch, "an index run goes on")
        found = _look_and_search(session, target, fetch)
        if found is not None:
            return found


def _look_and_search(session: Session, target: Target, fetch: Fetch) -> Found | None:
    """One try; None where another call has begun a refresh, or somebody has written the index."""
    refresher, cancel = session.refresher(target.root), target.call.cancel
    with ExitStack() as searching:
        ahead = None
        if refresher.looks_slowly:
            ahead = searching.enter_context(running(lambda own: fetch(own, refresh=False)))
        with turn(refresher.turn, cancel):
            if refresher.going_on is not None:
                return None
            seen = look(session, target)
            if not seen.fresh:
                searching.close()
                task = _begin(session, target, fetch, seen)
        if not seen.fresh:
            return _end(session, target, fetch, seen, task)
        page = ahead.result(cancel) if ahead else fetch(cancel, refresh=False)
    if refresher.is_unwritten(target, seen):
        return Found(page, refreshed=False, notes=seen.notes, looked=seen.seconds)
    refresher.forget()
    return None


def _begin(session: Session, target: Target, fetch: Fetch, seen: Look) -> Task[Page] | None:
    """Start a refreshing search, unless somebody else's index run is in its way."""
    refresher = session.refresher(target.root)
    if refresher.is_written_by_others(target.ccc):
        status = status_of(target)
        if status is not None and status.progress is not None:
            return None
    refresher.forget()

    def refresh(own: Cancel) -> Page:
        try:
            page = fetch(own, refresh=True)
        except Failure as failure:
            refresher.fail(failure)
            raise
        by_itself = replace(target, call=replace(target.call, cancel=own))
        remember(session, by_itself, seen, page.run)
        return page

    task = Task(refresh)
    refresher.begin(task)
    return task


def _end(
    session: Session, target: Target, fetch: Fetch, seen: Look, task: Task[Page] | None
) -> Found:
    """Wait for a refreshing search where that is worth it; else search beside it."""
    if task is None:
        return _beside(session, target, fetch, seen.why)
    try:
        if not ends_soon(task, target):
            return _beside(session, target, fetch, seen.why)
        page = task.result(target.call.cancel)
    except Cancelled:
        task.cancel.press()
        raise
    errors = 0 if page.run is None else page.run.errors
    notes = (*seen.notes, *([failed(errors, target.ccc)] if errors else []))
    return Found(page, refreshed=True, reason=seen.why, notes=notes, looked=seen.seconds)


def _beside(session: Session, target: Target, fetch: Fetch, reason: str) -> Found:
    """Search what the index holds while an index run goes on.

    Raises:
        Failure: ``indexing`` when there is nothing to search yet.
    """
    refresher = session.refresher(target.root)
    with running(lambda own: fetch(own, refresh=False)) as task:
        status, wait = status_of(target, task), 0.0
        while not task.wait(wait, target.call.cancel):
            status, wait = status or status_of(target, task), PATIENCE
            late = time.monotonic() > target.started + LATER_ANSWER
            if status is not None and (late or is_first(status)):
                raise refresher.unanswerable(status)
        page = task.result(target.call.cancel)
    return Found(page, refreshed=False, reason=reason, notes=(renewing(status),), stale=True)


def search_as_is(session: Session, target: Target, fetch: Fetch) -> Found:
    """Search the index as it is, but never wait long for an index run.

    Raises:
        Failure: ``indexing`` when the daemon is building or checking the index.
    """
    notes = session.sync(target.root, target.call, always=False).notes
    with running(lambda own: fetch(own, refresh=False)) as task:
        while not task.wait(PATIENCE, target.call.cancel):
            status = status_of(target, task)
            if status is not None and status.progress is not None:
                raise still_indexing(target.root, status)
        return Found(task.result(target.call.cancel), refreshed=False, notes=notes)
