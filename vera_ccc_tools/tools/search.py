"""The tool ``ccc_search``."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vera_ccc_tools.ccc import languages, project
from vera_ccc_tools.ccc.client import Ccc, Hit, Progress, Query, SearchReply
from vera_ccc_tools.errors import Do, Failure, Front, Step
from vera_ccc_tools.phrases import say
from vera_ccc_tools.ranking import preview, rank
from vera_ccc_tools.ranking.results import PER_FILE, arrange, restore, unshown
from vera_ccc_tools.refresh.index_runs import Target
from vera_ccc_tools.system import text as output
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel, Cancelled, Task
from vera_ccc_tools.tools import by_words, fresh
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import SearchArguments
from vera_ccc_tools.tools.by_words import Words
from vera_ccc_tools.tools.fresh import Found, Page
from vera_ccc_tools.tools.session import Session
from vera_ccc_tools.words import scope as words
from vera_ccc_tools.words.candidates import is_by_words

if TYPE_CHECKING:
    from vera_ccc_tools.ccc.path_filter import PathFilter

WINDOWS = (400, 2000)
"""Hits asked of ccc at a time where they are filtered afterwards, at first and further on."""
MOST_LOOKED_AT = 30_000
"""Hits that are filtered at most; a path that so few of the best match should be named closer."""
_CUT = f"Only the best {MOST_LOOKED_AT:,} chunks were looked through for `path`; name it closer."
MAX_FILE = 4 * 1024 * 1024
"""Bytes of a file that are read to show its lines whole."""
MOST_OF_CAUSE = 500
"""Characters of why ccc does not answer."""
KNN_LIMIT = 4096
"""Hits that ccc's vector index gives at most (sqlite-vec); a filter of the path makes it scan."""


def search(session: Session, call: Call, arguments: SearchArguments) -> Answer:
    """Search the project around the caller's directory, by meaning and by words.

    Raises:
        Failure: Where nothing can be searched, or ccc fails whose own order is asked for.
    """
    started = time.monotonic()
    root = session.searched_root(call.cwd)
    within = _within(arguments.path, call.cwd, root)
    wanted = _Wanted(arguments, languages.canonical(arguments.languages), within)
    found = _find(session, call, root, wanted, started)
    return _answer(found, arguments, _View(root, call.cwd, call.front), started)


def find(session: Session, call: Call, query: str) -> Found:
    """The chunks that a search orders, best first, before results are made of them.

    Raises:
        Failure: As `search` does.
    """
    wanted = _Wanted(SearchArguments(query), (), None, in_results=False)
    return _find(session, call, session.searched_root(call.cwd), wanted, time.monotonic())


def _find(session: Session, call: Call, root: Path, wanted: _Wanted, started: float) -> Found:
    if wanted.arguments.rank == "ccc":
        return _by_meaning(session, call, wanted, None, started)
    query, scope = wanted.arguments.query, words.Wanted(wanted.within, wanted.languages)
    with by_words.looking(session, root, query, scope) as looked:
        meaning = Task(
            lambda own: _by_meaning(session, replace(call, cancel=own), wanted, looked, started)
        )
        try:
            if not meaning.wait(by_words.left(session, started), call.cancel):
                session.leave(meaning)
                raise by_words.late(session, root, call)
            return meaning.result(call.cancel)
        except Cancelled:
            meaning.cancel.press()
            raise
        except Failure as failure:
            if failure.code in by_words.ANYWAY or project.holds_home(root):
                raise
            with suppress(Failure):  # then the first one counts
                found = looked.result(call.cancel)
                page = replace(wanted.page(wanted.results(found.hits)), by="words")
                return Found(
                    page, refreshed=False, notes=found.notes, instead=failure.with_traceback(None)
                )
            raise


def _by_meaning(
    session: Session, call: Call, wanted: _Wanted, looked: Words | None, started: float
) -> Found:
    arguments = wanted.arguments
    ccc = session.ccc().in_call(started)
    root = session.indexed_root(call.cwd)
    if arguments.refresh_index:
        project.check_root(root, call.cwd)
    target = Target(ccc, root, call)
    if any(name not in languages.KNOWN for name in wanted.languages):
        session.sync(root, call, always=False)
        _check_languages(ccc, root, call, wanted.languages)
    run = fresh.search if arguments.refresh_index else fresh.search_as_is
    found = run(session, target, _Hits(ccc, root, wanted, looked).page)
    if not found.page.hits and wanted.languages and arguments.offset == 0:
        _check_languages(ccc, root, call, wanted.languages)
    return found


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
    """What a call asks for.

    Attributes:
        in_results: Whether a page of results is made of the chunks; else they are given back.
    """

    arguments: SearchArguments
    languages: tuple[str, ...]
    within: PathFilter | None
    in_results: bool = True

    def results(self, candidates: Sequence[Hit]) -> Sequence[Hit]:
        """The results out of the *candidates* in our order, or these in that order."""
        ranked = rank.rank(self.arguments.query, candidates)
        if not self.in_results:
            return ranked
        per_file = None if self.within is not None and self.within.one_file else PER_FILE
        return arrange(ranked, per_file=per_file).hits

    def page(
        self, results: Sequence[Hit], candidates: Sequence[Hit] = (), source: _Source | None = None
    ) -> Page:
        """The wanted ones of *results*, and then of what *source* has behind the *candidates*.

        The order as a whole is the results that were made of the candidates, and then ccc's other
        chunks as they come, without the lines that the words have led to.
        """
        if not self.in_results:
            return Page(tuple(results))
        windows = [hit for hit in candidates if is_by_words(hit)]
        behind = len(candidates) - len(windows) - len(results)
        offset, most = self.arguments.offset, self.arguments.limit
        placed = list(enumerate(results, 1))[offset:]
        at = max(offset, len(results))
        while source is not None and len(placed) <= most:
            wanted = most + 1 - len(placed)
            found = source.take(behind + at, wanted)
            for hit in found:
                at += 1
                placed += [(at, piece) for piece in unshown(hit, windows)]
            if len(found) < wanted:
                break
        while most < len(placed) and placed[most][0] == placed[most - 1][0]:
            most += 1  # pieces of one chunk are shown together
        shown = placed[:most]
        hits, ends = tuple(hit for _, hit in shown), tuple(end for end, _ in shown)
        return Page(hits, ends, more=len(placed) > most)


