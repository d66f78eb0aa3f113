"""The tool ``ccc_search``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vera_ccc_tools import languages, merging, output, ranking
from vera_ccc_tools.arguments import SearchArguments
from vera_ccc_tools.ccc import Ccc, Hit, Progress, Query
from vera_ccc_tools.process import Cancel
from vera_ccc_tools.refresh import Found
from vera_ccc_tools.session import Answer, Call, Session

if TYPE_CHECKING:
    from vera_ccc_tools.paths import PathFilter

Refreshed = Callable[[Progress | None], None]
GROWTH = 8
"""How many times more is asked of ccc where too few of its hits are of the wanted path."""
MAX_FILE = 4 * 1024 * 1024
"""Bytes of a file that are read to show its lines whole."""
KNN_LIMIT = 4096
"""Hits that ccc's vector index gives at most (sqlite-vec); a filter of the path makes it scan."""


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
        """The wanted page: of our order as far as ccc's best hits go, then of ccc's own."""
        arguments = self.wanted.arguments
        end = arguments.offset + arguments.limit + 1
        if arguments.rank == "ccc":
            results = self._first(end, cancel, refreshed)
            return _cut(results, arguments)
        hits = self._first(ranking.CANDIDATES, cancel, refreshed)
        results = self._ranked(hits)
        if len(results) < end and len(hits) >= ranking.CANDIDATES:
            wanted = ranking.CANDIDATES + end - len(results)
            results += self._first(wanted, cancel, None)[ranking.CANDIDATES :]
        return _cut(results, arguments)

    def _ranked(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        within = self.wanted.within
        per_file = None if within is not None and within.one_file else merging.PER_FILE
        ranked = ranking.rank(self.wanted.arguments.query, hits)
        return merging.arrange(ranked, per_file=per_file).hits

    def _first(self, count: int, cancel: Cancel, refreshed: Refreshed | None) -> tuple[Hit, ...]:
        """The first *count* hits of the wanted path in ccc's order, fewer where there are not."""
        matches = None if self.wanted.within is None else self.wanted.within.matches
        asked = count
        while True:
            found = self._hits(asked, cancel, refreshed)
            hits = (
                found if matches is None else tuple(hit for hit in found if matches(hit.file_path))
            )
            if len(hits) >= count or len(found) < asked:
                return hits[:count]
            asked, refreshed = asked * GROWTH, None

    def _hits(self, limit: int, cancel: Cancel, refreshed: Refreshed | None) -> tuple[Hit, ...]:
        cover = None if self.wanted.within is None else self.wanted.within.cover
        if cover is None and limit > KNN_LIMIT:
            cover = "*"
        text, refresh = self.wanted.arguments.query, refreshed is not None
        query = Query(text, limit, 0, self.wanted.languages, cover, refresh)
        return self.ccc.search(self.root, query, cancel=cancel, refreshed=refreshed)


def _cut(results: tuple[Hit, ...], arguments: SearchArguments) -> Page:
    end = arguments.offset + arguments.limit
    return Page(results[arguments.offset : end], len(results) > end)


@dataclass(frozen=True, slots=True)
class _View:
    """From where paths are shown."""

    root: Path
    cwd: Path

    def whole(self, hit: Hit) -> Hit:
        """The hit with its lines as they are in the file, indentation included."""
        try:
            with (self.root / hit.file_path).open("rb") as file:
                text = file.read(MAX_FILE).decode("utf-8", "replace")
        except (OSError, ValueError):
            return hit
        return merging.restore(hit, text.replace("\r\n", "\n"))

    def path(self, hit: Hit) -> str:
        relative = os.path.relpath(self.root / hit.file_path, self.cwd)
        return output.clean_line(Path(relative).as_posix())


def _answer(found: Found[Page], arguments: SearchArguments, view: _View, started: float) -> Answer:
    page = found.value
    blocks = [_block(view.whole(hit), view) for hit in page.hits]
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
