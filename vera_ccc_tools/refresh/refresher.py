"""A search on an index that is up to date, without waiting where nothing changed.

``ccc search --refresh`` walks the whole tree. So a plain search starts at once, git is asked
beside it whether anything changed since the last refresh, and only if so the search is thrown
away and repeated with ``--refresh``. A refresh that takes long goes on in the background, while
searches are answered from what the index holds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from vera_ccc_tools.ccc import project
from vera_ccc_tools.ccc.client import Ccc, Progress, Status
from vera_ccc_tools.errors import Do, Failure, Step
from vera_ccc_tools.refresh import fingerprint
from vera_ccc_tools.refresh.fingerprint import Baseline, Files, Inputs, Machine, Unknown, View
from vera_ccc_tools.refresh.index_runs import (
    PATIENCE,
    Failures,
    Target,
    failed,
    is_first,
    renewing,
    status_of,
    still_indexing,
    worth_waiting,
)
from vera_ccc_tools.sync.report import Synced
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.files import identity
from vera_ccc_tools.system.tasks import Cancel, Cancelled, Task, running

QUICK_LOOK = 0.02
"""Seconds: where git answers faster than this, it is waited for instead of searching ahead."""
RECENT = 3.0
"""Seconds since the index was written within which somebody may still be writing it."""
LATER_ANSWER = 15.0
"""Seconds within which a call answers while the index is renewed. Plain searches go on meanwhile,
but ccc's daemon asks the embedding model for one thing at a time, and loads a project by an index
run that searches wait for."""

T = TypeVar("T")
Fetch = Callable[[Cancel, Callable[[Progress | None], None] | None], T]
"""Runs the ccc searches of one call. The second argument asks for ``--refresh``, and is told how
the index run ended."""


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """What a search found, and on which index.

    Attributes:
        value: What *fetch* gave.
        refreshed: Whether ccc was asked to refresh its index for it.
        reason: Why it was, or why it could not be waited for; empty where nothing changed.
        notes: Lines that the caller should read.
        looked: Seconds that the sync and the look at git took.
        stale: Whether an index run went on meanwhile, so that the latest edits may be missing.
    """

    value: T
    refreshed: bool
    reason: str = ""
    notes: tuple[str, ...] = ()
    looked: float = 0.0
    stale: bool = False

    def elapsed_ms(self) -> dict[str, float]:
        """The time that the look at git took; it may have gone on beside the search."""
        return {"sync": round(self.looked * 1000, 1)}


@dataclass(frozen=True, slots=True)
class _Observed:
    """One look: the state where it could be told, else why not."""

    files: Files | None
    machine: Machine | None
    notes: tuple[str, ...]
    unknown: str
    seconds: float
    inputs: Inputs
    views: tuple[View, ...] = ()


@dataclass(frozen=True, slots=True)
class _Refresh(Generic[T]):
    """A refreshing search that was begun, or not: then an index run of somebody else goes on.

    *ended* tells how the index runs ended.
    """

    task: Task[T] | None
    observed: _Observed
    reason: str
    ended: list[Progress | None] = field(default_factory=list)

    def notes(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """Lines that the caller should read."""
        errors = _errors(self.ended)
        return (*self.observed.notes, *([failed(errors, environ)] if errors else []))


class Host(Protocol):
    """What a `Refresher` needs of the session that it belongs to."""

    environ: dict[str, str]

    def sync(self, root: Path, call: Call, *, always: bool) -> Synced:
        """Keep ccc's exclusions equal to what git ignores."""

    def foresee(self, root: Path, call: Call) -> Synced:
        """What a sync would rest on and come to; nothing is written."""

    def running_job(self, root: Path) -> str:
        """The background command of a project: the one that runs, or ran last."""


