"""Modules of JavaScript and TypeScript: relative, by ``paths``, and packages of a workspace."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from vera_ccc_tools.import_graph.facts import Import
from vera_ccc_tools.import_graph.files import ancestors, directory_of, join, only
from vera_ccc_tools.import_graph.manifests import Manifests, View

_TYPED = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".d.mts", ".d.cts")
_PLAIN = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".d.ts", ".d.mts", ".d.cts")
_WRITTEN_IN = {
    ".js": (".ts", ".tsx", ".jsx", ".d.ts"),
    ".jsx": (".tsx",),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
"""What a compiled file that an import names can have been written in (tsc's own rule)."""
_BUILT = re.compile(r"^(?:dist|lib|build|out|es|esm|cjs|umd|types|node|browser)/")
_MOST_EXTENDS = 10


def ecmascript(view: View, wanted: Import) -> list[str | None]:
    """The module of one import."""
    name = wanted.name.partition("?")[0]
    if name.startswith("."):
        return [_relative(view, name)]
    if name.startswith("#"):
        home = view.project.nearest(view.path, "package.json")
        return [] if home is None else [_mapped(view, home, "imports", name)]
    if not name or name.startswith("/") or ":" in name:
        return []
    return [_by_options(view, name) or _package(view, name)]


def _relative(view: View, name: str) -> str | None:
    place = view.beside(name)
    if place is not None and (name.endswith("/") or name.rpartition("/")[2] in {".", ".."}):
        return _directory(view, place)
    return _either(view, place)


def _either(view: View, place: str | None) -> str | None:
    """The module at *place*, as a file or as a directory."""
    return None if place is None else _file(view, place) or _directory(view, place)


def _file(view: View, place: str) -> str | None:
    typed = view.path.endswith((".ts", ".tsx", ".mts", ".cts"))
    end = f".{place.rpartition('.')[2]}"
    written = [place.removesuffix(end) + each for each in _WRITTEN_IN.get(end, ())]
    exact = [*written, place] if typed else [place, *written]
    return view.files.first([*exact, *(place + each for each in (_TYPED if typed else _PLAIN))])


def _directory(view: View, place: str, *, entries: bool = True) -> str | None:
    """What its ``package.json`` names, where *entries* count, or its index."""
    for entry in view.project.at(place, "package.json").get("entries", []) if entries else ():
        found = _source(view, place, entry)
        if found is not None:
            return found
    return _file(view, posixpath.join(place, "index"))


def _by_options(view: View, name: str) -> str | None:
    """The module by the ``paths`` and the ``baseUrl`` of a ``tsconfig.json``."""
    options = _options(view)
    star, targets = _match(options.paths, name) or ("", ())
    for target in targets:
        place = join(options.paths_from, target.replace("*", star, 1))
        found = _either(view, place or None)
        if found:
            return found
    return None if options.base is None else _either(view, join(options.base, name) or None)


# --- package.json --------------------------------------------------------------------------------


def _package(view: View, name: str) -> str | None:
    home, rest = _home(view.project, name)
    if home is None:
        return None
    if view.project.at(home, "package.json").get("exports") is not None:
        found = _mapped(view, home, "exports", f"./{rest}" if rest else ".")
        return found or (None if rest else _main(view, home))
    return _source(view, home, rest) if rest else _main(view, home)


def _home(project: Manifests, name: str) -> tuple[str | None, str]:
    """The directory of the only package that *name* begins with, and the rest of the name."""
    words = name.split("/")
    count = 2 if name.startswith("@") else 1
    homes = project.where("package.json", "name", "/".join(words[:count]))
    return only(homes), "/".join(words[count:])


def _main(view: View, home: str) -> str | None:
    return _directory(view, home) or _source(view, home, "src/index")


def _mapped(view: View, home: str, key: str, name: str) -> str | None:
    """What ``exports`` or ``imports`` maps a name to, under the first condition."""
    table = view.project.at(home, "package.json").get(key)
    if key == "exports" and not _is_subpaths(table):
        table = {".": table}
    if not isinstance(table, dict):
        return None
    star, value = _match(table, name) or ("", None)
    for target in _strings(value):
        found = _source(view, home, target.replace("*", star))
        if found is not None:
            return found
    return None


def _source(view: View, home: str, entry: str) -> str | None:
    """The file at *entry* in a package or, where that is built, what it is built from."""
    place = join(home, entry)
    if place is None or place == home:
        return None
    found = _file(view, place) or _directory(view, place, entries=False)
    inside = place[len(home) + 1 if home else 0 :]
    while found is None and _BUILT.match(inside):
        inside = _BUILT.sub("", inside)
        found = _file(view, join(home, f"src/{inside}") or "")
    return found


def _is_subpaths(table: Any) -> bool:
    return isinstance(table, dict) and any(str(key).startswith(".") for key in table)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def _match(table: dict[str, Any], name: str) -> tuple[str, Any] | None:
    """What fits a pattern's ``*``, and its value: of the exact one, or of the longest beginning."""
    if name in table and "*" not in name:
        return "", table[name]
    patterns = [key for key in table if key.count("*") == 1]
    for pattern in sorted(patterns, key=lambda key: (-key.index("*"), key)):
        before, after = pattern.split("*")
        long_enough = len(name) >= len(before) + len(after)
        if long_enough and name.startswith(before) and name.endswith(after):
            return name[len(before) : len(name) - len(after)], table[pattern]
    return None


# --- tsconfig.json -------------------------------------------------------------------------------


class _Options(NamedTuple):
    """What a ``tsconfig.json`` says, with what it extends; both directories from the root."""

    paths: dict[str, list[str]]
    paths_from: str
    base: str | None


_NOTHING = _Options({}, "", None)


def _options(view: View) -> _Options:
    for above in ancestors(view.path):
        for name in ("tsconfig.json", "jsconfig.json"):
            if view.project.has(above, name):
                return _with_references(view.project, posixpath.join(above, name))
    return _NOTHING


def _with_references(project: Manifests, path: str) -> _Options:
    """A solution's own file says nothing; what it refers to does."""
    own = _extended(project, path, _MOST_EXTENDS)
    if own.paths or own.base is not None:
        return own
    for each in project.manifests[path].get("references", []):
        place = join(directory_of(path), each)
        if place is not None:
            place = place if place.endswith(".json") else f"{place}/tsconfig.json"
            found = _extended(project, place, _MOST_EXTENDS)
            if found.paths:
                return found
    return own


def _extended(project: Manifests, path: str | None, left: int) -> _Options:
    manifest = project.manifests.get(path or "")
    if not path or not manifest or not left:
        return _NOTHING
    paths, paths_from, base = _NOTHING
    for each in manifest.get("extends", []):
        outer = _extended(project, _extends(project, path, each), left - 1)
        if outer.paths:
            paths, paths_from = outer.paths, outer.paths_from
        base = base if outer.base is None else outer.base
    if isinstance(manifest.get("baseUrl"), str):
        base = join(directory_of(path), manifest["baseUrl"])
    if manifest.get("paths"):
        paths, paths_from = manifest["paths"], directory_of(path) if base is None else base
    return _Options(paths, paths_from, base)


def _extends(project: Manifests, path: str, name: Any) -> str | None:
    if not isinstance(name, str):
        return None
    if name.startswith("."):
        place = join(directory_of(path), name)
    else:
        home, rest = _home(project, name)
        place = None if home is None else join(home, rest or "tsconfig.json")
    if place is None:
        return None
    return place if place.endswith(".json") else f"{place}.json"
