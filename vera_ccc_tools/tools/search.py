"""The tool ``ccc_search``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vera_ccc_tools.ccc import languages, project
from vera_ccc_tools.ccc.client import Ccc, Hit, Progress, Query
from vera_ccc_tools.errors import Do, Failure, Front, Step
from vera_ccc_tools.phrases import say
from vera_ccc_tools.ranking import preview, rank
from vera_ccc_tools.ranking.results import PER_FILE, arrange, beyond, restore
from vera_ccc_tools.refresh.refresher import Found
from vera_ccc_tools.system import text as output
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import SearchArguments
from vera_ccc_tools.tools.session import Session

if TYPE_CHECKING:
    from vera_ccc_tools.ccc.path_filter import PathFilter

Refreshed = Callable[[Progress | None], None]
WINDOWS = (400, 2000)
"""Hits asked of ccc at a time where they are filtered afterwards, at first and further on."""
MOST_LOOKED_AT = 30_000
"""Hits that are filtered at most; a path that so few of the best match should be named closer."""
_CUT = f"Only the best {MOST_LOOKED_AT:,} chunks were looked through for `path`; name it closer."
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
        cut: Whether ccc had further hits that were not looked at.
    """

    hits: tuple[Hit, ...]
    more: bool
    cut: bool = False


def search(session: Session, call: Call, arguments: SearchArguments) -> Answer:
    """Search the project around the caller's directory by meaning.

    Raises:
        Failure: When there is no ccc, no project, no index, or ccc fails.
    """
    started = time.monotonic()
    ccc = session.ccc().in_call(started)
    root = session.indexed_root(call.cwd)
    if arguments.refresh_index:
        project.check_root(root, call.cwd)
    wanted = languages.canonical(arguments.languages)
    within = _within(arguments.path, call.cwd, root)
    target = _Target(ccc, root, _Wanted(arguments, wanted, within))
    refresher = session.refresher()
    if any(name not in languages.KNOWN for name in wanted):
        session.sync(root, call, always=False)
        _check_languages(ccc, root, call, wanted)
    if arguments.refresh_index:
        found = refresher.find(ccc, root, call, target.page)
    else:
        found = refresher.as_is(ccc, root, call, target.page)
    if not found.value.hits and wanted and arguments.offset == 0:
        _check_languages(ccc, root, call, wanted)
    return _answer(found, arguments, _View(root, call.cwd, call.front), started)


def find(session: Session, call: Call, query: str) -> Found[tuple[Hit, ...]]:
    """The chunks that a search orders, best first, before results are made of them.

    Raises:
        Failure: As `search` does.
    """
    ccc = session.ccc().in_call(time.monotonic())
    root = session.indexed_root(call.cwd)
    project.check_root(root, call.cwd)
    target = _Target(ccc, root, _Wanted(SearchArguments(query), (), None))
    return session.refresher().find(ccc, root, call, target.ranked)


def _check_languages(ccc: Ccc, root: Path, call: Call, wanted: tuple[str, ...]) -> None:
    try:
        indexed = ccc.status(root, cancel=call.cancel).languages
    except Failure:
        return  # a status that is late is no reason to fail a search
    languages.check(wanted, tuple(name for name, _ in indexed))


