"""Whether the index of a project is as the disk is, by a look at git against the last refresh.

``ccc search --refresh`` walks the whole tree; git says sooner whether anything has changed.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vera_ccc_tools.ccc.client import Ccc, Progress, Status
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.refresh import fingerprint
from vera_ccc_tools.refresh.fingerprint import Files, Index, Inputs
from vera_ccc_tools.refresh.index_runs import Target, still_indexing
from vera_ccc_tools.sync.report import Synced
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.files import identity
from vera_ccc_tools.system.tasks import Task

QUICK_LOOK = 0.02
"""Seconds: where git answers faster than this, it is waited for instead of searching ahead."""
RECENT = 3.0
"""Seconds since the index was written within which somebody may still be writing it."""


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of a project at one time.

    Attributes:
        files: None where their state is not known.
        inputs: What else an index run reads.
        index: None where no daemon is up.
        why: Why a refresh is due; empty where it is not.
        notes: Lines that the caller should read.
        seconds: How long the sync and the look took.
    """

    files: Files | None
    inputs: Inputs
    index: Index | None
    why: str
    notes: tuple[str, ...]
    seconds: float

    @property
    def fresh(self) -> bool:
        """Whether the index is as the disk is."""
        return not self.why


@dataclass(frozen=True, slots=True)
class _Baseline:
    """What was so at the last refresh that went well: what it read, and what it left."""

    digest: bytes
    inputs: Inputs
    index: Index


class Refresher:
    """Remembers the state of one project at its last refresh by this process.

    Attributes:
        turn: Held by a call while it looks and begins a refresh.
    """

    def __init__(self, root: Path, environment: Environment) -> None:
        self.turn = threading.Lock()
        self._root = root
        self._watch = fingerprint.Watch(environment)
        self._baseline: _Baseline | None = None
        self._looked = 0.0
        self._task: Task[Any] | None = None
        self._failure: Failure | None = None

    @property
    def knows(self) -> bool:
        """Whether there has been a refresh that a look can be compared with."""
        return self._baseline is not None and self.going_on is None

    @property
    def looks_slowly(self) -> bool:
        """Whether a look is worth searching beside it; a first one is followed by a refresh."""
        return self._baseline is not None and self._looked > QUICK_LOOK

    @property
    def going_on(self) -> Task[Any] | None:
        """The refresh of ours that runs now."""
        task = self._task
        return None if task is None or task.done else task

    def look(self, target: Target, synced: Synced, asked: float) -> Look:
        """Look at the disk by *synced*, git's answers, which was *asked* at that monotonic time."""
        inputs = fingerprint.inputs(self._root, target.ccc)
        files, why = None, synced.unknown
        if synced.views is not None:
            try:
                files = self._watch.files(synced.views, target.call.cancel)
            except Failure as failure:
                why = failure.message
        index = fingerprint.index(self._root, target.ccc)
        if files is not None:
            why = self._why(files, inputs, index)
        self._looked = time.monotonic() - asked
        return Look(files, inputs, index, why, synced.notes, self._looked)

    def _why(self, files: Files, inputs: Inputs, index: Index | None) -> str:
        baseline = self._baseline
        if index is None:
            return "no daemon is up"
        if baseline is None:
            return "the first search of this session"
        if (inputs, index) != (baseline.inputs, baseline.index):
            return "the settings, the index, ccc or its daemon changed"
        return "" if files.digest == baseline.digest else "files changed"

    def is_unwritten(self, target: Target, look: Look) -> bool:
        """Whether nobody has written the index, or restarted the daemon, since *look*."""
        return fingerprint.index(self._root, target.ccc) == look.index

    def is_fresh(self, look: Look, *, sync_due: bool) -> bool | None:
        """Whether *look* finds the index as the disk is; None where that is not known."""
        baseline = self._baseline
        if baseline is None or look.files is None:
            return None
        if sync_due or (look.files.digest, look.inputs) != (baseline.digest, baseline.inputs):
            return False
        # An index that somebody else has written since may hold anything.
        return True if look.index == baseline.index else None

    def is_written_by_others(self, ccc: Ccc) -> bool:
        """Whether the index was written a moment ago, and not by a refresh of ours."""
        path, baseline = ccc.places.index(self._root), self._baseline
        with suppress(OSError):
            if time.time() - path.stat().st_mtime < RECENT:
                return baseline is None or baseline.index.database != identity(path)
        return False

    def begin(self, task: Task[Any]) -> None:
        """Note the refresh that goes on now."""
        self._task = task

    def forget(self) -> None:
        """Take nothing for fresh until the next refresh that goes well."""
        self._baseline = None

    def remember(self, before: Look, after: Look, run: Progress | None) -> None:
        """Note what an index run between two looks has read and left, if they saw the same.

        What was changed before the run has read it, and back after that, goes unseen by git.
        """
        self._failure = None
        if run is not None and run.errors:
            return
        if before.files is None or after.files is None or after.index is None:
            return
        digest, inputs = before.files.digest, before.inputs
        if before.files.settled and (digest, inputs) == (after.files.digest, after.inputs):
            self._baseline = _Baseline(digest, inputs, after.index)

    def fail(self, failure: Failure) -> None:
        """Note why a refresh failed, for which nobody may have waited."""
        self._failure = failure

    def unanswerable(self, status: Status) -> Failure:
        """Why there is nothing to search: what ended the last run, where this one has nothing."""
        if self._failure is None or status.chunks > 0:
            return still_indexing(self._root, status)
        return self._failure

    def close(self) -> None:
        """End the refresh that still runs."""
        if self._task is not None:
            self._task.cancel.press()
