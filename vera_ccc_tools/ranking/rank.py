"""A better order for what ccc found: the words of the question beside the meaning.

ccc orders chunks by the distance of vectors alone. That finds the neighbourhood, and often places
the answer behind its tests, its users and its neighbours. `rank` fuses that order with what the
vectors do not see: the question's own words in code and path, the name of the file, the definition
of what is named, pasted lines, and what kind of file it is. No model, no network, no state: the
same candidates give the same order.

`benchmarks/run.py answers --ablate` shows what each weight is worth.
"""

from __future__ import annotations

import math
import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vera_ccc_tools.ranking import bm25, file_kinds
from vera_ccc_tools.ranking import words as identifiers

if TYPE_CHECKING:
    from vera_ccc_tools.ccc.client import Hit

CANDIDATES = 100
"""Chunks asked of ccc; asking for more costs time, and few answers lie beyond."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts; the first place in ccc's own order counts 1.

    Round numbers from the middle of where the measured gain is flat: half as much or half as much
    again of one of them moves NDCG@10 by hardly 0.01. The measured repositories have too few files
    that are generated, or only name others, to show `generated` and `index`; these are as `test`.

    Attributes:
        words: The place by BM25 over the words of the chunk and of its path.
        path, name: How often a word of the directories, or of the file's name, counts in BM25.
        title: A file whose name consists of words of the question.
        definition: A chunk that defines a name of the question.
        namesake: A file that is called as such a name is, where its definition is not at hand.
        pasted: A chunk that holds all the lines of pasted code.
        file: A file with the best chunks, for each of its chunks.
        crowd: What each further chunk of a file keeps of its score.
        test, document, example, generated, index: What a chunk of such a file keeps of its score.
        asked: What a chunk of such a file gains when the question is about that kind.
    """

    words: float = 1.0
    path: float = 1.5
    name: float = 3.0
    title: float = 0.5
    definition: float = 2.0
    namesake: float = 0.5
    pasted: float = 4.0
    file: float = 0.5
    crowd: float = 0.7
    test: float = 0.5
    document: float = 0.5
    example: float = 0.5
    generated: float = 0.5
    index: float = 0.7
    asked: float = 1.2


WEIGHTS = Weights()
_FUSION = 60
"""How slowly a place loses worth (the usual 60): the thirtieth has two thirds of the first's."""
_SPEAKERS = 4
"""Chunks that speak for their file, each half as loud as the better one before it."""
_UNNAMED = frozenset(("__init__", "index", "main", "mod", "lib"))
"""Names of files that say nothing; what they are about is their directory's name."""


def rank(query: str, hits: Sequence[Hit], weights: Weights = WEIGHTS) -> tuple[Hit, ...]:
    """Reorder *hits*, ccc's best first, so that the likeliest answer to *query* comes first.

    All of them are given back. Of two that count the same, ccc's first stays first.
    """
    if not hits:
        return ()
    scores = _Ranking(_Question.of(query), hits, weights).scores()
    return tuple(hits[at] for at in _best_first(scores))


def _best_first(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda at: (-scores[at], at))


def _worth(place: int) -> float:
    """What a place in an order counts, the first 1 (reciprocal rank fusion)."""
    return (_FUSION + 1) / (_FUSION + 1 + place)


@dataclass(frozen=True, slots=True)
class _Question:
    """What can be seen of a query by looking at it.

    Attributes:
        words: Its words without those that every question has: the term, and the word as typed.
        names: Names in the code that it asks for.
        lines: Its lines, where it is pasted code.
        file_kinds: The kinds of files that it is about.
    """

    words: Mapping[str, str]
    names: tuple[str, ...]
    lines: tuple[str, ...]
    file_kinds: frozenset[str]

    @classmethod
    def of(cls, query: str) -> _Question:
        kept = (run for run in identifiers.runs(query) if run.lower() not in identifiers.STOP_WORDS)
        words = {term: word for run in kept for term, word in identifiers.typed(run)}
        names, lines = identifiers.names(query), identifiers.code_lines(query)
        return cls(words, () if lines else names, lines, file_kinds.asked(query))


