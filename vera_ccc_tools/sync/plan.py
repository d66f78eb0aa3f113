"""Which entries hide exactly what git ignores; decided from lists of paths, without any effect.

An ignored directory ``P`` becomes ``**/P/**`` and an ignored file ``F`` becomes ``**/F``, as long
as that matches nothing that git keeps; else, and wherever there are many, ``P/**`` and ``F``,
anchored at the project's root. A directory is never excluded bare: ccc would not walk it, and a
user's ``!`` pattern for something in it would be lost.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from vera_ccc_tools.git.repositories import Ignored
from vera_ccc_tools.sync.globs import Exclusions, GlobSet, at_root, escape, is_plain
from vera_ccc_tools.sync.settings import DEFAULT_EXCLUDES

ANYWHERE_LIMIT = 500
"""Entries up to which each may match at any depth; ccc's memory grows with such patterns."""
FOLDED_DIRECTORIES_LIMIT = 100
"""Directory names that may stand for all their namesakes: each costs ccc 25 ns a file."""
CLASSES_LIMIT = 200
"""Escaped entries up to which the portable escape is used; 20,000 of it do not compile."""

PORTABLE_LIMIT = 5000
"""Escaped entries that are written at most where only the portable escape exists."""

NOT_UTF8 = "the name is not UTF-8, which no pattern can express"
NEVER_INCLUDED = "no include pattern matches it"
EXCLUDED = "the other patterns of the settings exclude it"
INSIDE = "another entry covers it"
TOO_MANY = "ccc cannot build so many patterns for names with special characters"


@dataclass(frozen=True, slots=True)
class Plan:
    """The entries to have, and what got none.

    Attributes:
        entries: Patterns, in the order in which they are written.
        left_out: Ignored paths without an entry of their own, and why; a directory ends in ``/``.
    """

    entries: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """The user's own patterns, ours left out.

    Attributes:
        excludes: ``exclude_patterns`` in force.
        includes: ``include_patterns`` in force; None where every file may be included.
        is_link: Whether a path of the project is a symbolic link, perhaps to a directory: git
            sees a file there, ccc a directory with files of its own.
    """

    excludes: tuple[str, ...]
    includes: tuple[str, ...] | None
    is_link: Callable[[str], bool] = lambda _path: False


def plan(ignored: Ignored, rules: Rules) -> Plan:
    """Choose the entries for *ignored*."""
    sieve = _Sieve(rules)
    directories = sorted(sieve.directories(ignored.directories))
    files = sorted(sieve.files(ignored.files))
    if "" in directories:
        entries: Iterable[str] = ("**",)
    elif len(directories) + len(files) <= ANYWHERE_LIMIT:
        entries = _Anywhere(ignored, directories, files).entries()
    else:
        entries = _Folder(ignored, directories, files).entries()
    mine = set(rules.excludes)
    chosen, too_many = _bounded(entry for entry in dict.fromkeys(entries) if entry not in mine)
    return Plan(tuple(chosen), (*sieve.left_out, *too_many))


class _Sieve:
    """Drops the paths that need no entry, and remembers why."""

    def __init__(self, rules: Rules) -> None:
        self.left_out: list[tuple[str, str]] = []
        self._rules = rules
        self._excluded = Exclusions(rules.excludes)
        self._included = GlobSet.of(rules.includes or ())
        self._kept: set[str] = set()

    def directories(self, paths: Iterable[str]) -> Iterator[str]:
        for path in sorted(paths):
            reason = self._why_no_directory(path)
            if reason:
                self.left_out.append((path + "/", reason))
            else:
                self._kept.add(path)
                yield path

    def files(self, paths: Iterable[str]) -> Iterator[str]:
        for path in paths:
            reason = self._why_no_file(path)
            if reason:
                self.left_out.append((path, reason))
            else:
                yield path

    def _why_no_directory(self, path: str) -> str:
        if any(above in self._kept for above in _above(path)):
            return INSIDE
        if self._excluded.covers_directory(path):
            return EXCLUDED
        return "" if _is_utf8(path) else NOT_UTF8

    def _why_no_file(self, path: str) -> str:
        if self._kept and any(above in self._kept for above in _above(path)):
            return INSIDE
        if not self._may_be_included(path):
            return NEVER_INCLUDED
        if self._excluded.covers_file(path):
            return EXCLUDED
        return "" if _is_utf8(path) else NOT_UTF8

    def _may_be_included(self, path: str) -> bool:
        if self._rules.includes is None or self._included.unsure:
            return True
        return self._included.matches(path) or self._rules.is_link(path)