@dataclass(frozen=True, slots=True)
class _Hits:
    ccc: Ccc
    root: Path
    wanted: _Wanted
    looked: Words | None

    def page(self, cancel: Cancel, *, refresh: bool) -> Page:
        """The wanted page: of our order as far as the candidates go, then of ccc's own."""
        wanted, source = self.wanted, _Source(self, cancel, refresh=refresh)
        if self.looked is None:
            page = wanted.page((), (), source)
        else:
            hits = source.take(0, rank.CANDIDATES)
            candidates, by = by_words.join(hits, self.looked, cancel)
            results = wanted.results(candidates)
            further = source if len(hits) == rank.CANDIDATES else None
            page = replace(wanted.page(results, candidates, further), by=by)
        return replace(page, cut=source.cut, run=source.run)

    def ask(self, offset: int, limit: int, cancel: Cancel, *, refresh: bool) -> SearchReply:
        """ccc's own page, of what the covering pattern lets through."""
        cover = None if self.wanted.within is None else self.wanted.within.cover
        if cover is None and offset + limit > KNN_LIMIT:
            cover = "*"
        text, languages = self.wanted.arguments.query, self.wanted.languages
        query = Query(text, limit, offset, languages, cover, refresh)
        return self.ccc.search(self.root, query, cancel=cancel)


class _Source:
    """The hits of the wanted path in ccc's order, asked of ccc as far as they are needed.

    Attributes:
        run: How the index run ended that ccc was asked for first.
        cut: Whether ccc had further hits that were not looked at.
    """

    def __init__(self, wanted: _Hits, cancel: Cancel, *, refresh: bool) -> None:
        self._wanted = wanted
        self._cancel = cancel
        self._refresh = refresh
        self.run: Progress | None = None
        within = wanted.wanted.within
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
        reply = self._wanted.ask(offset, limit, self._cancel, refresh=self._refresh)
        self.run, self._refresh = self.run or reply.run, False
        return reply.hits


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
    head = [] if found.instead is None else [lead(found.instead, view.front)]
    lines = [*head, fitted.text] if shown else head
    more = page.more or len(shown) < len(page.hits)
    following = page.ends[len(shown) - 1] if more and shown else None
    lines.append(_trailer(len(shown), len(page.hits), following, arguments, view.front))
    notes = [output.clean_line(note) for note in (*found.notes, *([_CUT] if page.cut else []))]
    lines.extend(f"Note: {note}" for note in notes)
    details = {
        "by": page.by,
        "instead": None if found.instead is None else found.instead.code,
        "lead": 2 * len(head),
        "results": [_row(hit, block, view) for hit, block in zip(shown, blocks, strict=True)],
        "next_offset": following,
        "notes": notes,
        "refreshed": found.refreshed,
        "refresh_reason": found.reason,
        "stale": found.stale,
        "elapsed_ms": {"sync": _ms(found.looked), "total": _ms(time.monotonic() - started)},
    }
    return Answer("\n\n".join(lines), details)


def lead(failure: Failure, front: Front) -> str:
    """The first line of an answer by words: why ccc does not answer, and what helps."""
    return f"By words, not by meaning: {cause(failure)} {say(failure.step, front)}".rstrip()


def cause(failure: Failure) -> str:
    """What failed, in a line."""
    return output.clean_line(failure.message.split("\n")[0])[:MOST_OF_CAUSE]


def _block(hit: Hit, view: _View) -> str:
    where = f"{view.path(hit)}:{hit.start_line}-{hit.end_line}"
    score = "by words" if is_by_words(hit) else f"{hit.score:.3f}"
    return f"{where} [{hit.language}] {score}\n{output.clean(hit.content).rstrip()}"


def _row(hit: Hit, block: str, view: _View) -> dict[str, Any]:
    """A result for programs.

    ``path`` is as shown, ``lines`` of the text are those that its *block* takes; ``score`` is
    ccc's, and not there where only the words led to it.
    """
    return {
        "file_path": hit.file_path,
        "path": view.path(hit),
        "language": hit.language,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        **({} if is_by_words(hit) else {"score": hit.score}),
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
