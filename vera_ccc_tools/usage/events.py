"""What was searched and how it served, in ``.cce/metrics.jsonl``.

The savings compare what was served with reading every file of the results whole. No agent works
like that: they say how much was left out, not what a session costs.
"""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.memory.journal import DIRECTORY, Entries, Journal, timestamp
from vera_ccc_tools.system.secrets import redact

NAME = "metrics.jsonl"
SCHEMA = "cce.metrics/v1"
LOW_CONFIDENCE = 0.30
TAIL = 256 * 1024
"""Bytes at the end of the log, some five hundred searches, that are looked through for an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEvent:
    """One search.

    Attributes:
        id: The ``query_id`` that the caller was given, from `new_id`.
        query, top_k, graph_enabled, embedder: What was asked, and who compared.
        scores: ccc's, one for each result; not finite where only words led to it.
        baseline_tokens: Of the distinct files of the results, whole.
        full_tokens: Of the results' bodies, whole.
        served_tokens: Of the bodies as they were served.
        grammar_tokens: What the terse form of the lines saved.
        latency_ms: From call to answer.
        source: Who asked.
    """

    id: str
    query: str
    top_k: int
    graph_enabled: bool
    embedder: str
    scores: tuple[float, ...]
    baseline_tokens: int
    full_tokens: int
    served_tokens: int
    grammar_tokens: int = 0
    latency_ms: float = 0.0
    source: Literal["mcp", "cli"] = "mcp"


class Metrics:
    """The log of the project at a root."""

    def __init__(self, root: Path) -> None:
        self._journal = Journal(root / DIRECTORY / NAME)
        self._issued: set[str] = set()

    def search(self, event: SearchEvent) -> None:
        """Log a search, where that is possible: no search fails for its log."""
        self._issued.add(event.id)
        try:
            self._journal.append({**_common("search", event.id), **_search(event)})
        except Failure:
            return

    def feedback(self, target_id: str, helpful: bool, note: str | None = None) -> None:  # noqa: FBT001
        """Log what the caller thinks of a search."""
        said = None if note is None else redact(note)
        told = {"target_id": redact(target_id), "helpful": helpful, "note": said}
        self._journal.append({**_common("feedback", new_id()), **told})

    def knows(self, query_id: str) -> bool:
        """Whether a search has this id: one of this session, or one at the end of the log."""
        return query_id in self._issued or any(
            entry.get("event") == "search" and entry.get("id") == query_id
            for entry in self._journal.read(TAIL).entries
        )

    def read(self) -> Entries:
        """The events of this schema, and how many lines are broken."""
        held = self._journal.read()
        known = [entry for entry in held.entries if entry.get("schema") == SCHEMA]
        return Entries(tuple(known), held.broken)


def new_id() -> str:
    """A new ``query_id``: twelve hexadecimal digits."""
    return uuid.uuid4().hex[:12]


def _common(event: str, found: str) -> dict[str, Any]:
    return {"schema": SCHEMA, "event": event, "ts": timestamp(), "id": found}


def _search(event: SearchEvent) -> dict[str, Any]:
    saved = max(0, event.baseline_tokens - event.served_tokens)
    scores = [score for score in event.scores if math.isfinite(score)]
    top = round(max(scores, default=0.0), 6)
    return {
        "query": redact(event.query),
        "top_k": event.top_k,
        "graph_enabled": event.graph_enabled,
        "embedder": event.embedder,
        "result_count": len(event.scores),
        "baseline_tokens": event.baseline_tokens,
        "served_tokens": event.served_tokens,
        "tokens_saved": saved,
        "savings_ratio": round(saved / event.baseline_tokens, 6) if event.baseline_tokens else 0.0,
        "savings": _savings(event),
        "top_score": top,
        "mean_score": round(sum(scores) / len(scores), 6) if scores else 0.0,
        "empty": not event.scores,
        "low_confidence": bool(scores) and top < LOW_CONFIDENCE,
        "latency_ms": round(event.latency_ms, 3),
        "source": event.source,
    }


def _savings(event: SearchEvent) -> dict[str, int]:
    """The seven buckets of the contract; what only an agent could know stays 0."""
    return {
        "retrieval": max(0, event.baseline_tokens - event.full_tokens),
        "chunk_compression": max(0, event.full_tokens - event.served_tokens),
        "grammar": max(0, event.grammar_tokens),
        "output": 0,
        "memory": 0,
        "turn_summarization": 0,
        "progressive_disclosure": 0,
    }
