"""The set of a project's source files, looked up by path, directory, end of path or namespace.

Each look-up leaves a key behind, and each file has a few keys of its own: a file that comes or goes
can only change what was resolved with one of its keys. So an update knows what to resolve again.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from zlib import crc32

_INDEXES = frozenset("index __init__ mod lib main".split())
"""Stems of files that stand for their directory; one name for hundreds of files says little."""


def directory_of(path: str) -> str:
    """The directory of a file of the project; empty for the root."""
    return path.rpartition("/")[0]


def ancestors(path: str) -> Iterator[str]:
    """The directories that the file at *path* is in, the nearest first and the root last."""
    while path:
        path = directory_of(path)
        yield path


def join(directory: str, path: str) -> str | None:
    """*path* from *directory*, normalized; None when it leaves the project."""
    joined = posixpath.normpath(posixpath.join(directory, path)) if directory or path else "."
    if joined in {".", "/"}:
        return ""
    return None if joined.startswith(("../", "/")) or joined == ".." else joined


def only(found: Sequence[str]) -> str | None:
    """The one that there is; several are ambiguous."""
    return found[0] if len(found) == 1 else None


def keys_of(path: str, provides: Iterable[str] = ()) -> set[int]:
    """The keys of the look-ups that the file at *path* can be an answer to."""
    directory, _, name = path.rpartition("/")
    stem, parent = _stem(name), posixpath.basename(directory)
    keys = {_key("s", stem), _key("d", parent)}
    if stem in _INDEXES:
        keys.add(_key("i", parent))
    return keys | {_key("n", namespace_of(each)) for each in provides}


def namespace_of(name: str) -> str:
    """``A.B`` of ``A.B.Type``; PHP's backslashes count as dots do."""
    return name.replace("\\", ".").rpartition(".")[0]


class FileSet:
    """The files of one moment.

    Attributes:
        trace: The keys of the look-ups since it was last cleared.
    """

    def __init__(self, provides: Mapping[str, Iterable[str]]) -> None:
        """*provides* has every source file, with the whole names of the types it declares."""
        self.trace: set[int] = set()
        self._directories: dict[str, list[str]] = {}
        self._named: dict[str, list[str]] = {}
        self._types: dict[str, dict[str, list[str]]] = {}
        self._paths = frozenset(provides)
        self._holders: dict[str, set[str]] = {}
        for path in sorted(provides):
            directory, _, name = path.rpartition("/")
            self._directories.setdefault(directory, []).append(path)
            self._named.setdefault(name, []).append(path)
            self._holders.setdefault(_stem(name), set()).add(directory)
            for each in provides[path]:
                whole = each.replace("\\", ".")
                types = self._types.setdefault(namespace_of(whole), {})
                types.setdefault(whole.rpartition(".")[2], []).append(path)
        for directory in {
            above for each in self._directories for above in (each, *ancestors(each))
        }:
            parent, _, name = directory.rpartition("/")
            self._holders.setdefault(name, set()).add(parent)

    def has(self, path: str) -> bool:
        self._look_up(path)
        return path in self._paths

    def first(self, paths: Iterable[str | None]) -> str | None:
        """The first of *paths* that is there; None, for what leaves the project, is not."""
        return next((path for path in paths if path and self.has(path)), None)

    def directly_in(self, directory: str) -> list[str]:
        self.trace.add(_key("d", posixpath.basename(directory)))
        return self._directories.get(directory, [])

    def ending_with(self, suffix: str) -> list[str]:
        """The files whose path is *suffix* or ends with it, after a slash."""
        name = self._look_up(suffix, anywhere="/" not in suffix)
        tail = f"/{suffix}"
        return [path for path in self._named.get(name, []) if f"/{path}".endswith(tail)]

    def _look_up(self, path: str, *, anywhere: bool = False) -> str:
        """Leave the key of a file at *path*, and give its name."""
        directory, _, name = path.rpartition("/")
        stem = _stem(name)
        if stem in _INDEXES and not anywhere:
            self.trace.add(_key("i", posixpath.basename(directory)))
        else:
            self.trace.add(_key("s", stem))
        return name

    def holders(self, name: str) -> set[str]:
        """The directories with a file or a directory called *name*, without its extension."""
        self.expect(name)
        return self._holders.get(name, set())

    def expect(self, name: str) -> None:
        """Leave the keys of a file called *name* (without its extension) wherever it may come."""
        self.trace |= {_key("s", name), _key("i", name)}

    def types(self, namespace: str) -> Mapping[str, list[str]]:
        """The types declared in a namespace (dots between names), with the files that do."""
        self.trace.add(_key("n", namespace))
        return self._types.get(namespace, {})


def _stem(name: str) -> str:
    """Up to the first dot that is not the name's first character."""
    return name[:1] + name[1:].partition(".")[0]


def _key(kind: str, name: str) -> int:
    """A small number for a key: two that meet cost a needless look, and nothing else."""
    return crc32(f"{kind}:{name}".encode("utf-8", "surrogatepass"))