class _Anywhere:
    """Few entries: each matches at any depth where that hides nothing that git keeps."""

    def __init__(self, ignored: Ignored, directories: list[str], files: list[str]) -> None:
        self._directories = directories
        self._files = files
        self._kept = _Kept.of(ignored)
        self._namesakes = self._kept.files_named({_name(path) for path in files})
        # A file's entry would prune an ignored directory of that name, and with it a user's `!`.
        self._ignored = _by_name(path for path in ignored.directories if path)
        self._chosen_directories: set[str] = set()
        self._chosen_files: set[str] = set()

    def entries(self) -> Iterator[str]:
        for path in sorted(self._directories, key=_depth):
            if not self._inside_directory(path + "/"):
                yield self._directory(path)
        for path in sorted(self._files, key=_depth):
            if not self._inside_directory(path) and not self._inside_file(path):
                yield self._file(path)

    def _directory(self, path: str) -> str:
        anchored, anywhere = at_root(f"{escape(path)}/**"), f"**/{escape(path)}/**"
        if anywhere in DEFAULT_EXCLUDES or _ends_with(self._kept.named(path), path):
            return anchored
        self._chosen_directories.add(path)
        return anywhere

    def _file(self, path: str) -> str:
        anywhere = f"**/{escape(path)}"
        clashes = (
            self._kept.named(path),
            self._ignored.get(_name(path), ()),
            self._namesakes.get(_name(path), ()),
        )
        if anywhere in DEFAULT_EXCLUDES or any(_ends_with(paths, path) for paths in clashes):
            return at_root(escape(path))
        self._chosen_files.add(path)
        return anywhere

    def _inside_directory(self, path: str) -> bool:
        """Whether a chosen directory's names stand one after another among *path*'s."""
        if not self._chosen_directories:
            return False
        names = path.split("/")[:-1]
        return any(
            "/".join(names[low:high]) in self._chosen_directories
            for low in range(len(names))
            for high in range(low + 1, len(names) + 1)
        )

    def _inside_file(self, path: str) -> bool:
        names = path.split("/")
        return any("/".join(names[low:]) in self._chosen_files for low in range(1, len(names)))


class _Folder:
    """Many entries: all anchored, and one for many where a name or a suffix tells them apart."""

    def __init__(self, ignored: Ignored, directories: list[str], files: list[str]) -> None:
        self._kept = _Kept.of(ignored)
        self._directories = directories
        self._files = files
        self._folded: list[str] = []
        # A file's entry would prune an ignored directory of that name, and with it a user's `!`.
        self._taken = self._kept.names | {_name(path) for path in ignored.directories}

    def entries(self) -> Iterator[str]:
        names = self._directory_names()
        directories = [path for path in self._directories if _name(path) not in names]
        files = [path for path in self._files if names.isdisjoint(path.split("/")[:-1])]
        self._folded += [f"**/{escape(name)}/**" for name in sorted(names)]
        files = self._fold(files, self._suffix_of(files), "**/*")
        files = self._fold(files, self._full_name_of(files), "**/")
        directories, files = self._fold_parents(directories, files)
        yield from self._folded
        yield from _anchored(directories, files)

    def _directory_names(self) -> set[str]:
        """Names that many ignored directories have, and no directory that git keeps."""
        counts = Counter(_name(path) for path in self._directories)
        shared = [
            name
            for name, count in counts.most_common()
            if count > 1 and not self._kept.directories.get(name)
        ]
        return set(shared[:FOLDED_DIRECTORIES_LIMIT])

    def _suffix_of(self, files: Sequence[str]) -> dict[str, str]:
        """For each file the shortest end of its name that nothing kept has."""
        wanted = {suffix for path in files for suffix in _suffixes(_name(path))}
        for name in self._taken:
            wanted.difference_update(_suffixes(name))
        found = {}
        for path in files:
            best = next((suffix for suffix in _suffixes(_name(path)) if suffix in wanted), None)
            if best is not None:
                found[path] = best
        return found

    def _full_name_of(self, files: Sequence[str]) -> dict[str, str]:
        return {path: _name(path) for path in files if _name(path) not in self._taken}

    def _fold(self, files: list[str], by: dict[str, str], stem: str) -> list[str]:
        """Make one entry of each end that two files share; return the files that are left."""
        counts = Counter(by.values())
        made = {
            end
            for end, count in counts.items()
            if count > 1 and f"{stem}{escape(end)}" not in DEFAULT_EXCLUDES
        }
        self._folded += [f"{stem}{escape(end)}" for end in sorted(made)]
        return [path for path in files if by.get(path) not in made]

    def _fold_parents(
        self, directories: list[str], files: list[str]
    ) -> tuple[list[str], list[str]]:
        """Put a directory in the place of its content where git keeps nothing in it."""
        tops = {path: self._top_without_kept(path) for path in (*directories, *files)}
        counts = Counter(top for top in tops.values() if top)
        made = {top for top, count in counts.items() if count > 1}
        rest = [path for path in directories if tops[path] not in made]
        return sorted([*rest, *made]), [path for path in files if tops[path] not in made]

    def _top_without_kept(self, path: str) -> str:
        return next(
            (above for above in _above(path) if above not in self._kept.all_directories), ""
        )


