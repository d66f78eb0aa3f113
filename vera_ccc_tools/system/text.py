"""Text for a model: cleaned, cut where a cut does no harm, and saved where something is lost."""

from __future__ import annotations

import functools
import math
import os
import re
import stat
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 50 * 1024
MAX_LINES = 2000
KEPT = 7 * 24 * 3600.0
"""Seconds that a saved output is kept for."""
_SAVED = re.compile(r"vera-ccc-(?:[0-9a-f]{16}\.txt|[a-z0-9_]{8}(?:\.txt)?)")
"""What is saved here, and was by earlier versions."""

# Terminal control sequences: CSI, OSC and the other string kinds (ended by BEL or ST), then the
# two- and three-byte escapes. None reaches over a line's end, or it would hide what follows: a
# string that is not ended loses its introducer only.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]?"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c\r\n]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]?"
)
# What is left of C0 and C1 but TAB and LF, DEL, and the bidirectional controls.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]"
)


def clean(text: str) -> str:
    """Remove what could move a cursor, or hide or reorder text.

    Line ends become LF; TAB stays; every printable character stays as it is.
    """
    text = text.replace("\r\n", "\n")
    text = _ESCAPES.sub("", text)
    text = _CONTROLS.sub("", text)
    return text.encode("utf-8", "replace").decode("utf-8")


def clean_line(text: str) -> str:
    """`clean` for what has to stay on one line, such as a path: line ends become spaces."""
    return re.sub(r"[\n\t\u0085\u2028\u2029]", " ", clean(text))


def is_utf8(name: str) -> bool:
    """Whether *name* can be encoded: the name of a file need not be UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Page:
    """Blocks that fit.

    Attributes:
        text: The blocks, a blank line between them.
        shown: How many of the blocks it holds.
    """

    text: str
    shown: int


def page(blocks: Sequence[str], *, max_bytes: int = MAX_BYTES, max_lines: int = MAX_LINES) -> Page:
    """Join as many whole *blocks* as fit; a first one that alone is too long is cut at a line."""
    taken: list[str] = []
    size = lines = 0
    for block in blocks:
        size += len(block.encode()) + 2
        lines += block.count("\n") + 2
        if size > max_bytes or lines > max_lines:
            break
        taken.append(block)
    if blocks and not taken:
        return Page(head(blocks[0], max_bytes=max_bytes, max_lines=max_lines), 1)
    return Page("\n\n".join(taken), len(taken))


def head(text: str, *, max_bytes: int = MAX_BYTES, max_lines: int = MAX_LINES) -> str:
    """The first whole lines of *text* that fit; half a line only where no whole one does."""
    lines = text.split("\n")[:max_lines]
    kept, size = [], 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > max_bytes + 1:
            break
        kept.append(line)
    if kept:
        return "\n".join(kept)
    return text.encode()[:max_bytes].decode("utf-8", "ignore")


def fit(text: str, *, max_bytes: int = MAX_BYTES, max_lines: int = MAX_LINES) -> str:
    """*text* itself when it fits, else its head, with the whole of it in a file that is named."""
    total_lines = text.count("\n") + 1
    total_bytes = len(text.encode())
    if total_bytes <= max_bytes and total_lines <= max_lines:
        return text
    shown = head(text, max_bytes=max_bytes - 1024, max_lines=max_lines - 2)
    note = (
        f"[Output truncated: showing {shown.count(chr(10)) + 1} of {total_lines} lines "
        f"({len(shown.encode()):,} of {total_bytes:,} bytes). {_saved(text)}]"
    )
    return f"{shown}\n\n{note}"


def _saved(text: str) -> str:
    try:
        return f"Full output saved to: {_save(text.encode())}"
    except OSError as error:
        return f"The full output could not be saved: {error.strerror}."


def _save(data: bytes) -> Path:
    """Keep *data* in a file that is named by it, so that the same output is kept once."""
    import hashlib  # 5 ms that only a long output has to pay

    directory = Path(tempfile.gettempdir())
    _remove_old(directory)
    kept = directory / f"vera-ccc-{hashlib.sha256(data).hexdigest()[:16]}.txt"
    if _is_ours(kept) and kept.read_bytes() == data:
        os.utime(kept)  # its week begins anew
        return kept
    descriptor, name = tempfile.mkstemp(prefix="vera-ccc-", suffix=".txt", dir=directory)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    try:
        return Path(name).replace(kept)
    except OSError:  # something of another user has that name
        return Path(name)


@functools.cache
def _remove_old(directory: Path) -> None:
    """Remove what was saved more than `KEPT` ago; once in a process, and never by a link."""
    with suppress(OSError):
        for name in os.listdir(directory):  # noqa: PTH208 - most of the names are not looked at
            if _SAVED.fullmatch(name) and _is_ours(directory / name, time.time() - KEPT):
                with suppress(OSError):
                    (directory / name).unlink()


def _is_ours(path: Path, before: float = math.inf) -> bool:
    """Whether this is a file, no link, of this user, and was written before that time."""
    try:
        found = path.lstat()
    except OSError:
        return False
    own = os.name == "nt" or found.st_uid == os.getuid()
    return stat.S_ISREG(found.st_mode) and own and found.st_mtime < before


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """``1 file``, ``2 files``, ``1,204 files``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def rounded(number: int) -> str:
    """A count to two significant digits, which stays the same while little changes: ``5.7k``."""
    if number < 100:
        return str(number)
    for unit, size in (("M", 1_000_000), ("k", 1000)):
        if number >= size - size // 200:
            scaled = float(f"{number / size:.2g}")
            return f"{scaled:g}{unit}" if scaled >= 10 else f"{scaled:.1f}{unit}"
    return f"{float(f'{number:.2g}'):g}"
