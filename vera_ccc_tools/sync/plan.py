"""Which entries hide exactly what git ignores; decided from lists of paths, without any effect.

An ignored directory ``P`` becomes ``**/P/**`` and an ignored file ``F`` becomes ``**/F``, as long
as that matches nothing that git keeps; else, and wherever there are many, ``P/**`` and ``F``,
anchored at the project's root. A directory is never excluded bare: ccc would not walk it, and a
user's ``!`` pattern for something in it would be lost.

In this module the path of a directory ends in ``/``.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from vera_ccc_tools.git.repositories import Ignored
from vera_ccc_tools.sync.globs import Excludes, Includes, at_root, escape, is_plain
from vera_ccc_tools.sync.settings import DEFAULT_EXCLUDES
from vera_ccc_tools.system.text import is_utf8

ANYWHERE_LIMIT = 500
"""Entries up to which each may match at any depth; ccc's memory grows with such patterns."""
FOLDED_DIRECTORIES_LIMIT = 100
"""Directory names that may stand for all their namesakes: each costs ccc 25 ns a file."""
CLASSES_LIMIT = 200
"""Escaped entries up to which the portable escape is used; 20,000 of it do not compile."""

NOT_UTF8 = "the name is not UTF-8, which no pattern can express"
NEVER_INCLUDED = "no include pattern matches it"
EXCLUDED = "the other patterns of the settings exclude it"
INSIDE = "another entry covers it"


@dataclass(frozen=True, slots=True)
class Plan:
    """The entries to have, and what got none.

    Attributes:
        entries: Patterns, in the order in which they are written, each with an ignored path that
            it stands for; None where that is not known.
        left_out: Ignored paths without an entry of their own, and why.
    """

    entries: dict[str, str | None]
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
    mine = set(rules.excludes)
    if "" in ignored.directories:
        return Plan({"**": ""} if "**" not in mine else {}, ())
    needed, left_out = _needed(ignored, rules)
    entries = (_few if len(needed) <= ANYWHERE_LIMIT else _many)(needed, _Kept.of(ignored))
    return Plan({one: path for one, path in entries if one not in mine}, tuple(left_out))


def _needed(ignored: Ignored, rules: Rules) -> tuple[list[str], list[tuple[str, str]]]:
    """The paths that need an entry, directories first, and the others with the reason."""
    includes, excludes = Includes(rules.includes), Excludes(rules.excludes)
    needed: dict[str, None] = {}
    left_out = []
    for path in (*sorted(f"{one}/" for one in ignored.directories), *sorted(ignored.files)):
        is_file = path[-1] != "/"
        if any(above in needed for above in _above(path)):
            left_out.append((path, INSIDE))
        elif is_file and not includes.may_include(path) and not rules.is_link(path):
            left_out.append((path, NEVER_INCLUDED))
        elif excludes.cover(path):
            left_out.append((path, EXCLUDED))
        elif not is_utf8(path):
            left_out.append((path, NOT_UTF8))
        else:
            needed[path] = None
    return list(needed), left_out


@dataclass(frozen=True, slots=True)
class _Kept:
    """What no entry may hide.

    Attributes:
        files: Files that git keeps.
        directories: Every directory with such a file below it.
        ignored: Ignored directories. The entry of a file of that name would prune them, and with
            them what a user's ``!`` pattern takes back.
    """

    files: tuple[str, ...]
    directories: set[str]
    ignored: tuple[str, ...]

    @classmethod
    def of(cls, ignored: Ignored) -> _Kept:
        above: set[str] = set()
        for path in (*ignored.kept, *(f"{one}/" for one in ignored.opaque)):
            end = path.rfind("/") + 1
            while end and path[:end] not in above:
                above.add(path[:end])
                end = path.rfind("/", 0, end - 1) + 1
        return cls(ignored.kept, above, tuple(f"{one}/" for one in ignored.directories))


