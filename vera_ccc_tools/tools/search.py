"""The tool ``ccc_search``."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vera_ccc_tools.ccc import languages, project
from vera_ccc_tools.ccc.client import Ccc, Hit, Progress, Query, SearchReply
from vera_ccc_tools.errors import Do, Failure, Front, Step
from vera_ccc_tools.phrases import say
from vera_ccc_tools.ranking import preview, rank
from vera_ccc_tools.ranking.results import PER_FILE, arrange, beyond, restore
from vera_ccc_tools.refresh.index_runs import Target
from vera_ccc_tools.system import text as output
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel
from vera_ccc_tools.tools import fresh
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import SearchArguments
from vera_ccc_tools.tools.fresh import Found, Page
from vera_ccc_tools.tools.session import Session

if TYPE_CHECKING:
    from vera_ccc_tools.ccc.path_filter import PathFilter

WINDOWS = (400, 2000)
"""Hits asked of ccc at a time where they are filtered afterwards, at first and further on."""
MOST_LOOKED_AT = 30_000
"""Hits that are filtered at most; a path that so few of the best match should be named closer."""
_CUT = f"Only the best {MOST_LOOKED_AT:,} chunks were looked through for `path`; name it closer."
MAX_FILE = 4 * 1024 * 1024
"""Bytes of a file that are read to show its lines whole."""
KNN_LIMIT = 4096
"""Hits that ccc's vector index gives at most (sqlite-vec); a filter of the path makes it scan."""


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
    target = Target(ccc, root, call)
    wanted_hits = _Hits(ccc, root, _Wanted(arguments, wanted, within))
    if any(name not in languages.KNOWN for name in wanted):
        session.sync(root, call, always=False)
        _check_languages(ccc, root, call, wanted)
    run = fresh.search if arguments.refresh_index else fresh.search_as_is
    found = run(session, target, wanted_hits.page)
    if not found.page.hits and wanted and arguments.offset == 0:
        _check_languages(ccc, root, call, wanted)
    return _answer(found, arguments, _View(root, call.cwd, call.front), started)


def find(session: Session, call: Call, query: str) -> Found:
    """The chunks that a search orders, best first, before results are made of them.

    Raises:
        Failure: As `search` does.
    """
    ccc = session.ccc().in_call(time.monotonic())
    root = session.indexed_root(call.cwd)
    project.check_root(root, call.cwd)
    wanted = _Hits(ccc, root, _Wanted(SearchArguments(query), (), None))
    return fresh.search(session, Target(ccc, root, call), wanted.ranked)


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
class _Hits:
    ccc: Ccc
    root: Path
    wanted: _Wanted

    def page(self, cancel: Cancel, *, refresh: bool) -> Page:
        """The wanted page: of our order as far as ccc's best hits go, then of ccc's own."""
        arguments = self.wanted.arguments
        source = _Source(self, cancel, refresh=refresh)
        if arguments.rank == "ccc":
            shown = source.take(arguments.offset, arguments.limit + 1)
            return source.page(shown, arguments.limit)
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
        return source.page(shown, arguments.limit)

    def ranked(self, cancel: Cancel, *, refresh: bool) -> Page:
        """ccc's best chunks in our order."""
        source = _Source(self, cancel, refresh=refresh)
        candidates = source.take(0, rank.CANDIDATES)
        ranked = rank.rank(self.wanted.arguments.query, candidates)
        return source.page(ranked, len(ranked))

    def _results(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        within = self.wanted.within
        per_file = None if within is not None and within.one_file else PER_FILE
        ranked = rank.rank(self.wanted.arguments.query, hits)
        return arrange(ranked, per_file=per_file).hits

    def ask(self, offset: int, limit: int, cancel: Cancel, *, refresh: bool) -> SearchReply:
        """ccc's own page, of what the covering pattern lets through."""
        cover = None if self.wanted.within is None else self.wanted.within.cover
        if cover is None and offset + limit > KNN_LIMIT:
            cover = "*"
        text, languages = self.wanted.arguments.query, self.wanted.languages
        query = Query(text, limit, offset, languages, cover, refresh)
        return self.ccc.search(self.root, query, cancel=cancel)


class _Source:
    """The hits of the wanted path in ccc's order, asked of ccc as far as they are needed."""

    def __init__(self, wanted: _Hits, cancel: Cancel, *, refresh: bool) -> None:
        self._wanted = wanted
        self._cancel = cancel
        self._refresh = refresh
        self._run: Progress | None = None
        within = wanted.wanted.within
        self._matches = None if within is None else within.matches
        self._taken: list[Hit] = []
        self._asked = 0
        self._ended = False
        self._cut = False

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
            self._cut = len(found) == window and self._asked >= MOST_LOOKED_AT
            self._ended = self._cut or len(found) < window
        return tuple(self._taken[offset : offset + limit])

    def _ask(self, offset: int, limit: int) -> tuple[Hit, ...]:
        reply = self._wanted.ask(offset, limit, self._cancel, refresh=self._refresh)
        self._run, self._refresh = self._run or reply.run, False
        return reply.hits

    def page(self, hits: tuple[Hit, ...], limit: int) -> Page:
        """The first *limit* of *hits*."""
        return Page(hits[:limit], len(hits) > limit, self._cut, self._run)


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


def _answer(found: Found, arguments: SearchArguments, view: _View, started: float) -> Answer:
    page = found.page
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
        "elapsed_ms": {"sync": _ms(found.looked), "total": _ms(time.monotonic() - started)},
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
