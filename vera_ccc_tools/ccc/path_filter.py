"""The `path` of a search: a directory, a file, or a gitignore-style glob with braces.

ccc's own ``--path`` is an SQLite ``GLOB`` over the whole path, in which ``sub``, ``./sub/*``,
``sub/**/*.py`` and ``{a,b}`` silently find nothing. So ccc is given one ``GLOB`` that covers all
that is wanted, and what it finds is filtered exactly.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import bracex
from pathspec import GitIgnoreSpec

from vera_ccc_tools.errors import InvalidArgument, shorten

MAX_LENGTH = 4000
MAX_ALTERNATIVES = 200
MAX_STARS = 8
"""Runs of ``*`` in one pattern; each one more makes the worst name ten times as slow to match."""
_WILD = re.compile(r"[*?\[\\]")


@dataclass(frozen=True, slots=True)
class PathFilter:
    """Which files of the index are wanted.

    Attributes:
        cover: An SQLite ``GLOB`` that matches at least all of them.
        matches: Says exactly whether a path, relative to the root, is wanted; None where
            *cover* is exact already.
        one_file: Whether it names a single file.
    """

    cover: str
    matches: Callable[[str], bool] | None = None
    one_file: bool = False


def parse(text: str, cwd: Path, root: Path) -> PathFilter | None:
    """Read a `path` that is relative to *cwd*, for the project at *root*; None is everything.

    A leading ``@`` or ``./``, a trailing ``/`` and absolute paths inside the project are taken.

    Raises:
        InvalidArgument: When it lies outside the project, names nothing, or is no pattern.
    """
    plain = _plain(text)
    spellings = [plain] if _exists(cwd, plain) else _alternatives(plain, text)
    alternatives = list(dict.fromkeys(_relative(each, text, cwd, root) for each in spellings))
    if not any(_WILD.search(each) for each in alternatives):
        alternatives = [each for each in alternatives if _exists(root, each)]
        if not alternatives:
            raise InvalidArgument(
                f"`path` {shorten(text)} names no file or directory in {cwd}.",
                "Give a directory, a file or a glob such as `src/**/*.py`, "
                "relative to that directory.",
            )
    if "." in alternatives:
        return None
    if len(alternatives) == 1 and _exists(root, alternatives[0]):
        return _literal(root, alternatives[0])
    base = "." if cwd == root else cwd.relative_to(root).as_posix()
    return _globbed([_Pattern.of(each, base, root) for each in alternatives], text)


def _plain(text: str) -> str:
    plain = text.strip().removeprefix("@")
    if os.name == "nt":
        plain = plain.replace("\\", "/")
    if len(plain) > MAX_LENGTH:
        raise InvalidArgument(
            f"`path` has {len(plain):,} characters ({shorten(text)}); at most {MAX_LENGTH:,} go.",
            "Name a directory instead.",
        )
    if not plain or "\0" in plain or any("\ud800" <= each <= "\udfff" for each in plain):
        raise InvalidArgument(
            f"`path` {shorten(text)} is empty, or holds what no path can hold.",
            "Leave `path` out to search the whole project.",
        )
    return plain


def _relative(plain: str, text: str, cwd: Path, root: Path) -> str:
    """A wanted path or pattern, relative to *root*, ``.`` for the root itself."""
    if posixpath.isabs(plain) or Path(plain).is_absolute():
        full = _real_head(plain)
    else:
        full = posixpath.join(cwd.as_posix(), plain)
    full = posixpath.normpath(full)
    top = root.as_posix()
    if full == top:
        return "."
    prefix = top if top.endswith("/") else f"{top}/"
    if not full.startswith(prefix):
        raise InvalidArgument(
            f"`path` {shorten(text)} lies outside the project {root}.",
            f"Give a path relative to {cwd}, or leave `path` out.",
        )
    return full[len(prefix) :]


def _real_head(plain: str) -> str:
    """An absolute path with the links of its part before any wildcard resolved, as the root's."""
    head = re.split(r"[*?\[{\\]", plain, maxsplit=1)[0]
    directory = head if head == plain else posixpath.dirname(head)
    return Path(os.path.realpath(directory)).as_posix() + plain[len(directory) :]


