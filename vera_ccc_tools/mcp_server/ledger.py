"""What a session has done so far, as a short list: the same calls give the same bytes."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from vera_ccc_tools.errors import InvalidArgument, shorten
from vera_ccc_tools.memory.decisions import one_line
from vera_ccc_tools.system.secrets import redact

SCOPES = {
    "all": ("files", "chunks", "queries", "decisions"),
    "files": ("files", "chunks"),
    "queries": ("queries",),
    "decisions": ("decisions",),
}
"""The sections of each scope, in order; the first scope is the default."""

_MOST = 20
_LABEL = 60


class Ledger:
    """The calls of one session; any thread may add to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: set[str] = set()
        self._chunks: set[str] = set()
        # A dict keeps the order of what is first seen.
        self._queries: dict[str, None] = {}
        self._decisions: dict[str, str] = {}

    def touch(self, files: Iterable[str] = (), chunks: Iterable[str] = ()) -> None:
        with self._lock:
            self._files.update(files)
            self._chunks.update(chunks)

    def query(self, text: str) -> None:
        """Note what was searched for, without its secrets: a digest is made to be handed on."""
        query = one_line(redact(text))
        with self._lock:
            self._queries.setdefault(query)

    def decision(self, found: str, text: str) -> None:
        with self._lock:
            self._decisions.setdefault(found, _label(text))

    def digest(self, scope: str = "all") -> str:
        """The session as a list, at most twenty items of a kind.

        Raises:
            InvalidArgument: When there is no such scope.
        """
        if scope not in SCOPES:
            allowed = ", ".join(f"`{each}`" for each in SCOPES)
            raise InvalidArgument(f"`scope` is {shorten(scope)}; it has to be one of {allowed}.")
        with self._lock:
            sections = {
                "files": sorted(self._files),
                "chunks": sorted(self._chunks),
                "queries": [_label(query) for query in self._queries],
                "decisions": [f"#{found} {label}" for found, label in self._decisions.items()],
            }
        lines = ["CCE session digest"]
        if not any(sections.values()):
            return "\n".join([*lines, "(nothing recorded this session yet)"])
        for name in SCOPES[scope]:
            lines += _section(name, sections[name])
        return "\n".join(lines)


def _section(name: str, items: Sequence[str]) -> list[str]:
    lines = [f"{name} ({len(items)}):", *(f"- {item}" for item in items[:_MOST])]
    return [*lines, f"… (+{len(items) - _MOST} more)"] if len(items) > _MOST else lines


def _label(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LABEL else f"{line[:_LABEL]}…"
