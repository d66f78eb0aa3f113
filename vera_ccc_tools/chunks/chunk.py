"""What is served: a piece of a file with an id that says the same thing in every process."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Literal

Type = Literal["function", "class", "module"]
MODULE: Type = "module"
BYTES_A_TOKEN = 4
_HASHED_BYTES = 100


@dataclass(frozen=True, slots=True)
class Member:
    """One thing in a container, by the lines that name it.

    Attributes:
        head: Its first line and, where that is a decorator, the line with its name.
        lines: How many lines it has.
    """

    head: tuple[str, ...]
    lines: int


@dataclass(frozen=True, slots=True)
class Outline:
    """What the parser saw in a chunk, for showing less than all of it; without indentation.

    Attributes:
        name: The unit's own name after those around it (``Service.find``); empty without one.
        signature: Its lines up to the body; none of lines that are no unit.
        doc: The first line of words of its documentation, or empty.
        first: The first line of its first statement, or empty. A container has none.
        members: What a container holds; None of what is no container.
        last: What follows the body, such as the name in ``} Point;``, or empty.
        language: What it was parsed as, by ccc's name.
        shown: How many of the chunk's lines the signature, `doc` and `first` stand on.
    """

    name: str
    signature: tuple[str, ...]
    doc: str = ""
    first: str = ""
    members: tuple[Member, ...] | None = None
    last: str = ""
    language: str = ""
    shown: int = 1


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines of a file; parts of lines only where ccc cut a very long one.

    Attributes:
        path: Relative to the project's root, with forward slashes.
        start_line, end_line: Counted from 1, both included.
        type: ``module`` is what is neither function nor class: text without a parser, a section.
        kind: The syntax node's type (``function_definition``); ``module`` where there is none.
        content: The lines, verbatim, without the last one's line end.
        outline: Of what was parsed.
    """

    path: str
    start_line: int
    end_line: int
    type: Type
    kind: str
    content: str
    outline: Outline | None = field(default=None, compare=False, repr=False)

    @property
    def id(self) -> str:
        """16 hex digits of a hash of the place and of how the content begins."""
        start = self.content.encode("utf-8", "replace")[:_HASHED_BYTES]
        place = f"{self.path}:{self.start_line}:{self.end_line}:".encode("utf-8", "replace")
        return hashlib.sha256(place + start).hexdigest()[:16]

    @property
    def is_unit(self) -> bool:
        """Whether it is a whole function, class or section, and not just some lines."""
        return (self.type, self.kind) != (MODULE, MODULE)

    @property
    def tokens(self) -> int:
        return tokens(self.content)


def tokens(text: str) -> int:
    """About how many tokens *text* is: 4 bytes each, and one at least."""
    return max(1, len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)