class _Ranking:
    """Scores *hits*; every list here runs as they do."""

    def __init__(self, question: _Question, hits: Sequence[Hit], weights: Weights) -> None:
        self._question, self._hits, self._weights = question, hits, weights
        self._titles = {hit.file_path: _title(hit.file_path) for hit in hits}
        paths = {path: _path_words(path, weights) for path in self._titles}
        contents = [hit.content for hit in hits]
        extras = [paths[hit.file_path] for hit in hits]
        self._relevance = bm25.Relevance(question.words, contents, extras)

    def scores(self) -> list[float]:
        """What each of the hits counts."""
        signals = zip(self._places(), self._words(), self._title_matches(), strict=True)
        # A question in another language shares few words with the code: these say little then, and
        # ccc's order has to stand.
        trust = self._relevance.trust
        scores = [place + trust * (words + title) for place, words, title in signals]
        scores = _sum(scores, self._named())
        kept = {path: self._kept(path) for path in self._titles}
        scores = [
            score * kept[hit.file_path] for score, hit in zip(scores, self._hits, strict=True)
        ]
        scores = self._with_crowds(self._with_files(scores))
        return _sum(scores, self._pasted())

    def _places(self) -> list[float]:
        return [_worth(place) for place in range(len(self._hits))]

    def _words(self) -> list[float]:
        """Half by the place, as the fusion of orders has it, and half by the amount.

        Places alone would make little of a chunk that has far more of the words than the second.
        """
        amounts = self._relevance.amounts()
        most = max(amounts) or 1.0
        words = [0.0] * len(amounts)
        for place, at in enumerate(_best_first(amounts)):
            if amounts[at] > 0:
                words[at] = self._weights.words * (_worth(place) + amounts[at] / most) / 2
        return words

    def _title_matches(self) -> list[float]:
        """How much of the file's name the question says, and how much of the question it is."""
        rarity = bm25.rarity(self._relevance.terms, list(self._titles.values()))
        whole = sum(rarity.values()) or 1.0
        matches = {}
        for path, title in self._titles.items():
            said = [term for term in rarity if term in title]
            share = sum(rarity[term] for term in said) / whole
            matches[path] = self._weights.title * len(said) / max(1, len(title)) * math.sqrt(share)
        return [matches[hit.file_path] for hit in self._hits]

    def _named(self) -> list[float]:
        if not self._question.names:
            return [0.0] * len(self._hits)
        definition = identifiers.Definition(self._question.names)
        called = {identifiers.split(name) for name in self._question.names}
        return [
            self._weights.definition * definition.within(hit.content)
            + self._weights.namesake * (identifiers.split(_bare_name(hit.file_path)) in called)
            for hit in self._hits
        ]

    def _pasted(self) -> list[float]:
        if not self._question.lines:
            return [0.0] * len(self._hits)
        return [self._weights.pasted * self._share_of_lines(hit) for hit in self._hits]

    def _share_of_lines(self, hit: Hit) -> float:
        content, lines = identifiers.even(hit.content), self._question.lines
        return sum(len(line) for line in lines if line in content) / sum(map(len, lines))

    def _kept(self, path: str) -> float:
        kind = file_kinds.of_path(path)
        if kind is None:
            return 1.0
        if kind in self._question.file_kinds:
            return self._weights.asked
        kept: float = getattr(self._weights, kind)
        return kept

    def _with_files(self, scores: Sequence[float]) -> list[float]:
        """Let the best chunks of a file speak for all of it."""
        voices: dict[str, list[float]] = {}
        for at in _best_first(scores):
            voices.setdefault(self._hits[at].file_path, []).append(scores[at])
        sums = {
            path: sum(each / 2**place for place, each in enumerate(best[:_SPEAKERS]))
            for path, best in voices.items()
        }
        loudest = max(sums.values()) or 1.0
        return [
            score + self._weights.file * sums[hit.file_path] / loudest
            for hit, score in zip(self._hits, scores, strict=True)
        ]

    def _with_crowds(self, scores: list[float]) -> list[float]:
        """Let further chunks of a file wait: an agent that has one of them can read the file."""
        before: Counter[str] = Counter()
        for at in _best_first(scores):
            path = self._hits[at].file_path
            scores[at] *= self._weights.crowd ** before[path]
            before[path] += 1
        return scores


def _sum(one: Iterable[float], other: Iterable[float]) -> list[float]:
    return [a + b for a, b in zip(one, other, strict=True)]


# --- paths ---------------------------------------------------------------------------------------


def _path_words(path: str, weights: Weights) -> dict[str, float]:
    """The words of a path, with what they count."""
    directory, name = posixpath.split(path)
    runs = dict.fromkeys(identifiers.runs(directory), weights.path)
    return runs | dict.fromkeys(identifiers.runs(name), weights.name)


def _bare_name(path: str) -> str:
    """The file's name without its endings, or its directory's where it is called ``index``."""
    directory, base = posixpath.split(path)
    bare = base.split(".")[0] or base
    return posixpath.basename(directory) if bare in _UNNAMED and directory else bare


def _title(path: str) -> frozenset[str]:
    return frozenset(identifiers.terms(_bare_name(path)))
