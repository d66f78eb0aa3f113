"""From a question to the words that files are looked through for; pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from vera_ccc_tools.ranking import words as identifiers

MOST = 16
"""Terms that files are looked through for; pasted code has hundreds."""
LOOKED_AT = 4000
"""Characters of a question that terms are taken from."""
MOST_MISTYPED = 3
"""Words that are looked for in another spelling."""
_LONG = 5
"""Letters of a word that the ranking takes for another one, mistyped."""
_SHORT = 3
"""Bytes below which a term is in every file: asked for only where there is no longer one."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a question is searched by.

    Attributes:
        typed: The terms in lower case, stems and whole names, each with its word in the question.
        names: The names in the code that it asks for.
    """

    typed: Mapping[str, str]
    names: tuple[str, ...]

    @classmethod
    def of(cls, query: str) -> Terms:
        """The terms of *query*, the longest first: they are the rarest."""
        query = query[:LOOKED_AT]
        typed: dict[str, str] = {}
        for run in identifiers.runs(query):
            if run.lower() not in identifiers.STOP_WORDS:
                typed |= _typed(run)
        long = {term: word for term, word in typed.items() if len(term.encode()) >= _SHORT}
        longest = sorted((long or typed).items(), key=lambda pair: -len(pair[1]))
        names = () if identifiers.code_lines(query) else identifiers.names(query)
        return cls(dict(longest[:MOST]), names)

    def pattern(self) -> str:
        """One regular expression for all of them, which ERE, PCRE and Python agree on."""
        return "|".join(
            word.replace("_", "_?") if "_" in word else term for term, word in self.typed.items()
        )

    def within(self, text: str) -> tuple[str, ...]:
        """Those of the terms that *text* holds, something that a pattern here matched."""
        plain = text.lower().replace("_", "")
        return tuple(term for term in self.typed if term in plain)

    def mistyped(self, found: Collection[str]) -> dict[str, str]:
        """The terms to look for in another spelling, as `typed`: few of them are *found*."""
        if 2 * len(found) > len(self.typed):
            return {}
        missing = {
            term: word
            for term, word in self.typed.items()
            if term not in found and len(word) >= _LONG and word.isascii() and word.isalpha()
        }
        return dict(list(missing.items())[:MOST_MISTYPED])

    def corrected(self, mistyped: Mapping[str, str], texts: Iterable[str]) -> Terms:
        """The terms with those *mistyped* in the spelling of one of *texts*, where one is near."""
        texts = set(texts)
        typed = {}
        for term, word in self.typed.items():
            meant = identifiers.spelt(word, texts) if term in mistyped else None
            typed[meant or term] = word
        return Terms(typed, self.names)


def _typed(run: str) -> dict[str, str]:
    """`identifiers.typed`, with an underscore where a whole name may have one."""
    typed, parts = dict(identifiers.typed(run)), identifiers.split(run)
    if len(parts) > 1:
        typed["".join(parts)] = "_".join(parts)
    return typed


def near(words: Iterable[str]) -> str:
    """A regular expression for what is about one typing error away from one of *words*."""
    return "|".join(map(_near, words))


def _near(word: str) -> str:
    """Branch at each letter but the first and the last: it is right, or the error is here."""
    pattern = ""
    for at in range(len(word) - 2, 0, -1):
        rest = word[at + 1 :]
        branches = [f"[a-z]{{0,2}}{rest}", f"{rest[0]}{word[at]}{rest[1:]}"]
        pattern = f"({'|'.join([*branches, *([word[at] + pattern] if pattern else [])])})"
    return re.escape(word[0]) + pattern
