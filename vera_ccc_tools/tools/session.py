"""What one worker, or one command, remembers between calls: syncs and background commands."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vera_ccc_tools.ccc import project
from vera_ccc_tools.ccc.client import Ccc
from vera_ccc_tools.ccc.daemon import Daemon
from vera_ccc_tools.ccc.places import Places
from vera_ccc_tools.errors import Do, Failure, Front, Step
from vera_ccc_tools.git.git import Git
from vera_ccc_tools.phrases import named, tell
from vera_ccc_tools.refresh.refresher import Refresher
from vera_ccc_tools.sync.report import Synced, summary
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel, Cancelled, Task
from vera_ccc_tools.tools.answer import Answer

if TYPE_CHECKING:
    from vera_ccc_tools.gitignore_sync import Syncer

__all__ = ["SYNC_SWITCH", "Answer", "Call", "Job", "Session"]

SYNC_SWITCH = "VERA_CCC_GITIGNORE_SYNC"
OFF = {"0", "false", "no", "off"}
END_SECONDS = 5.0
"""Seconds that all background commands together may take to end."""


class Job(Task[Answer]):
    """A tool that runs in the background, and in the end its answer."""

    def __init__(self, tool: str, run: Callable[[Cancel], Answer]) -> None:
        super().__init__(run)
        self.tool = tool

    @property
    def failed(self) -> bool:
        """Whether it has ended without doing what it was for."""
        return bool(self._problem(Front.MODEL))

    def line(self, front: Front) -> str:
        """How it goes or ended, in one line."""
        tool = named(self.tool, front)
        if not self.done:
            return f"{tool} is running in the background."
        problem = self._problem(front)
        if problem:
            return f"{tool} in the background failed: {problem}"
        return f"{tool} in the background is done."

    def _problem(self, front: Front) -> str:
        if not self.done:
            return ""
        try:
            answer = self.result(Cancel())
        except Failure as failure:
            return " ".join(tell(failure, front).split())
        except Cancelled as cancelled:
            return str(cancelled)
        except Exception as error:  # noqa: BLE001 - a bug, shown where the answer would be
            return f"{self.tool} failed by a bug of its own: {error!r}"
        return answer.text.splitlines()[0] if answer.failed else ""


class Session:
    """The state behind the tools. Its methods may be called from any thread."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        self.environment = Environment(variables)
        self.places = Places(self.environment)
        self.daemon = Daemon(self.places)
        self._lock = threading.Lock()
        self._syncer: Syncer | None = None
        self._refreshers: dict[Path, Refresher] = {}
        self._synced: set[Path] = set()
        self._jobs: dict[Path, Job] = {}
        self._left: list[Task[Any]] = []

    def ccc(self) -> Ccc:
        """The installed ccc, looked for anew so that an install or upgrade is seen.

        Raises:
            Failure: ``ccc_missing``.
        """
        return Ccc.locate(self.environment)

    def root_of(self, cwd: Path) -> Path | None:
        """The project that *cwd* belongs to.

        A repository inside of a project, such as a linked work tree that an agent has made, is a
        part of it unless git ignores its place there: then its files are not in that index.
        """
        root, own = project.find_root(cwd), project.find_git_root(cwd)
        if root is None or own is None or own == root or not own.is_relative_to(root):
            return root
        with suppress(Failure):  # where git cannot be asked, the project is as ccc has it
            place = os.fsencode(own.relative_to(root))
            return None if Git.find(self.environment).rules(root, [place]) else root
        return root

    def searched_root(self, cwd: Path) -> Path:
        """What is searched from *cwd*: its project, or its repository, or the directory itself."""
        return self.root_of(cwd) or project.find_repository(cwd) or cwd

    def indexed_root(self, cwd: Path) -> Path:
        """The root of the project around *cwd*, which has an index.

        Raises:
            Failure: ``not_initialized``, ``not_indexed`` or ``home_project``.
        """
        root = self.root_of(cwd)
        if root is None:
            raise Failure("not_initialized", f"{cwd} belongs to no ccc project.", how_to_begin(cwd))
        if not self.places.is_indexed(root):
            project.check_root(root, cwd)
            raise Failure(
                "not_indexed",
                f"The project {root} has no index yet.",
                Step(Do.INDEX),
            )
        return root

    @property
    def sync_is_off(self) -> bool:
        """Whether the user has turned the sync off."""
        return self.environment.get(SYNC_SWITCH).strip().lower() in OFF

    def sync(self, root: Path, call: Call, *, always: bool) -> Synced:
        """Keep ccc's exclusions equal to what git ignores.

        Not *always* means: only when this session has not done so yet, since the first ccc
        command for a project may start an index run by itself. A sync that fails is reported in a
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
            note = f"The ignore rules could not be brought up to date: {failure.message}"
            return Synced((note,), unknown=failure.message)
        with self._lock:
            self._synced.add(root)
        return summary(report)

    def foresee(self, root: Path, call: Call) -> Synced:
        """What a sync would rest on and come to; nothing is written."""
        if self.sync_is_off:
            return Synced(unknown="the sync is turned off")
        try:
            return summary(self.syncer().sync(root, cancel=call.cancel, dry_run=True))
        except Failure as failure:
            return Synced(unknown=failure.message)

    def syncer(self) -> Syncer:
        """The one `Syncer` of this session."""
        from vera_ccc_tools.gitignore_sync import Syncer

        with self._lock:
            if self._syncer is None:
                self._syncer = Syncer(self.environment)
            return self._syncer

    def refresher(self, root: Path) -> Refresher:
        """The one `Refresher` of the project at *root*."""
        with self._lock:
            if root not in self._refreshers:
                self._refreshers[root] = Refresher(root, self.environment)
            return self._refreshers[root]

    def job(self, root: Path) -> Job | None:
        """The background command of the project at *root*: the one that runs, or ran last."""
        with self._lock:
            return self._jobs.get(root)

    def start(self, root: Path, tool: str, run: Callable[[Cancel], Answer]) -> Job:
        """Run *run* in the background, unless a background command of *root* runs already."""
        with self._lock:
            job = self._jobs.get(root)
            if job is None or job.done:
                job = self._jobs[root] = Job(tool, run)
            return job

    def finish(self, front: Front) -> list[str]:
        """Wait for what runs in the background; say of each how it ended."""
        jobs = self._all_jobs()
        for job in jobs:
            job.wait(None, Cancel())
        return [job.line(front) for job in jobs]

    def close(self) -> None:
        """End what runs in the background."""
        for task in self._left:
            task.cancel.press()
        jobs = self._all_jobs()
        for job in jobs:
            job.cancel.press()
        for refresher in list(self._refreshers.values()):
            refresher.close()
        until = time.monotonic() + END_SECONDS
        for job in jobs:
            job.wait(until - time.monotonic(), Cancel())

    def leave(self, task: Task[Any]) -> None:
        """Let *task* come to its end though nobody waits for it: it may end a refresh."""
        with self._lock:
            self._left = [task, *(each for each in self._left if not each.done)]

    def _all_jobs(self) -> list[Job]:
        with self._lock:
            return list(self._jobs.values())


def how_to_begin(cwd: Path) -> Step:
    """What makes a project of *cwd*: its repository is indexed, or it is made one itself."""
    repository = project.find_repository(cwd)
    return Step(Do.INIT) if repository is None else Step(Do.INDEX_REPOSITORY, repository)
