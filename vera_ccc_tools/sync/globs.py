"""The globs of ccc's matcher: escape a name, and decide without ccc what a pattern matches.

ccc hands ``include_patterns`` and ``exclude_patterns`` to ``globset`` 0.4 (cocoindex
``rust/ops_text/src/pattern_matcher.rs``): matched against the whole path relative to the
project's root, case-sensitive, ``*`` and ``?`` cross ``/``. `compile_glob` translates the same
grammar to a regular expression; a pattern that it does not know for certain is None, and each
caller errs on the side where nothing is lost.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

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
    return not name.startswith("!") and _SPECIAL.isdisjoint(name)


def compile_glob(pattern: str) -> re.Pattern[bytes] | None:
    """Translate one pattern (without a leading ``!``) as globset does, for `re.fullmatch`.

    None where globset refuses the pattern, and where its meaning is not certain: a character
    class with more than ASCII (globset matches bytes), and backslashes off POSIX.
    """
    try:
        return re.compile(_Translator(pattern).regex(), re.DOTALL)
    except _Unsure:
        return None


class _Unsure(Exception):
    """The pattern is not understood for certain."""


_EVERYTHING = frozenset({"*", "**", "**/*", "**/**"})
_PREFIX = b"(?:/?|.*/)"
_SUFFIX = b"/.*"
_MIDDLE = b"(?:/|/.*/)"
_STAR = b".*"


class _Translator:
    """globset's parser (``crates/glob.rs``), one method for each of its own."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._branches: list[list[bytes]] = [[]]
        self._open: list[int] = []

    def regex(self) -> bytes:
        while self._at < len(self._text):
            char = self._text[self._at]
            self._at += 1
            self._token(char)
        if self._open:
            raise _Unsure
        tokens = self._branches[0]
        return _STAR if tokens == [_PREFIX] else b"".join(tokens)

    def _token(self, char: str) -> None:
        if char == "?":
            self._push(b".")
        elif char == "*":
            self._star()
        elif char == "[":
            self._push(self._class())
        elif char == "{":
            self._open.append(len(self._branches))
            self._branches.append([])
        elif char == "}":
            self._close()
        elif char == "," and self._open:
            self._branches.append([])
        else:
            self._push(_literal(self._quoted() if char == "\\" else char))

    def _push(self, token: bytes) -> None:
        self._branches[-1].append(token)

    def _quoted(self) -> str:
        if os.name != "posix" or self._at >= len(self._text):
            raise _Unsure
        self._at += 1
        return self._text[self._at - 1]

    def _close(self) -> None:
        if not self._open:
            raise _Unsure
        start = self._open.pop()
        # An empty alternative is dropped (globset's default), not matched.
        parts = [b"".join(tokens) for tokens in self._branches[start:] if tokens]
        del self._branches[start:]
        if not parts:
            raise _Unsure
        self._push(b"(?:" + b"|".join(parts) + b")")

    def _star(self) -> None:
        text = self._text
        before = text[self._at - 2] if self._at > 1 else ""
        if text[self._at : self._at + 1] != "*":
            self._push(_STAR)
            return
        self._at += 1
        after = text[self._at : self._at + 1]
        if self._open or after == "*":
            raise _Unsure  # what `**` means beside `{`, `,` or a third star is not worth a rule
        if not self._branches[-1] and after in {"", "/"}:
            self._at += 1
            self._push(_PREFIX)
        elif before != "/" or after not in {"", "/"}:
            self._push(_STAR)
        else:
            self._at += 1
            self._recursive(_MIDDLE if after else _SUFFIX)

    def _recursive(self, token: bytes) -> None:
        # The separator before `**` belongs to it; after another `**` there is none to take.
        last = self._branches[-1].pop()
        self._push(last if last in {_PREFIX, _SUFFIX} else token)
        if last == _MIDDLE:
            raise _Unsure

    def _class(self) -> bytes:
        first = self._at + (self._text[self._at : self._at + 1] in {"!", "^"})
        end = self._text.find("]", first + 1)
        if end < 0:
            raise _Unsure
        body = self._text[self._at : end]
        self._at = end + 1
        negated = body[:1] in {"!", "^"}
        members = body[1:] if negated else body
        if not members.isascii() or not members:
            raise _Unsure
        return b"[" + (b"^" if negated else b"") + _ranges(members) + b"]"


def _ranges(members: str) -> bytes:
    """The members of a class: a ``-`` between two characters makes a range."""
    out = b""
    at = 0
    while at < len(members):
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            low, high = members[at], members[at + 2]
            if low > high or "-" in {low, high}:
                raise _Unsure
            out += re.escape(low.encode()) + b"-" + re.escape(high.encode())
            at += 3
        elif members[at] == "-" and 0 < at < len(members) - 1:
            raise _Unsure
        else:
            out += b"\\x%02x" % ord(members[at])
            at += 1
    return out


def _literal(char: str) -> bytes:
    return re.escape(_bytes(char))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@dataclass(slots=True)
