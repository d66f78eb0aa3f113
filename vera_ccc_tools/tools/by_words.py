"""The part that words have in a search: they look beside ccc, and answer where it does not."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from vera_ccc_tools.ccc.client import Hit, deadline_of
from vera_ccc_tools.errors import Do, Failure, Step
from vera_ccc_tools.refresh.index_runs import still_indexing
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel, Task, running
from vera_ccc_tools.tools.session import Session
from vera_ccc_tools.words import candidates
from vera_ccc_tools.words.candidates import Found
from vera_ccc_tools.words.scope import Wanted

STATUS = 0.7
"""Seconds for asking how far an index run is."""
ANYWAY = frozenset(("home_project", "invalid_argument"))
"""Failures of the call itself: no other search is a way out of them."""

Words = Task[Found]


def looking(
    session: Session, root: Path, query: str, wanted: Wanted
) -> AbstractContextManager[Words]:
    """Look for the words of *query* beside the block."""
    return running(
        lambda own: candidates.candidates(
            root, query, environment=session.environment, cancel=own, wanted=wanted
        )
    )


def join(hits: Sequence[Hit], words: Words, cancel: Cancel) -> tuple[tuple[Hit, ...], str]:
    """ccc's *hits* with what the words found, and by what they were found.

    Raises:
        Cancelled: While it waits.
    """
    try:
        return candidates.join(hits, words.result(cancel)), "both"
    except Failure:  # ccc has answered all the same
        return tuple(hits), "meaning"


def left(session: Session, started: float) -> float | None:
    """Seconds that a call that *started* then still waits for ccc; None for no limit.

    Raises:
        Failure: ``bad_setting``.
    """
    seconds = deadline_of("words", session.environment)
    return None if seconds is None else started + seconds - time.monotonic()


def late(session: Session, root: Path, call: Call) -> Failure:
    """Why ccc is not waited for any longer."""
    if not session.daemon.is_up:
        return Failure("daemon_starting", "ccc's daemon is starting.", Step(Do.SOON))
    with running(lambda own: session.ccc().status(root, cancel=own)) as asked, suppress(Failure):
        if asked.wait(STATUS, call.cancel):
            status = asked.result(call.cancel)
            if status.progress is not None:
                return still_indexing(root, status)
    seconds = deadline_of("words", session.environment) or 0
    message = f"ccc has not answered within {seconds:g} s."
    return Failure("late", message, Step(Do.LATER_OR_RESTART))
