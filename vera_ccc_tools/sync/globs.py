"""The globs of ccc's matcher: escape a name, and know of simple patterns what they match.

ccc hands ``include_patterns`` and ``exclude_patterns`` to ``globset`` 0.4 (cocoindex
``rust/ops_text/src/pattern_matcher.rs``): matched against the whole path relative to the
project's root, case-sensitive, ``*`` and ``?`` cross ``/``. A directory that a pattern excludes
is not walked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPECIAL = frozenset("?*[]{}\\")


def escape(name: str, *, backslash: bool = False) -> str:
    r"""Write *name* so that it matches itself alone wherever it stands in a pattern.

    The portable form puts each special character into a class of its own (``[[]id[]]``). With
    *backslash* it is quoted (``\[id\]``), which globset matches as fast as plain text and builds
    by the ten thousand, but which on Windows is a separator.
    """
    form = "\\{}" if backslash else "[{}]"
    return "".join(form.format(char) if char in _SPECIAL else char for char in name)


def at_root(pattern: str) -> str:
    """Keep a pattern that begins with a ``!`` from being read as a negation."""
    # ``[!]`` would open a negated class; braces around one alternative change nothing else.
    return "{!}" + pattern[1:] if pattern.startswith("!") else pattern


def is_plain(name: str) -> bool:
    """Whether *name* is its own pattern."""
    return not name.startswith("!") and _is_text(name)


class Includes:
    """What ``include_patterns`` may include; None includes everything."""

    def __init__(self, patterns: Iterable[str] | None) -> None:
        self._simple = None if patterns is None else _Simple(patterns)

    def may_include(self, path: str) -> bool:
        simple = self._simple
        return simple is None or simple.others or simple.reach(path)


class Excludes:
    """What the simple ones among the user's ``exclude_patterns`` exclude for certain.

    A ``!`` pattern takes back what any other excludes, and keeps ccc from leaving out directories
    with something below that it could take back: beside one, nothing is certain.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        listed = tuple(patterns)
        self._simple = _Simple(() if any(one.startswith("!") for one in listed) else listed)

    def cover(self, path: str) -> bool:
        """Whether *path* is excluded; of a directory, with ``/`` at its end, all its content."""
        return self._simple.reach(path)


class _Simple:
    """The simple ones of many patterns.

    They are ``T``, ``T/*`` and ``T/**`` (at the root, or anywhere after ``**/``), ``**/T*``,
    ``*T``, ``**/*T`` and those for everything, where T is plain text.

    Attributes:
        others: Whether there are patterns of another form, which are left aside.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self.others = False
        self._rooted: set[str] = set()
        self._searched: list[str] = []
        for pattern in dict.fromkeys(patterns):
            self._add(pattern)
        self._regex = re.compile("|".join(self._searched) or "(?!)", re.DOTALL)

    def _add(self, pattern: str) -> None:
        text = pattern.removeprefix("**/")
        inside = text.removesuffix("*").removesuffix("*")  # of a directory, not the directory
        if pattern in {"*", "**", "**/*", "**/**"}:
            self._searched.append("/")
        elif text.startswith("*") and _is_path(text[1:]):
            self._searched.append(re.escape(text[1:]) + "/")
        elif text.endswith(("/**", "/*")) and _is_path(inside[:-1]):
            self._put(pattern, inside, "(?=.)")
        elif _is_path(text):
            self._put(pattern, text, "/")
        elif text != pattern and text.endswith("*") and _is_path(text[:-1]):
            self._searched.append("/" + re.escape(text[:-1]))
        else:
            self.others = True

    def _put(self, pattern: str, text: str, end: str) -> None:
        if pattern.startswith("**/"):
            self._searched.append(f"/{re.escape(text)}{end}")
        else:
            self._rooted.add(text)

    def reach(self, path: str) -> bool:
        """Whether a pattern matches *path*, or a directory above it and so all that is in it."""
        if self._regex.search(f"/{path}/"):
            return True
        ends = (at for at, char in enumerate(path) if char == "/") if self._rooted else ()
        return path in self._rooted or any(
            path[:at] in self._rooted or path[: at + 1] in self._rooted for at in ends
        )


def _is_path(text: str) -> bool:
    # With a slash too many a pattern never matches.
    return bool(text) and _is_text(text) and not text.startswith("/") and "//" not in text + "/"


def _is_text(text: str) -> bool:
    return _SPECIAL.isdisjoint(text)
