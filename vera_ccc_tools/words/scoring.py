"""How much files and windows say of a question, by its words: as the ranking has it; pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence

from vera_ccc_tools.ranking import bm25, file_kinds, rank
from vera_ccc_tools.ranking import words as identifiers
from vera_ccc_tools.words.terms import Terms

_OFTEN = 0.25
"""What a word in a file counts, as against one in a window."""


class Scoring:
    """Scores by the words of one question."""

    def __init__(self, query: str, terms: Terms) -> None:
        self._terms = terms
        self._file_kinds = file_kinds.asked(query)
        self._definition = identifiers.Definition(terms.names) if terms.names else None

    @property
    def has_names(self) -> bool:
        """Whether the question asks for something that is defined somewhere."""
        return self._definition is not None

    def defines(self, text: str) -> bool:
        """Whether a name of the question is defined in *text*."""
        return self._definition is not None and self._definition.within(text)

    def files(self, texts: Mapping[str, Mapping[str, int]]) -> list[str]:
        """The paths of the files that have *texts*, best first."""
        paths = list(texts)
        counts = []
        for path in paths:
            count: dict[str, float] = {}
            for text, times in texts[path].items():
                for term in self._terms.within(text):
                    count[term] = count.get(term, 0.0) + times * _OFTEN
            counts.append(count)
        return best_first(paths, self._amounts(paths, counts))

    def windows(self, windows: Iterable[tuple[str, str]]) -> list[float]:
        """What each of the *windows*, a path and a content, counts; 0 where it has no word."""
        paths, counts, defines = [], [], []
        for path, content in windows:
            lower = content.lower()
            found = ((term, lower.count(term)) for term in self._terms.typed)
            paths.append(path)
            counts.append({term: float(times) for term, times in found if times})
            defines.append(self.defines(content))
        amounts = self._amounts(paths, counts)
        most = max(amounts, default=0.0)
        return [amount + most * here for amount, here in zip(amounts, defines, strict=True)]

    def _amounts(self, paths: Sequence[str], counts: Sequence[dict[str, float]]) -> list[float]:
        of_path = {path: self._of_path(path) for path in dict.fromkeys(paths)}
        for path, count in zip(paths, counts, strict=True):
            for term, times in of_path[path].items():
                count[term] = count.get(term, 0.0) + times
        kept = {path: self._kept(path) for path in of_path}
        amounts = bm25.amounts(self._terms.typed, counts)
        return [amount * kept[path] for amount, path in zip(amounts, paths, strict=True)]

    def _of_path(self, path: str) -> dict[str, float]:
        directory, name = posixpath.split(path.lower().replace("_", ""))
        weights = rank.WEIGHTS
        counts = {
            term: weights.name * (term in name) + weights.path * (term in directory)
            for term in self._terms.typed
        }
        return {term: times for term, times in counts.items() if times}

    def _kept(self, path: str) -> float:
        kind = file_kinds.of_path(path)
        if kind is None or kind in self._file_kinds:
            return 1.0
        kept: float = getattr(rank.WEIGHTS, kind)
        return kept


def best_first(items: Sequence[str], amounts: Sequence[float]) -> list[str]:
    """*items* by what they count."""
    order = sorted(range(len(items)), key=lambda at: (-amounts[at], at))
    return [items[at] for at in order]