@dataclass(frozen=True, slots=True)
class _Kept:
    """What git keeps, arranged for questions by name.

    Attributes:
        paths: Files.
        directories: Every directory with a kept file below it, by its name.
        all_directories: The same, by path.
        names: Every name of a kept file or of a directory above one.
    """

    paths: tuple[str, ...]
    directories: dict[str, list[str]]
    all_directories: set[str]
    names: set[str]

    @classmethod
    def of(cls, ignored: Ignored) -> _Kept:
        above: set[str] = set()
        for path in ignored.kept:
            parent = path[: max(path.rfind("/"), 0)]
            while parent and parent not in above:
                above.add(parent)
                parent = parent[: max(parent.rfind("/"), 0)]
        for opaque in ignored.opaque:
            above.update((opaque, *_above(opaque)))
        directories = _by_name(above)
        names = {_name(path) for path in ignored.kept}
        names.update(directories)
        return cls(ignored.kept, directories, above, names)

    def named(self, path: str) -> Sequence[str]:
        """The directories that have the name of *path*."""
        return self.directories.get(_name(path), ())

    def files_named(self, names: Collection[str]) -> dict[str, list[str]]:
        return _by_name(path for path in self.paths if _name(path) in names)


def _anchored(directories: Sequence[str], files: Sequence[str]) -> Iterator[str]:
    special = sum(not is_plain(path) for path in (*directories, *files))
    backslash = special > CLASSES_LIMIT and os.name == "posix"
    for path in directories:
        yield at_root(f"{escape(path, backslash=backslash)}/**")
    for path in files:
        yield at_root(escape(path, backslash=backslash))


def _bounded(entries: Iterable[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Leave out what would make ccc refuse all patterns at once."""
    chosen, left_out, classes = [], [], 0
    for entry in entries:
        has_class = "[" in entry.replace("\\[", "")
        classes += has_class
        if has_class and classes > PORTABLE_LIMIT:
            left_out.append((entry, TOO_MANY))
        else:
            chosen.append(entry)
    return chosen, left_out


def _suffixes(name: str) -> list[str]:
    """The ends of a name that begin at a ``.``, ``_`` or ``-``, the shortest first."""
    starts = [at for at, char in enumerate(name) if char in "._-"]
    return [name[at:] for at in reversed(starts)]


def _by_name(paths: Iterable[str]) -> dict[str, list[str]]:
    named: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        named[_name(path)].append(path)
    return dict(named)


def _ends_with(paths: Iterable[str], path: str) -> bool:
    tail = "/" + path
    return any(one == path or one.endswith(tail) for one in paths)


def _above(path: str) -> Iterator[str]:
    """Every directory above *path*, the topmost first."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _name(path: str) -> str:
    return path[path.rfind("/") + 1 :]


def _depth(path: str) -> tuple[int, str]:
    return path.count("/"), path


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
