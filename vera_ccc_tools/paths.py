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
_WILD = re.compile(r"[*?\[\\]")


@dataclass(frozen=True, slots=True)
class PathFilter:
    """Which files of the index are wanted.

    Attributes:
        cover: An SQLite ``GLOB`` that matches at least all of them.
        matches: Says exactly whether a path, relative to the root, is wanted; None where
            *cover* is exact already.
    """

    cover: str
    matches: Callable[[str], bool] | None = None


def parse(text: str, cwd: Path, root: Path) -> PathFilter | None:
    """Read a `path` that is relative to *cwd*, for the project at *root*; None is everything.

    A leading ``@`` or ``./``, a trailing ``/`` and absolute paths inside the project are taken.

    Raises:
        InvalidArgument: When it lies outside the project, names nothing, or is no pattern.
    """
    wanted = _relative(_plain(text), text, cwd, root)
    alternatives = list(dict.fromkeys(_alternatives(wanted, text, root)))
    if not any(_WILD.search(alternative) for alternative in alternatives):
        alternatives = [name for name in alternatives if _exists(root, name)]
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
    """The wanted path or pattern, relative to *root*, ``.`` for the root itself."""
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


def _alternatives(wanted: str, text: str, root: Path) -> Sequence[str]:
    if _exists(root, wanted):
        return [wanted]  # a name that only looks like a pattern, such as app/[id]
    try:
        return bracex.expand(wanted, keep_escapes=True, limit=MAX_ALTERNATIVES)
    except bracex.ExpansionLimitException as error:
        raise InvalidArgument(
            f"`path` {shorten(text)} has more than {MAX_ALTERNATIVES} alternatives in braces.",
            "Use `*` instead, or several searches.",
        ) from error


def _literal(root: Path, name: str) -> PathFilter:
    escaped = _glob_escaped(name)
    return PathFilter(f"{escaped}/*" if (root / name).is_dir() else escaped)


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
        inside = wanted.removeprefix(prefix)
        if "/" not in inside:  # as in .gitignore: at any depth
            line = f"/{_gitignore_escaped(prefix)}**/{inside}"
            return cls(line, prefix, _tail(inside))
        if wanted.startswith(prefix):
            line = f"/{_gitignore_escaped(prefix)}{inside}"
        else:
            line = f"/{wanted}"
        return cls(line, _WILD.split(wanted, maxsplit=1)[0], _tail(inside))


def _tail(pattern: str) -> str:
    """The literal end of a pattern's last segment; nothing where escapes make that unclear."""
    last = pattern.rsplit("/", 1)[-1]
    return "" if "\\" in last else re.split(r"[*?\]\[]", last)[-1]


def _globbed(patterns: Sequence[_Pattern], text: str) -> PathFilter:
    try:
        spec = GitIgnoreSpec.from_lines([pattern.line for pattern in patterns])
    except ValueError as error:
        raise InvalidArgument(
            f"`path` {shorten(text)} is no glob that can be read: {error}.",
            "Use `*`, `**`, `?`, `[…]` and `{a,b}` only.",
        ) from error
    # Character by character is what is wanted: `src/a*` and `src/b*` share `src/`.
    head = os.path.commonprefix([pattern.head for pattern in patterns])  # noqa: RUF071
    tail = os.path.commonprefix([pattern.tail for pattern in patterns])  # noqa: RUF071
    cover = f"{_glob_escaped(head)}*" + (f"{_glob_escaped(tail)}*" if tail else "")
    return PathFilter(cover, spec.match_file)


def _glob_escaped(text: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", text)


def _gitignore_escaped(text: str) -> str:
    return re.sub(r"([*?\[\\ ])", r"\\\1", text)
