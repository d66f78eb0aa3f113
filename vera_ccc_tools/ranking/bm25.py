"""How much of a question's words a chunk has: BM25, over a hundred chunks at a time.

Written out here: the libraries that have it bring NumPy, whose import alone takes longer than many
rankings, and are made for whole collections.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence

from vera_ccc_tools.ranking import words

_SATURATION, _LENGTH = 1.2, 0.5
"""BM25's usual constants: how soon repeating a word stops to count, how much length does."""


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
        lengths = [sum(chunk.values()) for chunk in chunks]
        usual = sum(lengths) / max(1, len(lengths)) or 1.0
        self._counts: list[dict[str, float]] = []
        for chunk, extra, length in zip(chunks, extras, lengths, strict=True):
            count: dict[str, float] = {}
            _count(count, chunk, terms_of, 1 / (1 - _LENGTH + _LENGTH * length / usual))
            _count(count, extra, terms_of, 1.0)
            self._counts.append(count)

    def amounts(self) -> list[float]:
        """BM25 of each chunk; nothing is below 0."""
        weights = rarity(self.terms, self._counts)
        return [
            sum(
                weights[term] * count[term] / (_SATURATION + count[term])
                for term in self.terms
                if term in count
            )
            for count in self._counts
        ]


def rarity(terms: Iterable[str], documents: Sequence[Container[str]]) -> dict[str, float]:
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
