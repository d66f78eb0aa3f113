"""Candidates by words: the windows of a project's files that say most of a question.

They answer alone where ccc cannot, and join ccc's own candidates where it can: the vectors miss a
right file now and then whose words are those of the question. Nothing is written, and no index run
begins.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from vera_ccc_tools.ccc.replies import Hit
from vera_ccc_tools.ranking import rank
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel
from vera_ccc_tools.words import grep, scope, terms, windows
from vera_ccc_tools.words.scoring import Scoring
from vera_ccc_tools.words.terms import Terms

NO_SCORE = -math.inf
"""The score of a hit that ccc did not find; those of ccc are finite, and win where hits join."""
JOINING = 20
"""The best windows that join ccc's candidates."""
DEADLINE = 2.0
"""Seconds for looking through the files; what was found until then counts."""
FILES = 48
"""Files that are cut into windows, the best by the words that they have."""
DEFINERS = 300
"""Files among which the definition of a name is looked for."""
MOST_READ = 3 * 1024 * 1024
"""Bytes that are cut into windows."""
_CUT = "Not all files were looked through for the words of the question: there are too many."
_NO_WORDS = "The question has no word that files could be looked through for."


@dataclass(frozen=True, slots=True)
class Found:
    """What a search by words found.

    Attributes:
        hits: At most `rank.CANDIDATES` windows, best first, all with `NO_SCORE`.
        notes: Lines that the caller should read.
        seconds: How long it took.
    """

    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


def candidates(  # noqa: PLR0913
    root: Path,
    query: str,
    *,
    environment: Environment,
    cancel: Cancel,
    wanted: scope.Wanted = scope.EVERYTHING,
    deadline: float = DEADLINE,
) -> Found:
    """Find the windows below *root* that say most of *query*, best first.

    Raises:
        Failure: ``git_failed``, ``cannot_run``.
        Cancelled: The call is.
    """
    started = time.monotonic()
    asked = Terms.of(query)
    if not asked.typed:
        return Found((), (_NO_WORDS,))
    searched = scope.of_project(root, wanted)
    finder = grep.Finder(root, searched, environment=environment, cancel=cancel, deadline=deadline)
    looked, asked = _look(finder, asked)
    scoring = Scoring(query, asked)
    ordered = (path for path in scoring.files(looked.texts) if searched.holds(path))
    best = list(islice(ordered, DEFINERS if scoring.has_names else FILES))
    hits = list(_cut(root, finder.not_ignored(best), scoring, cancel))
    amounts = scoring.windows((hit.file_path, hit.content) for hit in hits)
    order = sorted((at for at, each in enumerate(amounts) if each), key=lambda at: -amounts[at])
    return Found(
        tuple(hits[at] for at in order[: rank.CANDIDATES]),
        () if looked.whole else (_CUT,),
        time.monotonic() - started,
    )


def _look(finder: grep.Finder, asked: Terms) -> tuple[grep.Looked, Terms]:
    """Look for the terms; where few are in any file, for the others in nearly their spelling."""
    looked = finder.look(asked.pattern())
    texts = {text for found in looked.texts.values() for text in found}
    mistyped = asked.mistyped({term for text in texts for term in asked.within(text)})
    if not mistyped:
        return looked, asked
    near = finder.look(terms.near(mistyped.values()))
    for path, found in near.texts.items():
        looked.texts.setdefault(path, Counter()).update(found)
    spelt = {text.lower() for found in near.texts.values() for text in found}
    whole = looked.whole and near.whole
    return grep.Looked(looked.texts, whole), asked.corrected(mistyped, spelt)


def _cut(root: Path, paths: Sequence[str], scoring: Scoring, cancel: Cancel) -> Iterator[Hit]:
    """All windows of the best files; of the further ones those with a definition."""
    size = 0
    for count, path in enumerate(paths):
        cancel.check()
        whole = count < FILES and size < MOST_READ
        if not whole and not scoring.has_names:
            return
        text = grep.contents(root, path).decode("utf-8", "replace").replace("\r\n", "\n")
        if not whole and not scoring.defines(text):
            continue
        size += len(text)
        language = scope.language_of(path)
        for each in windows.cut(text):
            if whole or scoring.defines(each.content):
                yield Hit(path, language, each.content, each.first, each.last, NO_SCORE)


# --- with ccc's ----------------------------------------------------------------------------------


def join(hits: Sequence[Hit], found: Found) -> tuple[Hit, ...]:
    """The candidates of both: ccc's *hits*, and behind them the best windows ccc did not find.

    A window that a chunk of ccc's reaches into is none: the chunk is a candidate already, and may
    be of an older state of the file.
    """
    of_file: dict[str, list[Hit]] = {}
    for hit in hits:
        of_file.setdefault(hit.file_path, []).append(hit)
    further = (
        window
        for window in found.hits[:JOINING]
        if not any(_meet(window, hit) for hit in of_file.get(window.file_path, ()))
    )
    return (*hits, *further)


def is_by_words(hit: Hit) -> bool:
    """Whether only the words of the question led to *hit*."""
    return hit.score == NO_SCORE


def _meet(one: Hit, other: Hit) -> bool:
    return one.start_line <= other.end_line and other.start_line <= one.end_line
