"""Rust's module tree: ``mod`` and ``use``, in the file layout that the compiler looks for."""

from __future__ import annotations

import posixpath

from vera_ccc_tools.import_graph.facts import Import
from vera_ccc_tools.import_graph.files import ancestors, directory_of, join, only
from vera_ccc_tools.import_graph.manifests import View

_ROOT_NAMES = frozenset({"lib.rs", "main.rs", "build.rs"})
_ROOT_DIRECTORIES = ("src/bin", "tests", "examples", "benches")
"""Directories of a package in which each file is a crate of its own (Cargo's layout)."""


def rust(view: View, wanted: Import) -> list[str | None]:
    """The module that one import declares or uses."""
    if wanted.kind == "path":
        return [view.files.first([view.beside(wanted.name)])]
    if wanted.kind == "mod":
        outer, _, name = wanted.name.rpartition("/")
        directory = _children(view, view.path)
        return [_module(view, f"{directory}/{outer}".strip("/") if outer else directory, name)]
    return [_used(view, wanted.name.split("::"))]


def _used(view: View, words: list[str]) -> str | None:
    if words[-1] == "*":
        words = words[:-1]
    first, rest = (words[0], words[1:]) if words else ("", [])
    if first == "crate":
        return _descend(view, _root(view), rest)
    if first == "self":
        return _descend(view, view.path, rest)
    if first == "super":
        found: str | None = view.path
        while words and words[0] == "super":
            found = None if found is None else _parent(view, found)
            words = words[1:]
        return _descend(view, found, words)
    if first and _module(view, _children(view, view.path), first) is not None:
        return _descend(view, view.path, words)
    name, rest = (first, rest) if first else (rest[0] if rest else "", rest[1:])
    return _descend(view, _library(view, name), rest)


def _descend(view: View, path: str | None, words: list[str]) -> str | None:
    for word in words:
        if path is None:
            return None
        found = _module(view, _children(view, path), word)
        if found is None:  # an item, or a module inside the file
            return path
        path = found
    return path


def _module(view: View, directory: str, name: str) -> str | None:
    """The file of the module *name* whose parent's modules are in *directory*."""
    place = posixpath.join(directory, name)
    return view.files.first([f"{place}.rs", f"{place}/mod.rs"])


def _children(view: View, path: str) -> str:
    """The directory of the modules that the one at *path* declares."""
    directory, _, name = path.rpartition("/")
    return directory if name == "mod.rs" or _is_root(view, path) else path.removesuffix(".rs")


def _parent(view: View, path: str) -> str | None:
    if _is_root(view, path):
        return None
    directory, _, name = path.rpartition("/")
    if name == "mod.rs":
        directory = directory_of(directory)
    places = [f"{directory}/mod.rs", f"{directory}.rs"] if directory else []
    places += [join(directory, name) or "" for name in ("lib.rs", "main.rs")]
    return view.files.first(each for each in places if each != path)


# --- crates --------------------------------------------------------------------------------------


def _home(view: View, path: str) -> str | None:
    """The directory of the package that the file at *path* is in."""
    found = view.project.nearest(path, "Cargo.toml")
    return None if found is None or not view.project.at(found, "Cargo.toml") else found


def _named_roots(view: View, home: str) -> list[str | None]:
    """The root files that the package's manifest names."""
    manifest = view.project.at(home, "Cargo.toml")
    return [join(home, each) for each in (manifest["lib"], *manifest["bins"]) if each]


def _is_root(view: View, path: str) -> bool:
    directory, _, name = path.rpartition("/")
    if name in _ROOT_NAMES:
        return True
    home = _home(view, path)
    if home is None:
        return False
    usual = [join(home, each) for each in _ROOT_DIRECTORIES]
    return directory in usual or path in _named_roots(view, home)


def _root(view: View) -> str | None:
    """The root file of the crate that the file is in: the nearest above, a library's first.

    The files below ``tests/`` and their like may belong to any crate there.
    """
    if _is_root(view, view.path):
        return view.path
    home = _home(view, view.path)
    if home is None:
        return None
    roots = _named_roots(view, home)
    for above in ancestors(view.path):
        named = [each for each in roots if each and directory_of(each) == above]
        found = view.files.first([*named, join(above, "lib.rs"), join(above, "main.rs")])
        if found is not None or above == home:
            return found
    return None


def _library(view: View, name: str) -> str | None:
    """The root file of the library that is called *name* here, or of the only one called so."""
    home = _home(view, view.path)
    if home is not None:
        named = view.project.at(home, "Cargo.toml").get("dependencies", {}).get(name)
        if named:
            return _library_of(view, join(home, named))
    return _library_of(view, only(view.project.where("Cargo.toml", "crate", name)))


def _library_of(view: View, home: str | None) -> str | None:
    if home is None:
        return None
    manifest = view.project.at(home, "Cargo.toml")
    return view.files.first([join(home, manifest.get("lib") or "src/lib.rs")])