def _few(needed: list[str], kept: _Kept) -> Iterator[tuple[str, str]]:
    """Few entries: each matches at any depth where that hides nothing that git keeps."""
    names = {_name(path) for path in needed}
    directories = _by_name(kept.directories, names)
    others = _by_name((*kept.files, *kept.ignored), names)
    inside: list[str] = []  # what chosen entries match at any depth
    same: tuple[str, ...] = ()
    for path in sorted(needed, key=lambda path: (path[-1] != "/", path.count("/"), path)):
        place = f"/{path}"
        if place.endswith(same) or any(one in place for one in inside):
            continue
        is_file, name = path[-1] != "/", _name(path)
        namesakes = [*directories[name], *(others[name] if is_file else ())]
        end = f"{place}/" if is_file else place
        if any(f"/{one.rstrip('/')}/".endswith(end) for one in namesakes) or (
            f"**{place}" in DEFAULT_EXCLUDES
        ):
            yield at_root(_pattern(path)), path
            continue
        if is_file:
            same += (place,)
        else:
            inside.append(place)
        yield f"**/{_pattern(path)}", path


def _many(needed: list[str], kept: _Kept) -> Iterator[tuple[str, str]]:
    """Many entries: all anchored, and one for many where a name or a suffix distinguishes them."""
    kept_names = {_name(path) for path in kept.directories}
    counts = Counter(_name(path) for path in needed if path[-1] == "/")
    shared = [one for one, count in counts.most_common() if count > 1 and one not in kept_names]
    folded = frozenset(shared[:FOLDED_DIRECTORIES_LIMIT])
    groups, rest = _groups(
        needed, lambda path: next((one for one in path.split("/")[:-1] if one in folded), "")
    )
    yield from ((f"**/{escape(name)}/**", path) for name, path in groups.items())

    taken = kept_names | {_name(path) for path in (*kept.files, *kept.ignored)}
    ends = {end for name in taken for end in _ends(name)}
    groups, rest = _groups(
        rest, lambda path: next((end for end in _ends(path) if end not in ends), "")
    )
    yield from ((f"**/*{escape(end)}", path) for end, path in groups.items())

    taken.update(one.removeprefix("**/") for one in DEFAULT_EXCLUDES)
    groups, rest = _groups(
        rest, lambda path: "" if path[-1] == "/" or _name(path) in taken else _name(path)
    )
    yield from ((f"**/{escape(name)}", path) for name, path in groups.items())

    groups, rest = _groups(
        rest, lambda path: next((one for one in _above(path) if one not in kept.directories), "")
    )
    anchored = groups | {path: path for path in rest}
    backslash = os.name == "posix" and sum(not is_plain(one) for one in anchored) > CLASSES_LIMIT
    for path in sorted(anchored, key=lambda path: (path[-1] != "/", path)):
        yield at_root(_pattern(path, backslash=backslash)), anchored[path]


def _groups(paths: Iterable[str], key: Callable[[str], str]) -> tuple[dict[str, str], list[str]]:
    """The keys that two paths share, in order, each with its first path; and the other paths."""
    keys = {path: key(path) for path in paths}
    counts = Counter(keys.values())
    found: dict[str, str] = {}
    rest = []
    for path, one in keys.items():
        if one and counts[one] > 1:
            found.setdefault(one, path)
        else:
            rest.append(path)
    return dict(sorted(found.items())), rest


def _pattern(path: str, *, backslash: bool = False) -> str:
    return escape(path, backslash=backslash) + ("**" if path[-1] == "/" else "")


def _ends(path: str) -> Iterator[str]:
    """The ends of a file's name that begin at a ``.``, ``_`` or ``-``, the shortest first."""
    name = path[path.rfind("/") + 1 :]
    return (name[at:] for at in range(len(name) - 1, -1, -1) if name[at] in "._-")


def _by_name(paths: Iterable[str], names: Collection[str]) -> defaultdict[str, list[str]]:
    named = defaultdict(list)
    for path in paths:
        if (name := _name(path)) in names:
            named[name].append(path)
    return named


def _above(path: str) -> Iterator[str]:
    """Every directory above *path*, the topmost first, and *path* itself where it is one."""
    at = path.find("/")
    while at >= 0:
        yield path[: at + 1]
        at = path.find("/", at + 1)


def _name(path: str) -> str:
    end = len(path) - (path[-1] == "/")
    return path[path.rfind("/", 0, end) + 1 : end]
