"""Which decisions a question is about: the hybrid ranking of the engine's contract.

Half the score is confidence: how near the words are, and whether one occurs. Half is the place
among the others, by vector and by BM25. Only what is sure enough is recalled at all.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vera_ccc_tools.memory.decisions import Decision
from vera_ccc_tools.ranking.bm25 import SATURATION, amounts, by_length

MIN_SCORE = 0.30

_PLACES = 256
_LENGTH = 0.75
_RANK = 60
_CODE_WEIGHT = 1.5
_TOKEN = re.compile(rb"[A-Za-z0-9_]+")
_ASKS_FOR_CODE = re.compile(
    rb"\b(?:function|class|method|def)\b|\.(?:py|js|jsx|ts|go|rb|rs|java)\b"
    rb"|where is |find .*function| defined"
)


@dataclass(frozen=True, slots=True)
class Recalled:
    """A decision and how sure it is: 0 to 1, six decimals."""

    score: float
    decision: Decision


def recall(query: str, decisions: Sequence[Decision], top_k: int) -> tuple[Recalled, ...]:
    """The decisions that *query* is about, the surest first, at most *top_k*.

    Each scores `MIN_SCORE` at least and shares a word with the query. The cut comes last, so that
    what is dropped takes no place from what is not.
    """
    asked = _lower(query)
    words = set(tokens(asked))
    documents = {each.id: _lower(_searched(each)) for each in decisions}
    scores = _scores(asked, documents) if words else {}
    found = [
        Recalled(scores[each.id], each)
        for each in decisions
        if scores and scores[each.id] >= MIN_SCORE and words & set(tokens(documents[each.id]))
    ]
    return tuple(sorted(found, key=lambda it: (-it.score, it.decision.id))[: max(0, top_k)])


def tokens(text: bytes) -> list[bytes]:
    """The words of *text*, which is in lower case: letters, digits and ``_`` of ASCII."""
    return _TOKEN.findall(text)


def fnv1a(token: bytes) -> int:
    """The 64-bit FNV-1a hash."""
    found = 0xCBF29CE484222325
    for byte in token:
        found = (found ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return found


def bm25(words: Sequence[bytes], documents: Mapping[str, Sequence[bytes]]) -> dict[str, float]:
    """BM25 of those *documents* that have one of the *words*, by their ids."""
    shares = by_length([len(document) for document in documents.values()], _LENGTH)
    counts = [
        {word: times * share for word, times in Counter(document).items()}
        for document, share in zip(documents.values(), shares, strict=True)
    ]
    found = zip(documents, amounts(dict.fromkeys(words), counts), strict=True)
    return {name: (SATURATION + 1) * amount for name, amount in found if amount}


def _scores(asked: bytes, documents: Mapping[str, bytes]) -> dict[str, float]:
    words = tokens(asked)
    split = {name: tokens(document) for name, document in documents.items()}
    vector = _vector(words)
    near = {name: _dot(vector, _vector(document)) for name, document in split.items()}
    fused = _fused(near, bm25(words, split), _CODE_WEIGHT if _ASKS_FOR_CODE.search(asked) else 1.0)
    greatest = max(fused.values(), default=1.0)
    return {
        name: _six(
            0.5 * _confidence(near[name], occurs=any(word in document for word in set(words)))
            + 0.5 * fused[name] / greatest
        )
        for name, document in documents.items()
    }


def _confidence(cosine: float, *, occurs: bool) -> float:
    distance = min(1.0, max(0.0, (1 - cosine) / 2))
    return 0.5 * (1 - distance) + 0.4 * (1.0 if occurs else 0.6)


def _fused(
    near: Mapping[str, float], relevant: Mapping[str, float], weight: float
) -> dict[str, float]:
    """Reciprocal rank fusion; what has no BM25 has no place by it."""
    fused = {name: 1 / (_RANK + place) for place, name in enumerate(_best_first(near))}
    for place, name in enumerate(_best_first(relevant)):
        fused[name] += weight / (_RANK + place)
    return fused


def _best_first(amounts: Mapping[str, float]) -> list[str]:
    return sorted(amounts, key=lambda name: (-_six(amounts[name]), name))


def _vector(words: Sequence[bytes]) -> list[float]:
    """The words' hashes in 256 places, of length 1; all 0 where there is no word."""
    vector = [0.0] * _PLACES
    for word in words:
        place, sign = _place(word)
        vector[place] += sign
    length = math.sqrt(sum(each * each for each in vector))
    return [each / length for each in vector] if length else vector


@lru_cache(maxsize=65536)
def _place(word: bytes) -> tuple[int, float]:
    found = fnv1a(word)
    return found % _PLACES, -1.0 if found >> 63 else 1.0


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _six(amount: float) -> float:
    """*amount* to six decimals, halves away from zero, as every implementation rounds it."""
    return math.copysign(math.floor(abs(amount) * 1e6 + 0.5) / 1e6, amount)


def _searched(decision: Decision) -> str:
    return " ".join([decision.text, *decision.tags, *([decision.area] if decision.area else [])])


def _lower(text: str) -> bytes:
    """*text* in UTF-8, its ASCII letters in lower case."""
    return text.encode("utf-8", "replace").lower()