class GlobSet:
    """Many patterns asked at once; those of the usual shapes without a regular expression.

    Attributes:
        unsure: Whether a pattern among them is not understood, so that "no match" is not certain.
    """

    unsure: bool = False
    _everything: bool = False
    _suffixes: tuple[str, ...] = ()
    _prefixes: tuple[str, ...] = ()
    _names: set[str] = field(default_factory=set)
    _paths: set[str] = field(default_factory=set)
    _starts: list[str] = field(default_factory=list)
    _regexes: list[re.Pattern[bytes]] = field(default_factory=list)

    @classmethod
    def of(cls, patterns: Iterable[str]) -> GlobSet:
        made = cls()
        for pattern in dict.fromkeys(patterns):
            made._add(pattern)
        return made

    def _add(self, pattern: str) -> None:
        rest = pattern.removeprefix("**/")
        under = rest != pattern
        if pattern in _EVERYTHING:
            self._everything = True
        elif under and rest.startswith("*") and rest != "*" and _is_text(rest[1:]):
            self._suffixes += (rest[1:],)
        elif under and _is_text(rest) and "/" not in rest:
            self._names.add(rest)
        elif under and _is_text(start := _before_stars(rest)):
            self._starts.append("/" + start)
        elif _is_text(pattern):
            self._paths.add(pattern)
        elif _is_text(start := _before_stars(pattern)):
            self._prefixes += (start,)
        elif compiled := compile_glob(pattern):
            self._regexes.append(compiled)
        else:
            self.unsure = True

    def matches(self, path: str) -> bool:
        """Whether a pattern that is understood matches *path*."""
        if self._everything or path in self._paths:
            return True
        if path.endswith(self._suffixes) or path.startswith(self._prefixes):
            return True
        if path[path.rfind("/") + 1 :] in self._names:
            return True
        rooted = "/" + path
        if any(start in rooted for start in self._starts):
            return True
        if not self._regexes:
            return False
        encoded = _bytes(path)
        return any(regex.fullmatch(encoded) for regex in self._regexes)


def _before_stars(pattern: str) -> str:
    """What stands before a final ``*``, or before the ``**`` of a final ``/**``; else nothing."""
    if pattern.endswith("/**"):
        return pattern[:-2]
    return pattern[:-1] if pattern.endswith("*") else ""


def _is_text(pattern: str) -> bool:
    return bool(pattern) and _SPECIAL.isdisjoint(pattern)


class Exclusions:
    """What the user's ``exclude_patterns`` exclude for certain, negations considered.

    A pattern with a leading ``!`` takes back what any other one excludes, wherever it stands;
    a directory is left out only when nothing below it could be taken back (cocoindex
    ``PatternMatcher.is_dir_included``). What a negation takes back from the user's own patterns
    it would take back from an equal entry too, so only the pruning of directories asks for it.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        listed = tuple(patterns)
        plain = [pattern for pattern in listed if not pattern.startswith("!")]
        back = [pattern[1:] for pattern in listed if pattern.startswith("!")]
        self._excluded = GlobSet.of(plain)
        self._below = GlobSet.of(
            above for pattern in plain if (above := _everything_below(pattern))
        )
        self._back = GlobSet.of(back)
        self._raw_back = [form for pattern in back for form in _expand_braces(pattern)]
        self._pruned: dict[str, bool] = {"": False}
        self._covered: dict[str, bool] = {"": not _EVERYTHING.isdisjoint(plain)}

    def covers_directory(self, path: str) -> bool:
        """Whether everything in the directory *path*, now and later, is excluded."""
        return self._is_pruned(path) or self._is_covered(path)

    def covers_file(self, path: str) -> bool:
        """Whether the file *path* is excluded."""
        parent = path[: max(path.rfind("/"), 0)]
        return self.covers_directory(parent) or self._excluded.matches(path)

    def _is_pruned(self, path: str) -> bool:
        known = self._pruned.get(path)
        if known is None:
            parent = path[: max(path.rfind("/"), 0)]
            known = self._is_pruned(parent) or self._prunes(path)
            self._pruned[path] = known
        return known

    def _prunes(self, path: str) -> bool:
        if not self._excluded.matches(path) or self._back.unsure:
            return False
        if self._back.matches(path) or self._back.matches(path + "/__probe__"):
            return False
        return not any(raw.startswith(path + "/") for raw in self._raw_back)

    def _is_covered(self, path: str) -> bool:
        known = self._covered.get(path)
        if known is None:
            parent = path[: max(path.rfind("/"), 0)]
            known = self._is_covered(parent) or self._below.matches(path)
            self._covered[path] = known
        return known


def _everything_below(pattern: str) -> str | None:
    """X of a pattern ``X/**`` or ``X/*``: whatever X matches has all its content matched."""
    for end in ("/**", "/*"):
        above = pattern.removesuffix(end)
        if above not in {pattern, "", "**"} and not above.endswith(("\\", "*", "/")):
            return above
    return None


def _expand_braces(pattern: str) -> list[str]:
    """Every alternative of the first ``{…}``, then of the next, as cocoindex expands them."""
    in_class = False
    for at, char in enumerate(pattern):
        in_class = char == "[" or (in_class and char != "]")
        if char == "{" and not in_class:
            return _expand_group(pattern, at)
    return [pattern]


def _expand_group(pattern: str, start: int) -> list[str]:
    depth, in_class, commas = 0, False, [start]
    for at in range(start, len(pattern)):
        char = pattern[at]
        in_class = char == "[" or (in_class and char != "]")
        depth += 0 if in_class else (char == "{") - (char == "}")
        if char == "," and depth == 1 and not in_class:
            commas.append(at)
        if depth == 0:
            bounds = zip(commas, [*commas[1:], at], strict=True)
            rest = pattern[at + 1 :]
            return [
                form
                for low, high in bounds
                for form in _expand_braces(pattern[:start] + pattern[low + 1 : high] + rest)
            ]
    return [pattern]
