"""The tool ``ccc_search``."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vera_ccc_tools import languages, output, paths
from vera_ccc_tools.arguments import SearchArguments
from vera_ccc_tools.ccc import Ccc, Hit, Query
from vera_ccc_tools.paths import PathFilter
from vera_ccc_tools.session import Answer, Call, Session

FIRST_FETCH = 100
"""Hits asked of ccc at first where they are filtered afterwards; a hundred cost little more."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of results.

    Attributes:
        hits: At most as many as were asked for.
        more: Whether there are further ones.
    """

    hits: tuple[Hit, ...]
    more: bool


def search(session: Session, call: Call, arguments: SearchArguments) -> Answer:
    """Search the project around the caller's directory by meaning.

    Raises:
        Failure: When there is no ccc, no project, no index, or ccc fails.
    """
    started = time.monotonic()
    ccc = session.ccc()
    root = session.indexed_root(call.cwd)
    wanted = languages.canonical(arguments.languages)
    within = None if arguments.path is None else paths.parse(arguments.path, call.cwd, root)
    notes = session.sync(root, call, always=arguments.refresh_index)
    synced = time.monotonic()
    page = _page(ccc, root, call, _Wanted(arguments, wanted, within))
    if not page.hits and wanted and arguments.offset == 0:
        status = ccc.status(root, cancel=call.cancel)
        languages.check(wanted, tuple(name for name, _ in status.languages))
    ended = time.monotonic()
    elapsed = {
        "sync": _ms(synced - started),
        "ccc": _ms(ended - synced),
        "total": _ms(ended - started),
    }
    return _answer(page, arguments, _View(root, call.cwd), notes, elapsed)


@dataclass(frozen=True, slots=True)
class _Wanted:
    arguments: SearchArguments
    languages: tuple[str, ...]
    within: PathFilter | None


def _page(ccc: Ccc, root: Path, call: Call, wanted: _Wanted) -> Page:
    first, limit = wanted.arguments.offset, wanted.arguments.limit
    within, refresh = wanted.within, wanted.arguments.refresh_index
    if within is None or within.matches is None:
        cover = None if within is None else within.cover
        query = Query(wanted.arguments.query, limit + 1, first, wanted.languages, cover, refresh)
        hits = ccc.search(root, query, cancel=call.cancel)
        return Page(hits[:limit], len(hits) > limit)
    fetch = max(FIRST_FETCH, 2 * (first + limit))
    while True:
        query = Query(wanted.arguments.query, fetch, 0, wanted.languages, within.cover, refresh)
        found = ccc.search(root, query, cancel=call.cancel)
        hits = tuple(hit for hit in found if within.matches(hit.file_path))
        if len(hits) > first + limit or len(found) < fetch:
            return Page(hits[first : first + limit], len(hits) > first + limit)
        fetch, refresh = fetch * 8, False


@dataclass(frozen=True, slots=True)
class _View:
    """From where paths are shown."""

    root: Path
    cwd: Path

    def path(self, hit: Hit) -> str:
        relative = os.path.relpath(self.root / hit.file_path, self.cwd)
        return output.clean_line(Path(relative).as_posix())


def _answer(
    page: Page,
    arguments: SearchArguments,
    view: _View,
    notes: Sequence[str],
    elapsed: dict[str, float],
) -> Answer:
    fitted = output.page(
        [_block(hit, view) for hit in page.hits], max_bytes=output.MAX_BYTES - 2048
    )
    shown = page.hits[: fitted.shown]
    lines = [fitted.text] if shown else []
    lines.append(_trailer(len(shown), len(page.hits), page.more, arguments))
    lines.extend(f"Note: {output.clean_line(note)}" for note in notes)
    details = {
        "results": [_row(hit) for hit in shown],
        "refreshed": arguments.refresh_index,
        "elapsed_ms": elapsed,
    }
    return Answer("\n\n".join(lines), details)


def _block(hit: Hit, view: _View) -> str:
    where = f"{view.path(hit)}:{hit.start_line}-{hit.end_line}"
    return f"{where} [{hit.language}] {hit.score:.3f}\n{output.clean(hit.content).rstrip()}"


def _row(hit: Hit) -> dict[str, Any]:
    return {
        "file_path": hit.file_path,
        "language": hit.language,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "score": hit.score,
    }


def _trailer(shown: int, found: int, more: bool, arguments: SearchArguments) -> str:  # noqa: FBT001
    if not found:
        return _nothing(arguments)
    first = arguments.offset + 1
    text = f"Results {first} to {arguments.offset + shown}" if shown > 1 else f"Result {first}"
    following = arguments.offset + shown
    if shown < found:
        left = output.counted(found - shown, "result")
        return f"[{text}; {left} left out for length: go on with offset {following}.]"
    if more:
        return f"[{text}; there are more: go on with offset {following}.]"
    return f"[{text}; no more.]"


def _nothing(arguments: SearchArguments) -> str:
    if arguments.offset:
        return f"No results from offset {arguments.offset} on: the ones before it were all."
    filters = [name for name in ("languages", "path") if getattr(arguments, name) not in (None, ())]
    advice = f"Try without {' and '.join(f'`{name}`' for name in filters)}. " if filters else ""
    return (
        f"No results. {advice}Describe what the code does rather than its name, "
        "or use rg for exact text."
    )


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
