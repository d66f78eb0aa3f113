"""Modules of JavaScript and TypeScript: relative, by ``paths``, and packages of a workspace."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from vera_ccc_tools.import_graph.facts import Facts
from vera_ccc_tools.import_graph.files import ancestors, directory_of, join
from vera_ccc_tools.import_graph.manifests import Manifests, Scope

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


def ecmascript(scope: Scope, path: str, facts: Facts) -> Iterator[str]:
    """The modules that the file at *path* imports."""
    seen = _Modules(scope, path)
    for each in facts.imports:
        found = seen.find(re.split(r"[?]", each.name, maxsplit=1)[0])
        if found is not None:
            yield found


class _Modules:
    """The modules of the project, seen from one file."""

    def __init__(self, scope: Scope, path: str) -> None:
        self._files = scope.files
        self._project = scope.project
        self._path = path
        typed = path.endswith((".ts", ".tsx", ".mts", ".cts"))
        self._extensions = _TYPED if typed else _PLAIN
        self._typed = typed

    def find(self, name: str) -> str | None:
        if name.startswith("."):
            return self._relative(name)
        if name.startswith("#"):
            home = self._project.nearest(self._path, "package.json")
            return None if home is None else self._mapped(home, "imports", name)
        if not name or name.startswith("/") or ":" in name:
            return None
        return self._by_options(name) or self._package(name)

    def _relative(self, name: str) -> str | None:
        place = join(directory_of(self._path), name)
        if place is None:
            return None
        if name.endswith("/") or name.rpartition("/")[2] in {".", ".."}:
            return self._directory(place)
        return self._file(place) or self._directory(place)

    def _file(self, place: str) -> str | None:
        end = f".{place.rpartition('.')[2]}"
        written = [place.removesuffix(end) + each for each in _WRITTEN_IN.get(end, ())]
        exact = [*written, place] if self._typed else [place, *written]
        return self._files.first([*exact, *(place + each for each in self._extensions)])

    def _directory(self, place: str, depth: int = 0) -> str | None:
        manifest = self._project.at(place, "package.json")
        if manifest is not None and depth == 0:
            for entry in manifest.get("entries", []):
                found = self._source(place, entry)
                if found is not None:
                    return found
        return self._file(posixpath.join(place, "index"))

    # --- tsconfig.json ---------------------------------------------------------------------------

    def _by_options(self, name: str) -> str | None:
        options = _options(self._project, self._path)
        star, targets = _match(options.paths, name) or ("", ())
        for target in targets:
            place = join(options.paths_from, target.replace("*", star, 1))
            found = place and (self._file(place) or self._directory(place))
            if found:
                return found
        place = None if options.base is None else join(options.base, name)
        return (self._file(place) or self._directory(place)) if place else None

    # --- package.json ----------------------------------------------------------------------------

    def _package(self, name: str) -> str | None:
        words = name.split("/")
        count = 2 if name.startswith("@") else 1
        homes = self._project.where("package.json", "name", "/".join(words[:count]))
        if len(homes) != 1:
            return None
        home, rest = homes[0], "/".join(words[count:])
        manifest = self._project.at(home, "package.json") or {}
        if manifest.get("exports") is not None:
            found = self._mapped(home, "exports", f"./{rest}" if rest else ".")
            return found or (None if rest else self._main(home))
        return self._source(home, rest) if rest else self._main(home)

    def _main(self, home: str) -> str | None:
        return self._directory(home) or self._source(home, "src/index")

    def _mapped(self, home: str, key: str, name: str) -> str | None:
        """What ``exports`` or ``imports`` maps a name to, under whatever condition comes first."""
        table = (self._project.at(home, "package.json") or {}).get(key)
        if key == "exports" and not _is_subpaths(table):
            table = {".": table}
        if not isinstance(table, dict):
            return None
        star, value = _match(table, name) or ("", None)
        for target in _strings(value):
            found = self._source(home, target.replace("*", star))
            if found is not None:
                return found
        return None

    def _source(self, home: str, entry: str) -> str | None:
        """The file at *entry* in a package or, where that is built, what it is built from."""
        place = join(home, entry)
        if place is None or place == home:
            return None
        found = self._file(place) or self._directory(place, 1)
        inside = place[len(home) + 1 if home else 0 :]
        while found is None and _BUILT.match(inside):
            inside = _BUILT.sub("", inside)
            found = self._file(join(home, f"src/{inside}") or "")
        return found


def _is_subpaths(table: Any) -> bool:
    return isinstance(table, dict) and any(str(key).startswith(".") for key in table)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
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


class _Options(NamedTuple):
    """What a ``tsconfig.json`` says, with what it extends; both directories from the root."""

    paths: dict[str, list[str]]
    paths_from: str
    base: str | None


def _options(project: Manifests, path: str) -> _Options:
    for above in ancestors(path):
        for name in ("tsconfig.json", "jsconfig.json"):
            if project.at(above, name) is not None:
                return _with_references(project, posixpath.join(above, name))
    return _Options({}, "", None)


def _with_references(project: Manifests, path: str) -> _Options:
    """A solution's own file says nothing; what it refers to does."""
    own = _extended(project, path, _MOST_EXTENDS)
    if own.paths or own.base is not None:
        return own
    for each in project.manifests[path].get("references", []):
        place = join(directory_of(path), each)
        if place is None:
            continue
        place = place if place.endswith(".json") else f"{place}/tsconfig.json"
        found = _extended(project, place, _MOST_EXTENDS)
        if found.paths:
            return found
    return own


def _extended(project: Manifests, path: str, left: int) -> _Options:
    manifest = project.manifests.get(path)
    found = _Options({}, "", None)
    if not manifest or not left:
        return found
    for each in manifest.get("extends", []):
        place = _extends(project, path, each)
        outer = _extended(project, place, left - 1) if place else found
        found = _Options(
            outer.paths or found.paths,
            outer.paths_from if outer.paths else found.paths_from,
            found.base if outer.base is None else outer.base,
        )
    base = found.base
    if isinstance(manifest.get("baseUrl"), str):
        base = join(directory_of(path), manifest["baseUrl"])
    if manifest.get("paths"):
        start = directory_of(path) if base is None else base
        return _Options(manifest["paths"], start, base)
    return _Options(found.paths, found.paths_from, base)


def _extends(project: Manifests, path: str, name: Any) -> str | None:
    if not isinstance(name, str):
        return None
    if name.startswith("."):
        place = join(directory_of(path), name)
    else:
        words = name.split("/")
        count = 2 if name.startswith("@") else 1
        homes = project.where("package.json", "name", "/".join(words[:count]))
        rest = "/".join(words[count:]) or "tsconfig.json"
        place = join(homes[0], rest) if len(homes) == 1 else None
    if place is None:
        return None
    return place if place.endswith(".json") else f"{place}.json"
