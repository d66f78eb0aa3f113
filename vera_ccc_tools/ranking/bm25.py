"""BM25: how much of a question's words a document has, and that for the chunks of ccc.

Written out here: the libraries that have it bring NumPy, whose import alone takes longer than many
rankings, and are made for whole collections.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import TypeVar

from vera_ccc_tools.ranking import words

SATURATION = 1.2
"""BM25's k1: how soon repeating a word stops to count."""
_LENGTH = 0.5
"""BM25's b for chunks, whose length differs little."""
Term = TypeVar("Term", str, bytes)


class Relevance:
    """The words of a question in the chunks.

    Attributes:
        terms: Those that the chunks have, a mistyped one in their spelling.
        trust: Which part of the question these are.
    """

    def __init__(
        self,
        wanted: Mapping[str, str],
        contents: Sequence[str],
        extras: Sequence[Mapping[str, float]],
    ) -> None:
        """Look for the *wanted* terms, each with the word that was typed.

        *extras* are further words of each chunk, with what they count; those in *contents* count 1,
        and less in a long one.
        """
        chunks = [Counter(words.runs(content)) for content in contents]
        every: set[str] = set().union(*chunks, *extras)
        self.terms, terms_of = _found(wanted, every)
        self.trust = len(self.terms) / max(1, len(wanted))
        shares = by_length([sum(chunk.values()) for chunk in chunks], _LENGTH)
        self._counts: list[dict[str, float]] = []
        for chunk, extra, share in zip(chunks, extras, shares, strict=True):
            count: dict[str, float] = {}
            _count(count, chunk, terms_of, share)
            _count(count, extra, terms_of, 1.0)
            self._counts.append(count)

    def amounts(self) -> list[float]:
        """BM25 of each chunk; nothing is below 0."""
        return amounts(self.terms, self._counts)


def amounts(terms: Iterable[Term], documents: Sequence[Mapping[Term, float]]) -> list[float]:
    """BM25 of each of the *documents*, over k1 + 1, by what its words count `by_length`."""
    weights = rarity(terms, documents)
    return [
        sum(
            weight * document[term] / (SATURATION + document[term])
            for term, weight in weights.items()
            if term in document
        )
        for document in documents
    ]


def by_length(lengths: Sequence[int], influence: float) -> list[float]:
    """What a word counts in each document of these *lengths*; *influence* is BM25's b."""
    usual = sum(lengths) / max(1, len(lengths)) or 1.0
    return [1 / (1 - influence + influence * length / usual) for length in lengths]


def rarity(terms: Iterable[Term], documents: Sequence[Container[Term]]) -> dict[Term, float]:
    """BM25's weight of each of the *terms* that some of the *documents* have."""
    weights = {}
    for term in terms:
        having = sum(term in document for document in documents)
        if having:
            weights[term] = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
    return weights


TermsOf = Mapping[str, tuple[str, ...]]
"""The terms that a word of the code has, for those words that have one."""


def _found(wanted: Mapping[str, str], runs: Collection[str]) -> tuple[tuple[str, ...], TermsOf]:
    """The *wanted* terms that *runs* have; for another, what they have in nearly its spelling."""
    terms_of = _terms_of(runs, tuple(wanted))
    there = {term for terms in terms_of.values() for term in terms}
    meant = [term if term in there else words.spelt(typed, runs) for term, typed in wanted.items()]
    found = tuple(dict.fromkeys(term for term in meant if term is not None))
    return found, terms_of if there.issuperset(found) else _terms_of(runs, found)


def _terms_of(runs: Iterable[str], wanted: Sequence[str]) -> TermsOf:
    if not wanted:
        return {}
    # A stem begins its word: few of the names in a chunk have to be taken apart.
    near = re.compile("|".join(map(re.escape, wanted)))
    terms_of = {}
    for run in runs:
        if near.search(run.lower()):
            terms_of[run] = tuple(term for term in words.terms(run) if term in wanted)
    return terms_of


def _count(
    count: dict[str, float],
    runs: Mapping[str, float],
    terms_of: TermsOf,
    weight: float,
) -> None:
    """Add what *runs* has of the terms, times *weight*, to *count*."""
    for run, times in runs.items():
        for term in terms_of.get(run, ()):
            count[term] = count.get(term, 0.0) + times * weight
