"""Rust's module tree: ``mod`` and ``use``, in the file layout that the compiler looks for."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from vera_ccc_tools.import_graph.facts import Facts
from vera_ccc_tools.import_graph.files import ancestors, directory_of, join
from vera_ccc_tools.import_graph.manifests import Scope

_ROOT_NAMES = frozenset({"lib.rs", "main.rs", "build.rs"})
_ROOT_DIRECTORIES = ("src/bin", "tests", "examples", "benches")
"""Directories of a package in which each file is a crate of its own (Cargo's layout)."""


def rust(scope: Scope, path: str, facts: Facts) -> Iterator[str]:
    """The modules that the file at *path* declares or uses."""
    crates = _Crates(scope, path)
    for each in facts.imports:
        if each.kind == "path":
            found = join(directory_of(path), each.name)
            found = found if found and scope.files.has(found) else None
        elif each.kind == "mod":
            outer, _, name = each.name.rpartition("/")
            directory = crates.children(path)
            found = crates.module(f"{directory}/{outer}".strip("/") if outer else directory, name)
        else:
            found = crates.used(each.name.split("::"))
        if found is not None:
            yield found


class _Crates:
    """The packages of the project, seen from one file."""

    def __init__(self, scope: Scope, path: str) -> None:
        self._scope = scope
        self._path = path

    def used(self, words: list[str]) -> str | None:
        if words[-1] == "*":
            words = words[:-1]
        first, rest = (words[0], words[1:]) if words else ("", [])
        if first == "crate":
            return self._descend(self._root(), rest)
        if first == "self":
            return self._descend(self._path, rest)
        if first == "super":
            return self._above(words)
        if first and self.module(self.children(self._path), first) is not None:
            return self._descend(self._path, words)
        name, rest = (first, rest) if first else (rest[0] if rest else "", rest[1:])
        return self._descend(self._library(name), rest)

    def _above(self, words: list[str]) -> str | None:
        found: str | None = self._path
        while words and words[0] == "super":
            found = None if found is None else self._parent(found)
            words = words[1:]
        return self._descend(found, words)

    def children(self, path: str) -> str:
        directory, _, name = path.rpartition("/")
        if name == "mod.rs" or self._is_root(path):
            return directory
        return path.removesuffix(".rs")

    def module(self, directory: str, name: str) -> str | None:
        """The file of the module *name* whose parent's modules are in *directory*."""
        place = posixpath.join(directory, name)
        return self._scope.files.first([f"{place}.rs", f"{place}/mod.rs"])

    def _descend(self, path: str | None, words: Iterable[str]) -> str | None:
        for word in words if path is not None else ():
            assert path is not None
            found = self.module(self.children(path), word)
            if found is None:  # an item, or a module inside the file
                return path
            path = found
        return path

    def _is_root(self, path: str) -> bool:
        directory, _, name = path.rpartition("/")
        if name in _ROOT_NAMES:
            return True
        home = self._home(path)
        if home is None:
            return False
        if any(directory == join(home, each) for each in _ROOT_DIRECTORIES):
            return True
        manifest = self._scope.project.at(home, "Cargo.toml") or {}
        return path in {join(home, each) for each in (manifest["lib"], *manifest["bins"]) if each}

    def _home(self, path: str) -> str | None:
        found = self._scope.project.nearest(path, "Cargo.toml")
        manifest = None if found is None else self._scope.project.at(found, "Cargo.toml")
        return found if manifest else None

    def _root(self) -> str | None:
        """The root file of the crate that the file is in: the nearest above, a library's first.

        The files below ``tests/`` and their like may belong to any crate there.
        """
        if self._is_root(self._path):
            return self._path
        home = self._home(self._path)
        if home is None:
            return None
        manifest = self._scope.project.at(home, "Cargo.toml") or {}
        named = [join(home, each) for each in (manifest["lib"], *manifest["bins"]) if each]
        for above in ancestors(self._path):
            usual = [join(above, name) for name in ("lib.rs", "main.rs")]
            roots = [each for each in named if each and directory_of(each) == above]
            found = self._scope.files.first(each for each in (*roots, *usual) if each)
            if found is not None or above == home:
                return found
        return None

    def _library_of(self, home: str) -> str | None:
        manifest = self._scope.project.at(home, "Cargo.toml") or {}
        place = join(home, manifest.get("lib") or "src/lib.rs")
        return place if place and self._scope.files.has(place) else None

    def _library(self, name: str) -> str | None:
        home = self._home(self._path)
        manifest = self._scope.project.at(home, "Cargo.toml") if home is not None else None
        named = (manifest or {}).get("dependencies", {}).get(name)
        if home is not None and named:
            found = join(home, named)
            return None if found is None else self._library_of(found)
        homes = self._scope.project.where("Cargo.toml", "crate", name)
        return self._library_of(homes[0]) if len(homes) == 1 else None

    def _parent(self, path: str) -> str | None:
        if self._is_root(path):
            return None
        directory, _, name = path.rpartition("/")
        if name == "mod.rs":
            directory = directory_of(directory)
        places = [f"{directory}/mod.rs", f"{directory}.rs"] if directory else []
        places += [join(directory, name) or "" for name in ("lib.rs", "main.rs")]
        return self._scope.files.first(each for each in places if each != path)