def _within(path: str | None, cwd: Path, root: Path) -> PathFilter | None:
    if path is None:
        return None
    from vera_ccc_tools.ccc import path_filter

    return path_filter.parse(path, cwd, root)


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
        source = _Source(self, cancel, refreshed)
        if arguments.rank == "ccc":
            wanted = source.take(arguments.offset, arguments.limit + 1)
            return Page(wanted[: arguments.limit], len(wanted) > arguments.limit, source.cut)
        results = self._results(source.take(0, rank.CANDIDATES))
        end = arguments.offset + arguments.limit
        shown = results[arguments.offset : end + 1]
        further = beyond(
            arguments.offset,
            arguments.limit + 1,
            results=len(results),
            candidates=rank.CANDIDATES,
        )
        if further is not None:
            shown += source.take(*further)
        return Page(shown[: arguments.limit], len(shown) > arguments.limit, source.cut)

    def ranked(self, cancel: Cancel, refreshed: Refreshed | None) -> tuple[Hit, ...]:
        """ccc's best chunks in our order."""
        candidates = _Source(self, cancel, refreshed).take(0, rank.CANDIDATES)
        return rank.rank(self.wanted.arguments.query, candidates)

    def _results(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        within = self.wanted.within
        per_file = None if within is not None and within.one_file else PER_FILE
        ranked = rank.rank(self.wanted.arguments.query, hits)
        return arrange(ranked, per_file=per_file).hits

    def hits(
        self, offset: int, limit: int, cancel: Cancel, refreshed: Refreshed | None
    ) -> tuple[Hit, ...]:
        """ccc's own page, of what the covering pattern lets through."""
        cover = None if self.wanted.within is None else self.wanted.within.cover
        if cover is None and offset + limit > KNN_LIMIT:
            cover = "*"
        text, refresh = self.wanted.arguments.query, refreshed is not None
        query = Query(text, limit, offset, self.wanted.languages, cover, refresh)
        return self.ccc.search(self.root, query, cancel=cancel, refreshed=refreshed)


class _Source:
    """The hits of the wanted path in ccc's order, asked of ccc as far as they are needed."""

    def __init__(self, target: _Target, cancel: Cancel, refreshed: Refreshed | None) -> None:
        self._target = target
        self._cancel = cancel
        self._refreshed = refreshed
        within = target.wanted.within
        self._matches = None if within is None else within.matches
        self._taken: list[Hit] = []
        self._asked = 0
        self._ended = False
        self.cut = False

    def take(self, offset: int, limit: int) -> tuple[Hit, ...]:
        """At most *limit* hits from *offset* on; fewer where there are no more."""
        if self._matches is None:
            return self._ask(offset, limit)
        matches = self._matches
        while len(self._taken) < offset + limit and not self._ended:
            window = WINDOWS[0] if self._asked == 0 else WINDOWS[1]
            found = self._ask(self._asked, window)
            self._taken += [hit for hit in found if matches(hit.file_path)]
            self._asked += window
            self.cut = len(found) == window and self._asked >= MOST_LOOKED_AT
            self._ended = self.cut or len(found) < window
        return tuple(self._taken[offset : offset + limit])

    def _ask(self, offset: int, limit: int) -> tuple[Hit, ...]:
        found = self._target.hits(offset, limit, self._cancel, self._refreshed)
        self._refreshed = None
        return found


@dataclass(frozen=True, slots=True)
class _View:
    """From where paths are shown."""

    root: Path
    cwd: Path
    front: Front

    def whole(self, hit: Hit) -> Hit:
        """The hit with its lines as they are in the file, indentation included."""
        try:
            with (self.root / hit.file_path).open("rb") as file:
                text = file.read(MAX_FILE).decode("utf-8", "replace")
        except (OSError, ValueError):
            return hit
        return restore(hit, text.replace("\r\n", "\n"))

    def path(self, hit: Hit) -> str:
        relative = os.path.relpath(self.root / hit.file_path, self.cwd)
        return output.clean_line(Path(relative).as_posix())


def _answer(found: Found[Page], arguments: SearchArguments, view: _View, started: float) -> Answer:
    page = found.value
    blocks = [_block(view.whole(hit), view) for hit in page.hits]
    fitted = output.page(blocks, max_bytes=output.MAX_BYTES - 2048)
    shown = page.hits[: fitted.shown]
    # A single block may have been cut.
    blocks = [fitted.text] if fitted.shown == 1 else blocks[: fitted.shown]
    lines = [fitted.text] if shown else []
    more = page.more or len(shown) < len(page.hits)
    following = arguments.offset + len(shown) if more and shown else None
    lines.append(_trailer(len(shown), len(page.hits), following, arguments, view.front))
    notes = [output.clean_line(note) for note in (*found.notes, *([_CUT] if page.cut else []))]
    lines.extend(f"Note: {note}" for note in notes)
    details = {
        "results": [_row(hit, block, view) for hit, block in zip(shown, blocks, strict=True)],
        "next_offset": following,
        "notes": notes,
        "refreshed": found.refreshed,
        "refresh_reason": found.reason,
        "stale": found.stale,
        "elapsed_ms": {**found.elapsed_ms(), "total": _ms(time.monotonic() - started)},
    }
    return Answer("\n\n".join(lines), details)


def _block(hit: Hit, view: _View) -> str:
    where = f"{view.path(hit)}:{hit.start_line}-{hit.end_line}"
    return f"{where} [{hit.language}] {hit.score:.3f}\n{output.clean(hit.content).rstrip()}"


def _row(hit: Hit, block: str, view: _View) -> dict[str, Any]:
    """A result for programs: ``path`` as shown, ``lines`` of the text that its *block* takes."""
    return {
        "file_path": hit.file_path,
        "path": view.path(hit),
        "language": hit.language,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "score": hit.score,
        "lines": block.count("\n") + 1,
        "preview": preview.preview(block.partition("\n")[2], hit.language),
    }


def _trailer(
    shown: int, found: int, following: int | None, arguments: SearchArguments, front: Front
) -> str:
    if not found:
        return _nothing(arguments, front)
    first = arguments.offset + 1
    text = f"Results {first} to {arguments.offset + shown}" if shown > 1 else f"Result {first}"
    if following is None:
        return f"[{text}; no more.]"
    how = say(Step(Do.GO_ON, following), front)
    if shown < found:
        left = output.counted(found - shown, "result")
        return f"[{text}; {left} left out for length: {how}.]"
    return f"[{text}; there are more: {how}.]"


def _nothing(arguments: SearchArguments, front: Front) -> str:
    if arguments.offset:
        return f"No results from offset {arguments.offset} on: the ones before it were all."
    filters = [name for name in ("languages", "path") if getattr(arguments, name) not in (None, ())]
    advice = f"Try without {' and '.join(f'`{name}`' for name in filters)}. " if filters else ""
    if arguments.path is not None:
        advice += "Files that git ignores or the settings exclude are not in the index. "
    return f"No results. {advice}{say(Step(Do.REPHRASE), front)}"


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
