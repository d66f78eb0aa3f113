"""What one worker, or one command, remembers between calls: syncs and background commands."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from vera_ccc_tools import project
from vera_ccc_tools.calls import Answer, Call, Job, Synced
from vera_ccc_tools.ccc import Ccc
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.process import Cancel

if TYPE_CHECKING:
    from vera_ccc_tools.gitignore_sync import Report, Syncer
    from vera_ccc_tools.refresh import Refresher

__all__ = ["SYNC_SWITCH", "Answer", "Call", "Job", "Session", "Synced"]

SYNC_SWITCH = "VERA_CCC_GITIGNORE_SYNC"
OFF = {"0", "false", "no", "off"}
END_SECONDS = 5.0
"""Seconds that all background commands together may take to end."""


class Session:
    """The state behind the tools. Its methods may be called from any thread."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self.environ = dict(os.environ if environ is None else environ)
        self._lock = threading.Lock()
        self._syncer: Syncer | None = None
        self._refresher: Refresher | None = None
        self._synced: set[Path] = set()
        self._jobs: dict[Path, Job] = {}
        self._threads: list[threading.Thread] = []

    def ccc(self) -> Ccc:
        """The installed ccc, looked for anew so that an install or upgrade is seen.

        Raises:
            Failure: ``ccc_missing``.
        """
        return Ccc.locate(self.environ)

    def indexed_root(self, cwd: Path) -> Path:
        """The root of the project around *cwd*, which has an index.

        Raises:
            Failure: ``not_initialized``, ``not_indexed`` or ``home_project``.
        """
        root = project.find_root(cwd)
        if root is None:
            repository = project.find_repository(cwd)
            how = f"Call ccc_index, which initializes and indexes {repository}."
            if repository is None:
                how = "Call ccc_init, then ccc_index, if this directory is to be indexed."
            raise Failure(
                "not_initialized",
                f"{cwd} belongs to no ccc project.",
                f"{how} Use rg meanwhile.",
            )
        if not project.is_indexed(root, self.environ):
            project.check_root(root, cwd)
            raise Failure(
                "not_indexed",
                f"The project {root} has no index yet.",
                "Call ccc_index to build it; use rg meanwhile.",
            )
        return root

    @property
    def sync_is_off(self) -> bool:
        """Whether the user has turned the sync off."""
        return self.environ.get(SYNC_SWITCH, "").strip().lower() in OFF

    def sync(self, root: Path, call: Call, *, always: bool) -> Synced:
        """Keep ccc's exclusions equal to what git ignores.

        Not *always* means: only when this session has not done so yet, since the first ccc
        command for a project may start an index run by itself. A sync that fails is told in a
        note: the call that it comes before can still be answered.
        """
        if self.sync_is_off:
            return Synced(unknown="the sync is turned off")
        with self._lock:
            if root in self._synced and not always:
                return Synced(unknown="the sync was not due")
        try:
            report = self.syncer().sync(root, cancel=call.cancel)
        except Failure as failure:
            call.cancel.check()
            note = f"The ignore rules could not be brought up to date: {failure.message}"
            return Synced((note,), unknown=failure.message)
        with self._lock:
            self._synced.add(root)
        return _synced(report)

    def foresee(self, root: Path, call: Call) -> Synced:
        """What a sync would rest on and come to; nothing is written."""
        if self.sync_is_off:
            return Synced(unknown="the sync is turned off")
        try:
            return _synced(self.syncer().sync(root, cancel=call.cancel, dry_run=True))
        except Failure as failure:
            call.cancel.check()
            return Synced(unknown=failure.message)

    def syncer(self) -> Syncer:
        """The one `Syncer` of this session."""
        from vera_ccc_tools.gitignore_sync import Syncer

        with self._lock:
            if self._syncer is None:
                self._syncer = Syncer()
            return self._syncer

    def refresher(self) -> Refresher:
        """The one `Refresher` of this session."""
        from vera_ccc_tools.refresh import Refresher

        with self._lock:
            if self._refresher is None:
                self._refresher = Refresher(self)
            return self._refresher

    def job(self, root: Path) -> Job | None:
        """The background command of the project at *root*: the one that runs, or ran last."""
        with self._lock:
            return self._jobs.get(root)

    def start(self, root: Path, tool: str, run: Callable[[Cancel], Answer]) -> Job:
        """Run *run* in the background, unless a background command of *root* runs already."""
        with self._lock:
            current = self._jobs.get(root)
            if current is not None and current.running:
                return current
            job = self._jobs[root] = Job(tool)
            thread = threading.Thread(target=_run_job, args=(job, run), daemon=True)
            self._threads.append(thread)
        thread.start()
        return job

    def finish(self) -> list[str]:
        """Wait for what runs in the background; say of each how it ended."""
        for thread in list(self._threads):
            thread.join()
        return [job.line() for job in self._jobs.values()]

    def close(self) -> None:
        """End what runs in the background."""
        with self._lock:
            jobs, threads = list(self._jobs.values()), list(self._threads)
        for job in jobs:
            job.cancel.press()
        if self._refresher is not None:
            self._refresher.close()
        until = time.monotonic() + END_SECONDS
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))


def _run_job(job: Job, run: Callable[[Cancel], Answer]) -> None:
    try:
        job.outcome = run(job.cancel)
    except Failure as failure:
        job.outcome = failure
    except Exception as error:  # noqa: BLE001 - a bug must end the job, not leave it running
        job.outcome = Failure("internal", f"{job.tool} failed by a bug of its own: {error!r}")


def _synced(report: Report) -> Synced:
    unknown = _unknown(report)
    views = None
    if not unknown and report.survey is not None:
        views = tuple((part.repository, part.status) for part in report.survey.parts)
    return Synced(report.warnings, views, unknown, report.changed and not report.written)


def _unknown(report: Report) -> str:
    """Why git's answers do not tell all that ccc would see; empty where they do."""
    if report.survey is None:
        return "git has no say here"
    if report.warnings:
        return report.warnings[0]
    if report.negated:
        return "a `!` pattern in the settings lets ignored paths in"
    if any(not _is_text(path) for path, _reason in report.left_out):
        return "an ignored path has a name that no pattern can express"
    return ""


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
