"""What is served: a piece of a file with an id that says the same thing in every process."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

Type = Literal["function", "class", "module"]

_HASHED_BYTES = 100
_BYTES_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines of a file.

    Attributes:
        path: Relative to the project's root, with forward slashes.
        start_line, end_line: Counted from 1, both included.
        type: ``module`` is what is neither function nor class: text without a parser, a section.
        kind: The syntax node's type (``function_definition``); ``module`` where there is none.
        content: The lines, verbatim, without the last one's line end.
    """

    path: str
    start_line: int
    end_line: int
    type: Type
    kind: str
    content: str

    @property
    def id(self) -> str:
        """16 hex digits of a hash of the place and of how the content begins."""
        start = self.content.encode("utf-8", "replace")[:_HASHED_BYTES]
        place = f"{self.path}:{self.start_line}:{self.end_line}:".encode("utf-8", "replace")
        return hashlib.sha256(place + start).hexdigest()[:16]

    @property
    def tokens(self) -> int:
        """About how many tokens the content is, by its bytes."""
        return tokens(self.content)


def tokens(text: str) -> int:
    """About how many tokens *text* is: 4 bytes each, and one at least."""
    return max(1, len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN)