class Refresher:
    """Remembers, for each project, the state at its last refresh by this process."""

    def __init__(self, session: Host) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._watch = fingerprint.Watch(session.environ)
        self._baselines: dict[Path, Baseline] = {}
        self._looks: dict[Path, float] = {}
        self._turns: dict[Path, threading.Lock] = {}
        self._running: dict[Path, Task[Any]] = {}
        self._failures = Failures()

    def find(self, ccc: Ccc, root: Path, call: Call, fetch: Fetch[T]) -> Found[T]:
        """Run *fetch* on an index that is as the disk is, or say in a note that it is not."""
        target = Target(ccc, root, call)
        job = self._session.running_job(root)
        if job:
            return self._beside(target, fetch, job)
        while True:
            going = self._going_on(root)
            if going is not None and not going.wait(PATIENCE - going.age(), call.cancel):
                return self._beside(target, fetch, "an index run goes on")
            found = self._look_and_find(target, fetch)
            if found is not None:
                return found

    def _look_and_find(self, target: Target, fetch: Fetch[T]) -> Found[T] | None:
        """One try; None when another call began a refresh of the same project meanwhile."""
        root, cancel = target.root, target.call.cancel
        with ExitStack() as stack:
            ahead = None
            if self._baseline(root) is not None and self._looks.get(root, 1.0) > QUICK_LOOK:
                ahead = stack.enter_context(running(lambda own: fetch(own, None)))
            with self._turn(root, cancel):
                if self._going_on(root) is not None:
                    return None
                observed = self._observe(target)
                baseline = self._baseline(root)
                refresh = None
                if baseline is None or not self._holds(baseline, observed):
                    stack.close()
                    refresh = self._begin(target, fetch, observed)
            if refresh is not None:
                return self._end(target, fetch, refresh)
            value = ahead.result(cancel) if ahead else fetch(cancel, None)
            if baseline is not None and self._same_machine(baseline, target):
                return Found(value, refreshed=False, notes=observed.notes, looked=observed.seconds)
        self._forget(root)
        return None

    @contextmanager
    def _turn(self, root: Path, cancel: Cancel) -> Iterator[None]:
        """Look at a project, and begin a refresh of it, one call at a time."""
        with self._lock:
            turn = self._turns.setdefault(root, threading.Lock())
        while not turn.acquire(timeout=0.05):
            cancel.check()
        try:
            yield
        finally:
            turn.release()

    def as_is(self, ccc: Ccc, root: Path, call: Call, fetch: Fetch[T]) -> Found[T]:
        """Run *fetch* on the index as it is, but never wait long for an index run.

        Raises:
            Failure: ``indexing`` when the daemon is building or checking the index.
        """
        notes = self._session.sync(root, call, always=False).notes
        target = Target(ccc, root, call)
        with running(lambda own: fetch(own, None)) as task:
            if not worth_waiting(task, target):
                raise still_indexing(root, status_of(target))
            return Found(task.result(call.cancel), refreshed=False, notes=notes)

    def index(self, ccc: Ccc, root: Path, call: Call) -> Found[Status]:
        """Bring the index up to date, and remember the state that it was brought to."""
        target = Target(ccc, root, call)
        observed = self._settled(self._observe(target), call.cancel)
        self._forget(root)
        status = ccc.index(root, cancel=call.cancel)
        if not project.is_indexed(root, ccc.environ):
            raise Failure(
                "index_open_elsewhere",
                f"The index of {root} was deleted while ccc's daemon had it open, and the daemon "
                "goes on with what is deleted.",
                Step(Do.RESTART_DAEMON),
            )
        if status.progress is None or not status.progress.errors:
            self._remember(target, observed)
        return Found(status, True, notes=observed.notes, looked=observed.seconds)  # noqa: FBT003

    def is_fresh(self, ccc: Ccc, root: Path, call: Call) -> bool | None:
        """Whether the index is as the disk is, by a look at git; None where that is not known.

        Nothing is refreshed or written for it, so it is known after a refresh of this session only.
        """
        baseline = self._baseline(root)
        if baseline is None or self._going_on(root) is not None:
            return None
        since, synced = fingerprint.stamp(), self._session.foresee(root, call)
        try:
            files = self._watch.files(_seen(synced), call.cancel, since)
            inputs = fingerprint.inputs(root, ccc)
            if synced.due or (files.digest, inputs) != (
                baseline.files.digest,
                baseline.machine.inputs,
            ):
                return False
            machine = fingerprint.machine_state(root, ccc)
        except (Unknown, Failure):
            return None
        # An index that somebody else has written since may hold anything.
        return True if baseline.holds(files, machine, fingerprint.now()) else None

    def _observe(self, target: Target) -> _Observed:
        started, since = time.monotonic(), fingerprint.stamp()
        files, machine, unknown = None, None, ""
        synced = self._session.sync(target.root, target.call, always=True)
        inputs = fingerprint.inputs(target.root, target.ccc)
        try:
            files = self._watch.files(_seen(synced), target.call.cancel, since)
            machine = fingerprint.machine_state(target.root, target.ccc)
        except (Unknown, Failure) as error:
            unknown = fingerprint.explain(error)
        seconds = time.monotonic() - started
        self._looks[target.root] = seconds
        views = synced.views or ()
        return _Observed(files, machine, synced.notes, unknown, seconds, inputs, views)

    def _holds(self, baseline: Baseline, observed: _Observed) -> bool:
        if observed.files is None or observed.machine is None:
            return False
        return baseline.holds(observed.files, observed.machine, fingerprint.now())

    def _same_machine(self, baseline: Baseline, target: Target) -> bool:
        with suppress(Unknown):
            return fingerprint.machine_state(target.root, target.ccc) == baseline.machine
        return False

    def _begin(self, target: Target, fetch: Fetch[T], observed: _Observed) -> _Refresh[T]:
        """Start a refreshing search, unless somebody else's index run is in its way."""
        reason = observed.unknown or self._reason(target, observed)
        if self._written_by_others(target):
            status = status_of(target)
            if status is not None and status.progress is not None:
                return _Refresh(None, observed, reason)
        observed = self._settled(observed, target.call.cancel)
        self._forget(target.root)
        ended: list[Progress | None] = []

        def run(cancel: Cancel) -> T:
            with self._failures.remembered(target.root, cancel):
                value = fetch(cancel, ended.append)
            if not _errors(ended):
                self._remember(target, observed)
            return value

        task = Task(run)
        with self._lock:
            self._running[target.root] = task
        return _Refresh(task, observed, reason, ended)

    def _end(self, target: Target, fetch: Fetch[T], refresh: _Refresh[T]) -> Found[T]:
        """Wait for a refreshing search where that is worth it; else search beside it."""
        task, observed = refresh.task, refresh.observed
        cancel = target.call.cancel
        if task is None:
            return self._beside(target, fetch, refresh.reason)
        try:
            if worth_waiting(task, target):
                value = task.result(cancel)
                return Found(
                    value,
                    refreshed=True,
                    reason=refresh.reason,
                    notes=refresh.notes(target.ccc.environ),
                    looked=observed.seconds,
                )
            return self._beside(target, fetch, refresh.reason)
        except Cancelled:
            task.cancel.press()
            raise

    def _beside(self, target: Target, fetch: Fetch[T], reason: str) -> Found[T]:
        """Search what the index holds while an index run goes on.

        Raises:
            Failure: ``indexing`` when there is nothing to search yet.
        """
        status = status_of(target)
        if status is not None and is_first(status):
            raise self._failures.unanswerable(target.root, status)
        with running(lambda own: fetch(own, None)) as task:
            while not task.wait(PATIENCE, target.call.cancel):
                status = status or status_of(target, task)
                late = time.monotonic() > target.started + LATER_ANSWER
                if late or (status is not None and is_first(status)):
                    raise self._failures.unanswerable(target.root, status)
            value = task.result(target.call.cancel)
        notes = (renewing(status),)
        return Found(value, refreshed=False, reason=reason, notes=notes, stale=True)

    def _settled(self, observed: _Observed, cancel: Cancel) -> _Observed:
        if observed.files is None:
            return observed
        try:
            fingerprint.settle(observed.files, fingerprint.now(), cancel)
        except Unknown as error:
            return replace(observed, files=None, unknown=str(error))
        return observed

    def _written_by_others(self, target: Target) -> bool:
        """Whether the index was written a moment ago, and not by a refresh of ours."""
        path = project.index_path(target.root, target.ccc.environ)
        with suppress(OSError):
            if time.time() - path.stat().st_mtime < RECENT:
                baseline = self._baseline(target.root)
                return baseline is None or baseline.machine.index != identity(path)
        return False

    def _reason(self, target: Target, observed: _Observed) -> str:
        baseline = self._baseline(target.root)
        if baseline is None:
            return "the first search of this session"
        if observed.machine != baseline.machine:
            return "the settings, the index, ccc or its daemon changed"
        return "files changed"

    def _remember(self, target: Target, observed: _Observed) -> None:
        if observed.files is None:
            return
        with suppress(Unknown, Failure):
            machine = fingerprint.machine_state(target.root, target.ccc)
            if machine.inputs != observed.inputs:
                return  # ccc may have read the ones before
            if not self._watch.untouched(observed.views, observed.files, target.call.cancel):
                return
            with self._lock:
                self._baselines[target.root] = Baseline(observed.files, machine, fingerprint.now())

    def _forget(self, root: Path) -> None:
        with self._lock:
            self._baselines.pop(root, None)

    def _baseline(self, root: Path) -> Baseline | None:
        with self._lock:
            return self._baselines.get(root)

    def _going_on(self, root: Path) -> Task[Any] | None:
        with self._lock:
            task = self._running.get(root)
            return None if task is None or task.done else task

    def close(self) -> None:
        """End what still runs."""
        with self._lock:
            tasks = list(self._running.values())
        for task in tasks:
            task.cancel.press()


def _errors(ended: list[Progress | None]) -> int:
    return max((progress.errors for progress in ended if progress is not None), default=0)


def _seen(synced: Synced) -> tuple[View, ...]:
    if synced.views is None:
        raise Unknown(synced.unknown)
    return synced.views