def _exists(root: Path, name: str) -> bool:
    try:
        return os.path.lexists(root / name)
    except (OSError, ValueError):
        return False


def _alternatives(plain: str, text: str) -> Sequence[str]:
    try:
        return bracex.expand(plain, keep_escapes=True, limit=MAX_ALTERNATIVES)
    except (bracex.ExpansionLimitException, RecursionError) as error:
        raise InvalidArgument(
            f"`path` {shorten(text)} has more than {MAX_ALTERNATIVES} alternatives in braces.",
            "Use `*` instead, or several searches.",
        ) from error


def _literal(root: Path, name: str) -> PathFilter:
    escaped = _glob_escaped(name)
    if (root / name).is_dir():
        return PathFilter(f"{escaped}/*")
    return PathFilter(escaped, one_file=True)


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One alternative: its gitignore line, and the literal text its matches begin and go on with.

    Whatever matches is ``head … tail …``: a match of a directory takes all below it in.
    """

    line: str
    head: str
    tail: str

    @classmethod
    def of(cls, wanted: str, base: str, root: Path) -> _Pattern:
        if not _WILD.search(wanted) or _exists(root, wanted):
            return cls(f"/{_gitignore_escaped(wanted)}", wanted, "")
        prefix = "" if base == "." else f"{base}/"
        anchored = not wanted.startswith(prefix) or "/" in wanted.removeprefix(prefix)
        literal = _existing_head(wanted, root)
        rest = wanted[len(literal) :]
        line = f"/{_gitignore_escaped(literal)}{'' if anchored else '**/'}{_kept_space(rest)}"
        head = literal + (_WILD.split(rest, maxsplit=1)[0] if anchored else "")
        return cls(line, head, _tail(rest))


def _existing_head(wanted: str, root: Path) -> str:
    """The leading directories that exist as they are written, such as ``app/[id]/``."""
    head = ""
    for segment in wanted.split("/")[:-1]:
        if not (root / head / segment).is_dir():
            break
        head += f"{segment}/"
    return head


def _kept_space(pattern: str) -> str:
    """A pattern whose last space does not get lost as a gitignore line's does."""
    return f"{pattern[:-1]}\\ " if pattern.endswith(" ") else pattern


def _tail(pattern: str) -> str:
    """The literal end of a pattern's last segment; nothing where escapes make that unclear."""
    last = pattern.rsplit("/", 1)[-1]
    return "" if "\\" in last else re.split(r"[*?\]\[]", last)[-1]


def _globbed(patterns: Sequence[_Pattern], text: str) -> PathFilter:
    if any(len(re.findall(r"\*+", pattern.line)) > MAX_STARS for pattern in patterns):
        raise InvalidArgument(
            f"`path` {shorten(text)} has more than {MAX_STARS} wildcards `*`.",
            "Use fewer of them; `**` matches any number of directories.",
        )
    if any(_is_unclosed(pattern.line) for pattern in patterns):
        raise InvalidArgument(
            f"`path` {shorten(text)} has a `[` without its `]`.",
            "Close it, or write `[[]` for the character itself.",
        )
    try:
        spec = GitIgnoreSpec.from_lines([pattern.line for pattern in patterns])
    except (ValueError, re.error) as error:
        raise InvalidArgument(
            f"`path` {shorten(text)} is no glob that can be read: {error}.",
            "Use `*`, `**`, `?`, `[…]` and `{a,b}` only.",
        ) from error
    # Character by character is what is wanted: `src/a*` and `src/b*` share `src/`.
    head = os.path.commonprefix([pattern.head for pattern in patterns])  # noqa: RUF071
    tail = os.path.commonprefix([pattern.tail for pattern in patterns])  # noqa: RUF071
    cover = f"{_glob_escaped(head)}*" + (f"{_glob_escaped(tail)}*" if tail else "")
    return PathFilter(cover, spec.match_file)


def _is_unclosed(line: str) -> bool:
    """Whether a set of characters begins in *line* and does not end; git matches nothing then."""
    rest = re.sub(r"\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]", "", line)
    return "[" in rest


def _glob_escaped(text: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", text)


def _gitignore_escaped(text: str) -> str:
    return re.sub(r"([*?\[\\ ])", r"\\\1", text)
