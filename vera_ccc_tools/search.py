"""The tool ``ccc_search``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vera_ccc_tools import languages, output
from vera_ccc_tools.arguments import SearchArguments
from vera_ccc_tools.ccc import Ccc, Hit, Progress, Query
from vera_ccc_tools.process import Cancel
from vera_ccc_tools.refresh import Found
from vera_ccc_tools.session import Answer, Call, Session

if TYPE_CHECKING:
    from vera_ccc_tools.paths import PathFilter

Refreshed = Callable[[Progress | None], None]
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
    within = _within(arguments.path, call.cwd, root)
    target = _Target(ccc, root, _Wanted(arguments, wanted, within))
    refresher = session.refresher()
    if arguments.refresh_index:
        found = refresher.find(ccc, root, call, target.page)
    else:
        found = refresher.as_is(ccc, root, call, target.page)
    page = found.value
    if not page.hits and wanted and arguments.offset == 0:
        status = ccc.status(root, cancel=call.cancel)
        languages.check(wanted, tuple(name for name, _ in status.languages))
    return _answer(found, arguments, _View(root, call.cwd), started)


def _within(path: str | None, cwd: Path, root: Path) -> PathFilter | None:
    if path is None:
        return None
    from vera_ccc_tools import paths

    return paths.parse(path, cwd, root)


@dataclass(frozen=True, slots=True)
class _Wanted:
    arguments: SearchArguments
    languages: tuple[str, ...]
    within: PathFilter | None


@dataclass(frozen=True, slots=True)
class _Target:
    ccc: Ccc
    root: Path
    wanted: _Wanted

    def page(self, cancel: Cancel, refreshed: Refreshed | None) -> Page:
        arguments, within = self.wanted.arguments, self.wanted.within
        first, limit = arguments.offset, arguments.limit
        if within is None or within.matches is None:
            hits = self._hits(limit + 1, first, cancel, refreshed)
            return Page(hits[:limit], len(hits) > limit)
        fetch = max(FIRST_FETCH, 2 * (first + limit))
        while True:
            fetched = self._hits(fetch, 0, cancel, refreshed)
            hits = tuple(hit for hit in fetched if within.matches(hit.file_path))
            if len(hits) > first + limit or len(fetched) < fetch:
                return Page(hits[first : first + limit], len(hits) > first + limit)
            fetch, refreshed = fetch * 8, None

    def _hits(
        self, limit: int, offset: int, cancel: Cancel, refreshed: Refreshed | None
    ) -> tuple[Hit, ...]:
        cover = None if self.wanted.within is None else self.wanted.within.cover
        text, refresh = self.wanted.arguments.query, refreshed is not None
        query = Query(text, limit, offset, self.wanted.languages, cover, refresh)
        return self.ccc.search(self.root, query, cancel=cancel, refreshed=refreshed)


@dataclass(frozen=True, slots=True)
class _View:
    """From where paths are shown."""

    root: Path
    cwd: Path

    def path(self, hit: Hit) -> str:
        relative = os.path.relpath(self.root / hit.file_path, self.cwd)
        return output.clean_line(Path(relative).as_posix())


def _answer(found: Found[Page], arguments: SearchArguments, view: _View, started: float) -> Answer:
    page = found.value
    blocks = [_block(hit, view) for hit in page.hits]
    fitted = output.page(blocks, max_bytes=output.MAX_BYTES - 2048)
    shown = page.hits[: fitted.shown]
    lines = [fitted.text] if shown else []
    lines.append(_trailer(len(shown), len(page.hits), page.more, arguments))
    lines.extend(f"Note: {output.clean_line(note)}" for note in found.notes)
    details = {
        "results": [_row(hit) for hit in shown],
        "refreshed": found.refreshed,
        "refresh_reason": found.reason,
        "elapsed_ms": {**found.elapsed_ms(), "total": _ms(time.monotonic() - started)},
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
