"""Decisions worth keeping, in ``.cce/memory.jsonl``: this machine's alone, free of secrets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vera_ccc_tools.memory.journal import DIRECTORY, Journal, timestamp
from vera_ccc_tools.system.secrets import redact

NAME = "memory.jsonl"
# The contract's white space: no vertical tab, nothing beyond ASCII.
_SPACE = "\t\n\f\r "
_SPACES = re.compile(f"[{_SPACE}]+")


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision as it is kept.

    Attributes:
        id: See `decision_id`.
        text, tags, area: What was recorded, redacted.
        ts: When, in ISO 8601, UTC.
    """

    id: str
    text: str
    tags: tuple[str, ...] = ()
    area: str | None = None
    ts: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a decision: its id, its redacted text, and whether it was not there yet."""

    id: str
    text: str
    new: bool


class Memory:
    """The decisions of the project at *root*, and those that were kept in *others*.

    What is recorded goes to *root*.
    """

    def __init__(self, root: Path, others: Iterable[Path] = ()) -> None:
        self._journal = Journal(root / DIRECTORY / NAME)
        self._journals = (
            self._journal,
            *(Journal(other / DIRECTORY / NAME) for other in others),
        )

    def record(self, text: str, tags: Sequence[str] = (), area: str | None = None) -> Recorded:
        """Keep a decision, once: a second one of the same words changes nothing."""
        text = _safe(text)
        found = decision_id(text)
        with self._journal.exclusive():
            for known in self.decisions():
                if known.id == found:
                    return Recorded(found, known.text, new=False)
            entry = {"id": found, "text": text, "tags": [_safe(tag) for tag in tags]}
            place = {} if area is None else {"area": _safe(area)}
            self._journal.write({**entry, **place, "ts": timestamp()})
        return Recorded(found, text, new=True)

    def decisions(self) -> tuple[Decision, ...]:
        """All decisions, of each place the first recorded first."""
        found: dict[str, Decision] = {}
        for journal in self._journals:
            for decision in filter(None, map(_decision, journal.read().entries)):
                found.setdefault(decision.id, decision)
        return tuple(found.values())


def decision_id(text: str) -> str:
    """The id of a text: 16 hexadecimal digits of its SHA-256, however its words are spaced."""
    return hashlib.sha256(one_line(text).encode("utf-8", "replace")).hexdigest()[:16]


def one_line(text: str) -> str:
    """*text* trimmed, each run of TAB, LF, FF, CR and SPACE in it one space."""
    return _SPACES.sub(" ", text).strip(" ")


def _safe(text: str) -> str:
    """*text* without secrets, without half characters, trimmed."""
    return redact(text.encode("utf-8", "replace").decode("utf-8")).strip(_SPACE)


def _decision(entry: dict[str, Any]) -> Decision | None:
    tags, area = entry.get("tags", []), entry.get("area")
    texts = [entry.get("id"), entry.get("text"), entry.get("ts", ""), "" if area is None else area]
    if not isinstance(tags, list) or not all(isinstance(each, str) for each in (*texts, *tags)):
        return None
    return Decision(entry["id"], entry["text"], tuple(tags), area, entry.get("ts", ""))
