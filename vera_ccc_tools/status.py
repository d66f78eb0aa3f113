"""The text of ``<ccc-status>``, at most ten lines.

It is the same bytes while nothing worth telling changed: a changed prompt costs the user the
provider's cache. So counts have two digits, and the small index runs that every search and every
start of the daemon brings are not told.
"""

from __future__ import annotations

from pathlib import Path

from vera_ccc_tools import output, project
from vera_ccc_tools.ccc import Status
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.session import Call, Session

MAX_LINES = 10
MAX_LANGUAGES = 6


def text(session: Session, call: Call) -> str:
    """What a model should know about semantic search in the caller's directory.

    A project that has no index is not touched, and no process is started for it.
    """
    root = project.find_root(call.cwd)
    try:
        session.ccc()
        lines = _unindexed(call.cwd, root, session) or _indexed(session, call, root)
    except Failure as failure:
        if failure.code == "cancelled":
            raise
        lines = _failed(failure)
    lines = [*lines, *_background(session, root or call.cwd)]
    return "\n".join(output.clean_line(line) for line in lines[:MAX_LINES])


def _unindexed(cwd: Path, root: Path | None, session: Session) -> list[str]:
    if root is None:
        repository = project.find_repository(cwd)
        how = "ccc_index" if repository else "ccc_init, then ccc_index"
        return [
            "Semantic code search is not set up here: this is no ccc project.",
            f"To enable ccc_search, call {how}; use rg meanwhile.",
        ]
    if not project.is_indexed(root, session.environ):
        return [
            "Semantic code search is not ready: this project has no index yet.",
            "To enable ccc_search, call ccc_index; use rg meanwhile.",
        ]
    return []


def _indexed(session: Session, call: Call, root: Path | None) -> list[str]:
    assert root is not None
    session.sync(root, call, always=False)
    status = session.ccc().status(root, cancel=call.cancel)
    size = f"{_about(status)}{_counted(status.files, 'file')}, {_counted(status.chunks, 'chunk')}"
    if _grows(status):
        return [
            f"The index of semantic code search is being built now: {size} so far.",
            "ccc_search does not find everything yet; use rg as well.",
        ]
    if status.chunks == 0:
        return [
            "The index of semantic code search is empty: no file matched, or none could be read.",
            "Use rg; ccc_doctor tells what is wrong, if anything.",
        ]
    return [
        f"Semantic code search is ready (ccc_search): {size}.",
        f"Chunks by language: {_about(status)}{_languages(status)}.",
    ]


def _grows(status: Status) -> bool:
    """Whether an index run is going on that changes more than a tenth of the index."""
    if status.progress is None:
        return False
    changed = status.progress.added + status.progress.reprocessed
    return status.files == 0 or changed * 10 > status.files


def _about(status: Status) -> str:
    """A word for counts that are rounded, as those of a hundred and more are."""
    return "about " if status.chunks >= 100 else ""


def _counted(number: int, noun: str) -> str:
    return f"{output.rounded(number)} {noun}{'' if number == 1 else 's'}"


def _languages(status: Status) -> str:
    named = [f"{name} {output.rounded(count)}" for name, count in status.languages]
    more = len(named) - MAX_LANGUAGES
    return ", ".join(named[:MAX_LANGUAGES]) + (f" and {more} more" if more > 0 else "")


def _failed(failure: Failure) -> list[str]:
    return ["Semantic code search is not available now.", failure.message, failure.hint]


def _background(session: Session, root: Path) -> list[str]:
    job = session.job(root)
    return [] if job is None else [job.line()]
