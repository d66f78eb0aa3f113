"""The text of ``<ccc-status>``, at most ten lines.

It is the same bytes while nothing worth telling changed: a changed prompt costs the user the
provider's cache. So counts have two digits, and the small index runs that every search and every
start of the daemon brings are not shown.
"""

from __future__ import annotations

from pathlib import Path

from vera_ccc_tools.ccc import project
from vera_ccc_tools.ccc.client import Status
from vera_ccc_tools.errors import Front
from vera_ccc_tools.phrases import say
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.text import clean_line, rounded
from vera_ccc_tools.tools import overview
from vera_ccc_tools.tools.overview import Overview
from vera_ccc_tools.tools.session import Session

MAX_LINES = 10
MAX_LANGUAGES = 6


def text(session: Session, call: Call) -> str:
    """What a model should know about semantic search in the caller's directory.

    A project that has no index is not touched, and no process is started for it.
    """
    seen = overview.look(session, call)
    lines = _lines(seen, call.cwd)
    if seen.job is not None:
        lines.append(seen.job.line(Front.MODEL))
    return "\n".join(clean_line(line) for line in lines[:MAX_LINES])


def _lines(seen: Overview, cwd: Path) -> list[str]:
    if seen.failure is not None:
        unavailable = "Semantic code search is not available now."
        return [unavailable, seen.failure.message, say(seen.failure.step, Front.MODEL)]
    if seen.state == "none":
        how = "ccc_index" if project.find_repository(cwd) else "ccc_init, then ccc_index"
        return [
            "Semantic code search is not set up here: this is no ccc project.",
            f"To enable ccc_search, call {how}; use rg meanwhile.",
        ]
    if seen.state == "unindexed":
        return [
            "Semantic code search is not ready: this project has no index yet.",
            "To enable ccc_search, call ccc_index; use rg meanwhile.",
        ]
    return _indexed(seen)


def _indexed(seen: Overview) -> list[str]:
    status = seen.status
    size = f"{_about(status)}{_counted(status.files, 'file')}, {_counted(status.chunks, 'chunk')}"
    if seen.state == "indexing":
        return [
            f"The index of semantic code search is being built now: {size} so far.",
            "ccc_search does not find everything yet; use rg as well.",
        ]
    if seen.state == "empty":
        return [
            "The index of semantic code search is empty: no file matched, or none could be read.",
            "Use rg; ccc_doctor says what is wrong, if anything.",
        ]
    return [
        f"Semantic code search is ready (ccc_search): {size}.",
        f"Chunks by language: {_about(status)}{_languages(status)}.",
    ]


def _about(status: Status) -> str:
    """A word for counts that are rounded, as those of a hundred and more are."""
    return "about " if status.chunks >= 100 else ""


def _counted(number: int, noun: str) -> str:
    return f"{rounded(number)} {noun}{'' if number == 1 else 's'}"


def _languages(status: Status) -> str:
    named = [f"{name} {rounded(count)}" for name, count in status.languages]
    more = len(named) - MAX_LANGUAGES
    return ", ".join(named[:MAX_LANGUAGES]) + (f" and {more} more" if more > 0 else "")
