"""Index runs that go on while somebody wants to search: how far they are, and what to say.

ccc's daemon indexes on whether or not its client waits, and a search that refreshes waits for the
end of the run. So the run is looked at, and waited for only when it is about to end.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vera_ccc_tools.ccc.client import Ccc, Status
from vera_ccc_tools.errors import Do, Failure, Step
from vera_ccc_tools.system import text
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel, Cancelled, Task

PATIENCE = 1.5
"""Seconds that a search waits for an answer before it asks whether an index run is in its way."""
MOST_PATIENCE = 3.0
"""Seconds that a search waits for its own refresh; then it takes the index as it is."""


@dataclass(frozen=True, slots=True)
class Target:
    """Which project, by which ccc, on whose behalf."""

    ccc: Ccc
    root: Path
    call: Call
    started: float = field(default_factory=time.monotonic)


def status_of(target: Target, task: Task[Any] | None = None) -> Status | None:
    """What the index holds, where ccc says so before the call is cancelled or *task* ends."""
    own = Cancel()
    with ExitStack() as stack:
        stack.enter_context(target.call.cancel.notifying(own.press))
        if task is not None:
            stack.enter_context(task.notifying(own.press))
        with suppress(Failure, Cancelled):
            return target.ccc.status(target.root, cancel=own)
    target.call.cancel.check()
    return None


def failed(errors: int, ccc: Ccc) -> str:
    """What to say of files that an index run failed at."""
    files = text.counted(errors, "file")
    return f"{files} could not be indexed; {ccc.places.daemon_log} says why."


def is_first(status: Status) -> bool:
    """Whether the index run that goes on builds the index from nothing."""
    progress = status.progress
    if progress is None:
        return False
    return progress.unchanged == 0 and progress.reprocessed == 0 and progress.added >= status.files


def still_indexing(root: Path, status: Status) -> Failure:
    """Why a search cannot be answered now; ``indexing``."""
    done = 0 if status.progress is None else status.progress.done
    return Failure(
        "indexing",
        f"The index of {root} is being built or checked by ccc's daemon: "
        f"{text.counted(done, 'file')} done so far.",
        Step(Do.LATER),
    )


def renewing(status: Status | None) -> str:
    """What the caller of a search that did not wait should know."""
    progress = None if status is None else status.progress
    done = "" if progress is None else f" ({text.counted(progress.done, 'file')} checked so far)"
    return (
        f"The index is being brought up to date{done}; these results are from what it held, and "
        "may miss the latest edits."
    )


def ends_soon(task: Task[Any], target: Target) -> bool:
    """Wait for a refresh to end; False when that takes too long, or it is the first of all."""
    if task.wait(PATIENCE, target.call.cancel):
        return True
    status = status_of(target, task)
    if status is not None and is_first(status):
        return False
    return task.wait(MOST_PATIENCE - task.age(), target.call.cancel)
